//! Lists of small numbers as text: `0-3,8,12-20/4`. Order is kept: `3-0` counts down.

use std::io::Write;

use nom::IResult;
use nom::Parser;
use nom::character::complete::{char, u32 as number};
use nom::combinator::opt;
use nom::error::{Error, ErrorKind};
use nom::sequence::preceded;

/// The most numbers that one list may hold: more is a damaged line, not a communicator.
const LONGEST: usize = 1 << 22;

/// Appends `list` to `out`; an empty one is `-`.
pub(crate) fn write_list(out: &mut Vec<u8>, list: impl IntoIterator<Item = u32>) {
    let mut list = list.into_iter().peekable();
    if list.peek().is_none() {
        out.push(b'-');
    }
    let mut first = true;
    while let Some(from) = list.next() {
        let mut to = from;
        let step = list.peek().map_or(0, |&next| i64::from(next) - i64::from(from));
        let mut length = 1;
        while step != 0 && list.peek().is_some_and(|&next| i64::from(next) - i64::from(to) == step) {
            to = list.next().unwrap_or(to);
            length += 1;
        }
        if !first {
            out.push(b',');
        }
        first = false;
        // Writing to a vector cannot fail.
        let _ = match (length, step.unsigned_abs()) {
            (1, _) => write!(out, "{from}"),
            (2, 2..) => write!(out, "{from},{to}"),
            (_, 1) => write!(out, "{from}-{to}"),
            (_, step) => write!(out, "{from}-{to}/{step}"),
        };
    }
}

/// Parses what [`write_list`] writes.
pub(crate) fn list(input: &[u8]) -> IResult<&[u8], Vec<u32>> {
    if let Some(rest) = input.strip_prefix(b"-") {
        return Ok((rest, Vec::new()));
    }
    let mut all = Vec::new();
    let mut rest = input;
    loop {
        let (after, (from, to, step)) =
            (number, opt(preceded(char('-'), number)), opt(preceded(char('/'), number))).parse(rest)?;
        let to = to.unwrap_or(from);
        let step = step.unwrap_or(1);
        let length = (u64::from(from.abs_diff(to)) / u64::from(step.max(1))) + 1;
        if step == 0 || length > (LONGEST - all.len()) as u64 {
            return Err(nom::Err::Error(Error::new(rest, ErrorKind::Verify)));
        }
        if from <= to {
            all.extend((from..=to).step_by(step as usize));
        } else {
            all.extend((0..length as u32).map(|i| from - i * step));
        }
        match after.strip_prefix(b",") {
            Some(more) => rest = more,
            None => return Ok((after, all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(list: &[u32]) -> String {
        let mut out = Vec::new();
        write_list(&mut out, list.iter().copied());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn runs_are_short_and_readable() {
        assert_eq!(text(&[0, 1, 2, 3, 8, 12, 16, 20]), "0-3,8-20/4");
        assert_eq!(text(&[3, 2, 1, 0]), "3-0");
        assert_eq!(text(&[5, 9]), "5,9");
        assert_eq!(text(&[7, 7, 7]), "7,7,7");
        assert_eq!(text(&[]), "-");
    }

    #[test]
    fn a_damaged_range_is_refused_before_it_takes_memory() {
        assert!(list(b"0-4294967295").is_err());
        assert!(list(b"0-8/0").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(numbers in prop::collection::vec(prop_oneof![0..20u32, any::<u32>()], 0..40)) {
            let written = text(&numbers);
            let (rest, read) = list(written.as_bytes()).unwrap();
            prop_assert!(rest.is_empty());
            prop_assert_eq!(read, numbers);
        }
    }
}

//! A line of a trace: the name of a function and fields with `:` between them.

use titr_common::event::Span;
use titr_common::units::Nanoseconds;

/// A call.
#[derive(Clone, Copy)]
pub(super) struct LiballprofLine<'l> {
    /// The name without `MPI_`.
    pub function: &'l [u8],
    pub span: Span,
    /// The arguments, without the times.
    pub arguments: Arguments<'l>,
}

/// A communicator, as a call names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LiballprofComm {
    pub handle: u64,
    /// The own rank in the communicator, and its size.
    pub rank: u32,
    pub size: u32,
}

impl<'l> LiballprofLine<'l> {
    /// The call in a line; `None` for a comment and an empty line.
    pub(super) fn parse(text: &'l [u8]) -> Result<Option<Self>, String> {
        let text = text.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") {
            return Ok(None);
        }
        let wrong = || format!("'{}' is no call", shown(text));
        let text = text.strip_prefix(b"MPI_").ok_or_else(wrong)?;
        let (function, rest) = cut(text).ok_or_else(wrong)?;
        let (start, rest) = cut(rest).ok_or_else(wrong)?;
        // The last field is the time of the return.
        let (arguments, end) = match memchr::memrchr(b':', rest) {
            Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
            None => (None, rest),
        };
        // MPI_Init has no beginning, and MPI_Finalize no return.
        let (begin, end) = match (time(start), time(end)) {
            (Some(begin), Some(end)) => (begin, end),
            (None, Some(end)) if start == b"-" => (end, end),
            (Some(begin), None) if end == b"-" => (begin, begin),
            _ => return Err(wrong()),
        };
        Ok(Some(Self { function, span: Span { begin, end }, arguments: Arguments { rest: arguments } }))
    }
}

/// The first field, and the rest after it.
fn cut(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b':', text)?;
    Some((&text[..at], &text[at + 1..]))
}

/// The beginning of a text for a message.
pub(super) fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned()
}

/// A time in microseconds, which may have decimals.
fn time(text: &[u8]) -> Option<Nanoseconds> {
    let (whole, decimals) = match memchr::memchr(b'.', text) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &b""[..]),
    };
    let mut nanoseconds = number(whole)?.checked_mul(1000)?;
    for (digit, worth) in decimals.iter().zip([100, 10, 1]) {
        nanoseconds =
            nanoseconds.checked_add(u64::from(digit.checked_sub(b'0').filter(|&digit| digit < 10)?) * worth)?;
    }
    Some(Nanoseconds(nanoseconds))
}

#[inline]
fn number(text: &[u8]) -> Option<u64> {
    let add = |sum: u64, &digit: &u8| {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    };
    if text.is_empty() { None } else { text.iter().try_fold(0, add) }
}

/// The arguments that were not read yet.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'l> {
    rest: Option<&'l [u8]>,
}

impl<'l> Arguments<'l> {
    /// The next argument as it is.
    pub(super) fn text(&mut self) -> Option<&'l [u8]> {
        let rest = self.rest?;
        let (text, rest) = match memchr::memchr(b':', rest) {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        self.rest = rest;
        Some(text)
    }

    pub(super) fn number_left(&self) -> usize {
        self.rest.map_or(0, |rest| 1 + memchr::memchr_iter(b':', rest).count())
    }

    /// An address or another handle.
    pub(super) fn address(&mut self) -> Option<u64> {
        number(self.text()?)
    }

    pub(super) fn integer(&mut self) -> Option<i64> {
        integer(self.text()?)
    }

    /// The size of a datatype.
    pub(super) fn datatype(&mut self) -> Option<u64> {
        number(self.text()?.split(|&byte| byte == b',').nth(1)?)
    }

    pub(super) fn comm(&mut self) -> Option<LiballprofComm> {
        let text = self.text()?;
        let mut parts = text.split(|&byte| byte == b',');
        let handle = integer(parts.next()?)?.cast_unsigned();
        let (rank, size) = (number(parts.next()?)?, number(parts.next()?)?);
        let (rank, size) = (u32::try_from(rank).ok()?, u32::try_from(size).ok()?);
        (rank < size && parts.next().is_none()).then_some(LiballprofComm { handle, rank, size })
    }

    /// A list of numbers.
    pub(super) fn list(&mut self) -> Option<Vec<u64>> {
        self.text()?.split(|&byte| byte == b',').map(number).collect()
    }
}

fn integer(text: &[u8]) -> Option<i64> {
    match text.strip_prefix(b"-") {
        Some(digits) => i64::try_from(number(digits)?).ok().map(|number| -number),
        None => number(text).map(u64::cast_signed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_times_at_both_ends() {
        let line = LiballprofLine::parse(b"MPI_Send:20.5:7:3:1,4,4:-2:9:77,1,2:21\n").unwrap().unwrap();
        assert_eq!((line.function, line.span.begin.0, line.span.end.0), (&b"Send"[..], 20_500, 21_000));
        let mut arguments = line.arguments;
        assert_eq!((arguments.number_left(), arguments.address(), arguments.integer()), (6, Some(7), Some(3)));
        assert_eq!((arguments.datatype(), arguments.integer(), arguments.integer()), (Some(4), Some(-2), Some(9)));
        assert_eq!(arguments.comm(), Some(LiballprofComm { handle: 77, rank: 1, size: 2 }));
        assert!(arguments.text().is_none());
        assert_eq!(LiballprofLine::parse(b"MPI_Finalize:9:-").unwrap().unwrap().span.end.0, 9000);
        assert!(LiballprofLine::parse(b"# time").unwrap().is_none());
        assert!(LiballprofLine::parse(b"MPI_Send:x:1").is_err());
    }
}

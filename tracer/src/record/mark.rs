//! Regions that the program marks.

use std::ffi::CStr;

use titr_common::event::{Event, Mark};
use titr_wrappers::functions::mark::Mark as Call;

use super::Outcome;
use super::stream::EventStream;

/// The longest name that is recorded, in characters.
const LONGEST: usize = 200;

/// Writes a mark.
#[cold]
#[inline(never)]
pub(super) fn record(call: &Call<'_>, stream: &mut EventStream) -> Outcome {
    stream.write(&Event::Mark(match call {
        Call::Begin(region) => Mark::RegionBegin(name(region)),
        Call::End(region) => Mark::RegionEnd(name(region)),
        Call::Level(level) => Mark::Control(*level),
    }));
    Ok(())
}

/// The name of a region as one word of a line: a blank becomes `_`.
fn name(text: &CStr) -> Box<str> {
    let text = text.to_string_lossy();
    let word = |letter: char| if letter.is_whitespace() || letter.is_control() { '_' } else { letter };
    let name: String = text.chars().take(LONGEST).map(word).collect();
    if name.is_empty() { "_".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word() {
        assert_eq!(&*name(c"solve"), "solve");
        assert_eq!(&*name(c"solve the\tsystem\n"), "solve_the_system_");
        assert_eq!(&*name(c""), "_");
    }
}

//! A text as its numbers, and the rest.

use super::column::DIGITS;

/// The sign in the place of a number.
pub(super) const PLACE: u8 = b'$';

/// A text whose numbers are taken out: a [`PLACE`] is where each was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) rest: Vec<u8>,
    pub(super) numbers: Vec<i64>,
}

impl Split {
    /// `None` if the text has the sign itself.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        if memchr::memchr(PLACE, text).is_some() {
            return None;
        }
        let mut split = Self::default();
        for piece in text.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
            match number(piece) {
                Some(number) => {
                    split.numbers.push(number);
                    split.rest.push(PLACE);
                }
                None => split.rest.extend_from_slice(piece),
            }
        }
        Some(split)
    }

    /// Adds the text with something else in the place of each number to `out`.
    pub(super) fn fill(&self, out: &mut Vec<u8>, mut put: impl FnMut(&mut Vec<u8>, usize)) {
        for (place, piece) in self.rest.split(|&byte| byte == PLACE).enumerate() {
            if let Some(before) = place.checked_sub(1) {
                put(out, before);
            }
            out.extend_from_slice(piece);
        }
    }
}

/// The number that digits spell, if they are the only spelling of it.
fn number(digits: &[u8]) -> Option<i64> {
    let is_number = match digits {
        [b'0'] => true,
        [b'1'..=b'9', ..] => digits.len() <= DIGITS,
        _ => false,
    };
    if is_number { std::str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn leading_zeros_belong_to_the_rest() {
        let split = Split::of(b"5 sleep 0.05 12").unwrap();
        assert_eq!((split.rest.as_slice(), split.numbers), (&b"$ sleep $.05 $"[..], vec![5, 0, 12]));
        assert_eq!(Split::of(b"5 region_begin $x"), None);
    }

    proptest! {
        #[test]
        fn a_text_is_put_together_again(text in "[ -#%-9a-z\n]{0,200}") {
            let split = Split::of(text.as_bytes()).unwrap();
            let mut again = Vec::new();
            split.fill(&mut again, |out, place| out.extend_from_slice(split.numbers[place].to_string().as_bytes()));
            prop_assert_eq!(again, text.as_bytes());
        }
    }
}

//! Lists of volumes as text: numbers, run lengths of equal ones, and letters for volumes that are close to each other.
//!
//! Measured volumes differ each time but are similar, so most of their digits carry little information, and no general
//! compression detects this. A list therefore states once where they begin and their greatest common step; each volume
//! is then one or a few letters:
//!
//! ```text
//! 19500,100,62,1:0583a 1003800 :29        19500 + 100 × each of 0 5 8 3 10, then 1003800, then 19500 + 100 × each of 2 9
//! 19500,1,32,2:0a1v                       19500 + 0 × 32 + 10, then 19500 + 1 × 32 + 31
//! ```
//!
//! Uniform volumes come close to their entropy: with a base just above the square root of the number of values, both
//! letters of a volume have nearly the same number of values, and gzip's Huffman codes take little more than their
//! logarithm.

mod read;
mod write;

pub(super) use read::{Numbers, VolumeReader};
pub(super) use write::write_volumes;

/// The digits of a base up to 62.
const LETTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Maximum number of letters of a volume.
const WIDEST: usize = 4;

/// Numbers `from + step × n`, where n has `width` digits of a base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Scale {
    from: u64,
    step: u64,
    base: u32,
    width: usize,
}

impl Scale {
    /// Whether it has letters, all of whose volumes are numbers.
    fn is_bounded(self) -> bool {
        let largest = u64::from(self.base).pow(self.width as u32).saturating_sub(1).checked_mul(self.step);
        self.width > 0 && self.base > 0 && largest.is_some_and(|largest| largest.checked_add(self.from).is_some())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::grammar::ParseError;

    fn text(volumes: &[u64]) -> String {
        let mut out = Vec::new();
        write_volumes(&mut out, volumes);
        String::from_utf8(out).unwrap()
    }

    fn read(text: &str) -> Result<Vec<u64>, ParseError> {
        let (line, mut volumes, mut read) = (text.as_bytes(), VolumeReader::at(0), Vec::new());
        while !volumes.is_at_end(line) {
            read.push(volumes.next(line)?);
        }
        Ok(read)
    }

    #[test]
    fn volumes_near_each_other_are_letters() {
        let near: Vec<u64> = (0..40).map(|i| 19_500 + i * i % 7 * 100).collect();
        assert_eq!(text(&near), " 19500,100,62,1:0142241014224101422410142241014224101422");
        let far: Vec<u64> = [&near[..5], &[1_003_800], &near[5..]].concat();
        assert_eq!(text(&far), " 19500,100,62,1:01422 1003800 :41014224101422410142241014224101422");
        let wide: Vec<u64> = (0..40).map(|i| 19_500 + i * i * 77 % 1000).collect();
        assert!(text(&wide).starts_with(" 19500,1,32,2:002d9kll"), "{}", text(&wide));
        assert_eq!(read(" 19500,1,32,2:0a1v").unwrap(), [19_510, 19_563]);
    }

    #[test]
    fn equal_volumes_are_counted_and_few_are_numbers() {
        assert_eq!(text(&[7, 7, 7]), " 7*3");
        assert_eq!(text(&[20, 1_000_000]), " 20 1000000");
        assert_eq!(text(&[&[3, 4][..], &[9; 20], &[5]].concat()), " 3 4 9*20 5");
    }

    #[test]
    fn a_wrong_list_is_refused_where_it_is_wrong() {
        let lists = [
            "7",
            " x",
            " 7*0",
            " 7*99999",
            " :a",
            " 1,2,63,1:a",
            " 1,2,62,9:a",
            " 1,2,62,0:a",
            " 1,2,0,1:0",
            " 1,2,62,1:",
            " 1,2,62,2:abc",
            " 1,2,10,1:a",
            " 1,2,62,1:a-",
            " 18446744073709551615,1,62,1:0",
            " 1 2,3",
        ];
        let refusals: Vec<String> =
            lists.iter().map(|list| format!("{list}\n    {}", read(list).unwrap_err())).collect();
        insta::assert_snapshot!(refusals.join("\n"));
    }

    proptest! {
        #[test]
        fn volumes_are_read_as_they_were_written(
            parts in prop::collection::vec((any::<u64>(), 0..64_u32, 1..2000_u64, prop::collection::vec(0..5000_u64, 1..40), 1..20_usize), 1..6)
        ) {
            let near = |(from, shift, step, near, times): &(u64, u32, u64, Vec<u64>, usize)| {
                let from = from >> shift;
                near.iter().flat_map(|n| vec![from.saturating_add(n * step); *n as usize % times + 1]).collect::<Vec<_>>()
            };
            let volumes: Vec<u64> = parts.iter().flat_map(near).collect();
            let text = text(&volumes);
            prop_assert_eq!(read(&text).unwrap(), volumes, "{}", text);
        }
    }
}

//! Data embedded in a page: compressed (RFC 1951), in base 64 (RFC 4648, §4), whose letters have no meaning in HTML.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `data` compressed and in letters.
pub(super) fn encoded(data: &[u8]) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    // Neither can fail: both write to memory.
    let compressed = encoder.write_all(data).and_then(|()| encoder.finish()).unwrap_or_default();
    letters(&compressed)
}

/// Bytes in letters, four for three of them.
pub(super) fn letters(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let number = group.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = char::from(LETTERS[(number >> (18 - 6 * place) & 63) as usize]);
            text.push(if place <= group.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, §10.
    #[test]
    fn as_the_standard_says() {
        let all = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| letters(text.as_bytes()));
        assert_eq!(all, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }
}

//! Base 64, in which a browser hands over pictures.

/// The bytes that are written in base 64.
pub fn bytes(letters: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = letters.bytes().filter(|letter| *letter != b'=').map(value).collect();
    let group = |group: &[u8]| {
        let number =
            group.iter().fold(0_u32, |number, value| number << 6 | u32::from(*value)) << (6 * (4 - group.len()));
        number.to_be_bytes()[1..group.len()].to_vec()
    };
    letters.chunks(4).flat_map(group).collect()
}

//! Messages in the encoding of Protocol Buffers (protobuf.dev, "Encoding").

/// The fields of a message, encoded one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<u8>);

/// The encoding of a field: the low bits of its tag.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Fixed64 = 1,
    Length = 2,
}

impl Fields {
    fn tag(&mut self, field: u32, wire: Wire) {
        self.number(u64::from(field) << 3 | wire as u64);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// A whole number, or a value of an enumeration.
    pub(super) fn varint(mut self, field: u32, number: u64) -> Self {
        self.tag(field, Wire::Varint);
        self.number(number);
        self
    }

    /// A whole number in eight bytes.
    pub(super) fn fixed64(mut self, field: u32, number: u64) -> Self {
        self.tag(field, Wire::Fixed64);
        self.0.extend(number.to_le_bytes());
        self
    }

    /// A floating-point number.
    pub(super) fn double(self, field: u32, number: f64) -> Self {
        self.fixed64(field, number.to_bits())
    }

    pub(super) fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// A message within this one.
    pub(super) fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.tag(field, Wire::Length);
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    /// The encoded message.
    pub(super) fn encoded(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_encoding_is_documented() {
        assert_eq!(Fields::default().varint(1, 150).encoded(), [0x08, 0x96, 0x01]);
        assert_eq!(Fields::default().text(2, "testing").encoded(), b"\x12\x07testing");
        let inner = Fields::default().varint(1, 150);
        assert_eq!(Fields::default().message(3, &inner).encoded(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Fields::default().fixed64(47, 2).encoded(), [0xf9, 0x02, 2, 0, 0, 0, 0, 0, 0, 0]);
    }
}

//! Messages in the encoding of Protocol Buffers (protobuf.dev, "Encoding").

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'b> {
    /// A number of variable length, and one of 4 or 8 bytes.
    Number(u64),
    /// A text, a message, or a list of numbers.
    Bytes(&'b [u8]),
}

impl<'b> Value<'b> {
    pub(super) fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Bytes(_) => None,
        }
    }

    pub(super) fn bytes(self) -> Option<&'b [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Number(_) => None,
        }
    }
}

/// The fields of a message. The iterator ends with `None` in place of a field that is not whole.
pub(super) struct ChakraFields<'b>(pub(super) &'b [u8]);

impl<'b> Iterator for ChakraFields<'b> {
    type Item = Option<(u64, Value<'b>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = field(&mut self.0);
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

fn field<'b>(rest: &mut &'b [u8]) -> Option<(u64, Value<'b>)> {
    let tag = varint(rest)?;
    let value = match tag & 7 {
        0 => Value::Number(varint(rest)?),
        1 => Value::Number(u64::from_le_bytes(*take(rest, 8)?.first_chunk()?)),
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            Value::Bytes(take(rest, length)?)
        }
        5 => Value::Number(u64::from(u32::from_le_bytes(*take(rest, 4)?.first_chunk()?))),
        _ => return None,
    };
    Some((tag >> 3, value))
}

/// A number of variable length.
pub(super) fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_all_encodings_are_read_and_torn_ones_are_noticed() {
        let message = [0x08, 0x96, 0x01, 0x12, 2, b'a', b'b', 0x1d, 1, 0, 0, 0, 0x21, 2, 0, 0, 0, 0, 0, 0, 0];
        let all: Option<Vec<_>> = ChakraFields(&message).collect();
        let expected =
            vec![(1, Value::Number(150)), (2, Value::Bytes(b"ab")), (3, Value::Number(1)), (4, Value::Number(2))];
        assert_eq!(all, Some(expected));
        let whole = [3, 7, 12, 21];
        for length in 1..message.len() {
            let all: Option<Vec<_>> = ChakraFields(&message[..length]).collect();
            assert_eq!(all.is_some(), whole.contains(&length), "{length}");
        }
    }
}

//! The numbers and texts that OTF2's records are made of.

/// The order of a file's bytes, of compressed numbers as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ByteOrder {
    #[default]
    Little,
    Big,
}

impl ByteOrder {
    /// The byte order that the mark at the beginning of a file stands for.
    pub(super) fn of_mark(mark: u8) -> Option<Self> {
        match mark {
            0x42 => Some(Self::Little),
            0x23 => Some(Self::Big),
            _ => None,
        }
    }

    /// The number in at most eight bytes.
    fn number(self, bytes: &[u8]) -> u64 {
        let digit = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        match self {
            Self::Little => bytes.iter().rev().fold(0, digit),
            Self::Big => bytes.iter().fold(0, digit),
        }
    }
}

/// The fields of a record, from first to last. A field is `None` if the record ends before it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Otf2Fields<'a> {
    bytes: &'a [u8],
    order: ByteOrder,
}

/// The length of a compressed number all of whose bits are set. OTF2 uses that for undefined references.
const ALL_ONES: u8 = 0xff;

impl<'a> Otf2Fields<'a> {
    pub(super) fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { bytes, order }
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    /// A number of four bytes.
    pub(super) fn full_u32(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        u32::try_from(self.order.number(bytes)).ok()
    }

    /// A number of eight bytes.
    #[inline]
    pub(super) fn full_u64(&mut self) -> Option<u64> {
        let bytes = self.take(8)?.try_into().ok()?;
        Some(match self.order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        })
    }

    /// A compressed number: its length, and that many bytes.
    #[inline]
    pub(super) fn u64(&mut self) -> Option<u64> {
        let length = self.byte()?;
        if length == ALL_ONES {
            return Some(u64::MAX);
        }
        if length > 8 {
            return None;
        }
        // Eight bytes are there in nearly all cases; a shift removes those that belong to the next fields.
        if self.order == ByteOrder::Little
            && length > 0
            && let Some(bytes) = self.bytes.first_chunk()
        {
            self.bytes = &self.bytes[usize::from(length)..];
            let unused = 64 - 8 * u32::from(length);
            return Some(u64::from_le_bytes(*bytes) << unused >> unused);
        }
        let bytes = self.take(usize::from(length))?;
        Some(self.order.number(bytes))
    }

    /// A compressed number of at most four bytes; `u32::MAX` is undefined.
    #[inline]
    pub(super) fn u32(&mut self) -> Option<u32> {
        match self.u64()? {
            u64::MAX => Some(u32::MAX),
            number => u32::try_from(number).ok(),
        }
    }

    /// A compressed number with a sign.
    pub(super) fn i64(&mut self) -> Option<i64> {
        self.u64().map(u64::cast_signed)
    }

    /// A text, which ends with a zero byte.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.bytes.iter().position(|&byte| byte == 0)?;
        let text = self.take(length)?;
        self.byte()?;
        Some(text)
    }

    /// Whether there are no more fields.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_numbers_have_a_length_and_the_order_of_the_file() {
        let bytes = [0, 1, 7, 2, 0x34, 0x12, 0xff, 8, 1, 2, 3, 4, 5, 6, 7, 8];
        let read = |order| {
            let mut fields = Otf2Fields::new(&bytes, order);
            [(); 5].map(|()| fields.u64())
        };
        let little = [0, 7, 0x1234, u64::MAX, 0x0807_0605_0403_0201].map(Some);
        assert_eq!(read(ByteOrder::Little), little);
        assert_eq!(read(ByteOrder::Big), [0, 7, 0x3412, u64::MAX, 0x0102_0304_0506_0708].map(Some));
    }

    #[test]
    fn lengths_that_lie_are_no_numbers() {
        for bytes in [&[][..], &[3, 1, 2], &[9, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[0xfe]] {
            assert_eq!(Otf2Fields::new(bytes, ByteOrder::Little).u64(), None, "{bytes:?}");
        }
        assert_eq!(Otf2Fields::new(&[5, 0, 0, 0, 0, 1, 0, 0, 0], ByteOrder::Little).u32(), None);
        assert_eq!(Otf2Fields::new(b"no end", ByteOrder::Little).text(), None);
    }
}

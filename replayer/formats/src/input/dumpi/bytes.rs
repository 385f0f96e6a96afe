//! Big-endian values in bytes, and a file's bytes in a window that moves over them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The number of bytes that are read at a time.
const PIECE: usize = 64 << 10;
/// The length of the longest record: an `MPI_Alltoallw` among 100,000 ranks takes 2 MB.
const LONGEST_RECORD: usize = 64 << 20;

/// A position in bytes. Each method returns the next value, or `None` where the bytes end before it does.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'b> {
    rest: &'b [u8],
}

impl<'b> Cursor<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes that are left.
    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    #[inline]
    pub(super) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    #[inline]
    pub(super) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A list of values that each take `width` bytes, with its length before it.
    #[inline]
    pub(super) fn list(&mut self, width: usize) -> Option<&'b [u8]> {
        // The library writes a negative length for an empty list.
        let length = usize::try_from(self.i32()?).unwrap_or(0);
        self.take(length.checked_mul(width)?)
    }

    /// A list of integers.
    #[inline]
    pub(super) fn integers(&mut self) -> Option<impl ExactSizeIterator<Item = i32> + Clone + use<'b>> {
        Some(integers_in(self.list(4)?))
    }

    /// A list of handles, which take two bytes each.
    pub(super) fn handles(&mut self) -> Option<impl ExactSizeIterator<Item = u16> + Clone + use<'b>> {
        Some(self.list(2)?.chunks_exact(2).map(|value| u16::from_be_bytes(value.try_into().unwrap_or_default())))
    }

    /// A list of bytes, such as a text in a call.
    pub(super) fn list_of_bytes(&mut self) -> Option<&'b [u8]> {
        self.list(1)
    }

    /// A text outside of a call.
    pub(super) fn text(&mut self) -> Option<String> {
        let length = usize::from(self.u16()?);
        Some(String::from_utf8_lossy(self.take(length)?).into_owned())
    }
}

/// The integers in a list, of four bytes each.
#[inline]
pub(super) fn integers_in(list: &[u8]) -> impl ExactSizeIterator<Item = i32> + Clone {
    list.chunks_exact(4).map(|value| i32::from_be_bytes(value.try_into().unwrap_or_default()))
}

/// The bytes of a file from some offset on, a part of which is in memory.
pub(super) struct DumpiWindow {
    file: File,
    /// What is in memory; what precedes `start` was used.
    bytes: Vec<u8>,
    start: usize,
    /// The offset of `start` in the file.
    offset: u64,
    /// The offset at which the bytes end.
    end: u64,
}

impl DumpiWindow {
    /// The bytes of `file` between two offsets.
    pub(super) fn new(mut file: File, offset: u64, end: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { file, bytes: Vec::new(), start: 0, offset, end })
    }

    /// The offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next bytes, as far as they are in memory.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Passes over bytes that are in memory.
    #[inline]
    pub(super) fn advance(&mut self, length: usize) {
        self.start += length;
        self.offset += length as u64;
    }

    /// Reads more bytes; false if there are none, or if a record would be too long.
    pub(super) fn refill(&mut self) -> io::Result<bool> {
        self.bytes.drain(..self.start);
        self.start = 0;
        let kept = self.bytes.len();
        let left = self.end.saturating_sub(self.offset + kept as u64);
        // A long record is read in ever larger pieces, so that its beginning is not parsed too often.
        let piece = left.min(PIECE.max(kept) as u64);
        if kept > LONGEST_RECORD {
            return Ok(false);
        }
        Ok(self.file.by_ref().take(piece).read_to_end(&mut self.bytes)? > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_no_longer_than_its_bytes() {
        let mut bytes = Cursor::new(&[0, 0, 0, 2, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 9]);
        assert_eq!(bytes.integers().unwrap().collect::<Vec<_>>(), [7, -1]);
        assert_eq!((bytes.u8(), bytes.u8()), (Some(9), None));
        assert!(Cursor::new(&[0x7f, 0xff, 0xff, 0xff, 1]).integers().is_none());
        assert_eq!(Cursor::new(&[0xff, 0xff, 0xff, 0xff]).handles().unwrap().len(), 0);
    }
}

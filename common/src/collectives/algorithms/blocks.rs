//! Divides a vector into one block for each member, and into segments.

use std::ops::Range;

use crate::collectives::step::{Buffer, Slice};
use crate::units::Bytes;

/// A vector divided into consecutive blocks. If all blocks are alike, their starts are computed, not looked up, so that
/// an algorithm of few steps stays cheap on many members.
#[derive(Clone, Debug)]
pub(in crate::collectives) enum Blocks {
    /// Blocks of one length.
    Equal { count: u32, len: u64 },
    /// Of nearly equal numbers of elements: the first blocks are one element longer.
    Balanced { count: u32, data: Data },
    /// Blocks of as many elements as the average rounded up; the last ones are shorter or empty.
    Ceiling { count: u32, data: Data },
    /// Any lengths: where each block begins, and where the last one ends.
    Listed(Vec<u64>),
}

/// Approximate maximum number of segments, for any volume in a trace: the longest vector that MPI 3 can describe (2³¹
/// numbers of 16 bytes) has this many segments of 32 KiB.
pub(in crate::collectives) const MOST_SEGMENTS: u64 = 1 << 20;

/// A vector of elements.
#[derive(Clone, Copy, Debug)]
pub(in crate::collectives) struct Data {
    /// Length of the vector in bytes.
    pub bytes: u64,
    /// Size of an element in bytes: the vector is never cut inside of one.
    pub element: u64,
}

impl Data {
    pub(crate) fn new(bytes: Bytes, element: Bytes) -> Self {
        Self { bytes: bytes.0, element: element.0.max(1) }
    }

    /// The number of elements in the vector.
    pub(crate) fn count(self) -> u64 {
        self.bytes.div_ceil(self.element)
    }

    /// The offset of the element with this index.
    fn start(self, index: u64) -> u64 {
        index.saturating_mul(self.element).min(self.bytes)
    }

    /// The slice of the whole vector in a buffer.
    pub(crate) fn whole(self, buffer: Buffer) -> Slice {
        buffer.first(self.bytes)
    }

    pub(crate) fn elements(self, buffer: Buffer, range: Range<u64>) -> Slice {
        let start = self.start(range.start);
        buffer.at(start, self.start(range.end).saturating_sub(start))
    }

    /// The segment with this index, in a buffer, where each has `stride` elements.
    pub(crate) fn segment(self, buffer: Buffer, index: u64, stride: u64) -> Slice {
        let start = index.saturating_mul(stride);
        self.elements(buffer, start..start.saturating_add(stride))
    }

    /// The segments of at most `segment` bytes, in whole elements.
    pub(crate) fn segments(self, segment: u64) -> Segments {
        let most = self.count().clamp(u64::from(self.bytes > 0), MOST_SEGMENTS);
        Segments { data: self, count: self.bytes.div_ceil(segment.max(1)).min(most) }
    }

    /// Elements for each segment of about `segment` bytes; all of them if that is 0, less than an element or no less than
    /// the vector (Open MPI 4.1 `coll_base_functions.h`: a remainder above half an element makes one more).
    pub(crate) fn segment_elements(self, segment: u64) -> u64 {
        if segment < self.element || segment >= self.bytes {
            return self.count().max(1);
        }
        let whole = segment / self.element;
        let is_rounded_up = segment % self.element > self.element / 2;
        (whole + u64::from(is_rounded_up)).max(self.count() / MOST_SEGMENTS)
    }
}

/// A vector divided as in Open MPI's `libnbc`: into as many segments as its bytes fill, with equal numbers of whole
/// elements, except that the last one has the rest.
#[derive(Clone, Copy, Debug)]
pub(in crate::collectives) struct Segments {
    data: Data,
    count: u64,
}

impl Segments {
    /// The number of segments; 0 for an empty vector.
    pub(crate) fn count(self) -> u64 {
        self.count
    }

    /// The segment with this index, in a buffer.
    pub(crate) fn slice(self, buffer: Buffer, index: u64) -> Slice {
        let each = self.data.count() / self.count.max(1);
        let end = if index + 1 >= self.count { self.data.count() } else { (index + 1).saturating_mul(each) };
        self.data.elements(buffer, index.saturating_mul(each)..end)
    }
}

impl Blocks {
    /// Blocks for `count` members, with the lengths that a call lists; a block that is not listed is empty.
    pub(crate) fn listed(count: u32, lens: &[Bytes]) -> Self {
        let mut starts = Vec::with_capacity(count as usize + 1);
        let mut end = 0_u64;
        starts.push(end);
        for member in 0..count as usize {
            end = end.saturating_add(lens.get(member).map_or(0, |len| len.0));
            starts.push(end);
        }
        Self::Listed(starts)
    }

    /// The number of blocks.
    pub(crate) fn count(&self) -> u32 {
        match self {
            Self::Equal { count, .. } | Self::Balanced { count, .. } | Self::Ceiling { count, .. } => *count,
            Self::Listed(starts) => starts.len().saturating_sub(1) as u32,
        }
    }

    /// The start of a block; for a block past the last one, the end of the vector.
    pub(crate) fn start(&self, block: u32) -> u64 {
        match *self {
            Self::Equal { len, .. } => len.saturating_mul(u64::from(block)),
            Self::Balanced { count, data } => {
                let (base, extra) = (data.count() / u64::from(count), data.count() % u64::from(count));
                data.start(u64::from(block) * base + extra.min(u64::from(block)))
            }
            Self::Ceiling { count, data } => {
                data.start(u64::from(block).saturating_mul(data.count().div_ceil(u64::from(count))))
            }
            Self::Listed(ref starts) => {
                starts.get(block as usize).or_else(|| starts.last()).copied().unwrap_or_default()
            }
        }
    }

    /// The length of a block in bytes.
    pub(crate) fn len(&self, block: u32) -> u64 {
        self.start(block + 1).saturating_sub(self.start(block))
    }

    /// The length of all blocks together in bytes.
    pub(crate) fn total(&self) -> u64 {
        self.start(self.count())
    }

    /// The slice of one block, in a buffer that holds all.
    pub(crate) fn block(&self, buffer: Buffer, block: u32) -> Slice {
        match self {
            Self::Equal { len, .. } => buffer.at(self.start(block), *len),
            _ => self.blocks(buffer, block..block + 1),
        }
    }

    /// Consecutive blocks, in a buffer that holds all.
    pub(crate) fn blocks(&self, buffer: Buffer, range: Range<u32>) -> Slice {
        let start = self.start(range.start);
        buffer.at(start, self.start(range.end).saturating_sub(start))
    }

    /// The total length of `count` blocks from `first` on, wrapping around from the last block to block 0.
    pub(crate) fn len_around(&self, first: u32, count: u32) -> u64 {
        let room = self.count() - first;
        if count <= room {
            self.start(first + count) - self.start(first)
        } else {
            (self.total() - self.start(first)).saturating_add(self.start(count - room))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lens(blocks: &Blocks) -> Vec<u64> {
        (0..blocks.count()).map(|block| blocks.len(block)).collect()
    }

    #[test]
    fn ten_elements_of_eight_bytes_for_four_members() {
        let data = Data { bytes: 80, element: 8 };
        assert_eq!(lens(&Blocks::Balanced { count: 4, data }), [24, 24, 16, 16]);
        assert_eq!(lens(&Blocks::Ceiling { count: 4, data }), [24, 24, 24, 8]);
    }

    #[test]
    fn too_few_elements_leave_the_last_blocks_empty() {
        let data = Data { bytes: 16, element: 8 };
        assert_eq!(lens(&Blocks::Balanced { count: 4, data }), [8, 8, 0, 0]);
        assert_eq!(lens(&Blocks::Ceiling { count: 4, data }), [8, 8, 0, 0]);
        assert_eq!(lens(&Blocks::listed(3, &[Bytes(5)])), [5, 0, 0]);
    }

    #[test]
    fn lengths_go_on_at_the_beginning() {
        let blocks = Blocks::listed(3, &[Bytes(1), Bytes(20), Bytes(300)]);
        assert_eq!(blocks.len_around(2, 2), 301);
        assert_eq!(blocks.len_around(1, 2), 320);
        assert_eq!(blocks.len_around(1, 3), 321);
    }

    #[test]
    fn a_segment_is_rounded_to_elements() {
        let data = Data { bytes: 800, element: 8 };
        assert_eq!(data.segment_elements(0), 100);
        assert_eq!(data.segment_elements(7), 100);
        assert_eq!(data.segment_elements(20), 2);
        assert_eq!(data.segment_elements(21), 3);
        assert_eq!(data.segment_elements(800), 100);
    }
}

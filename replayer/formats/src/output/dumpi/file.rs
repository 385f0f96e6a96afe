//! The file of a rank: records, and the parts after them that the index at the end names.

use std::io::{self, Write};
use std::path::Path;

use titr_common::output::OutputFile;

use crate::input::dumpi::file::{FOOTER_MAGIC, MAGIC};
use crate::input::dumpi::functions::DumpiFunction;
use crate::input::dumpi::records::{SECOND, mask};

/// The version of the format.
pub(super) const VERSION: [u8; 3] = [13, 0, 0];

/// The time and the thread of a record. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DumpiSpan {
    pub begin: u64,
    pub end: u64,
    pub thread: u16,
}

/// The status of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenStatus {
    pub bytes: i32,
    pub source: i32,
    pub is_cancelled: bool,
    pub tag: i32,
}

impl WrittenStatus {
    /// The status of a request that is no receive, and of a receive whose message is not known.
    pub(super) const EMPTY: Self = Self { bytes: 0, source: -1, is_cancelled: false, tag: -1 };
}

/// Values in the order of a record. All are big-endian.
#[derive(Clone, Debug, Default)]
pub(super) struct DumpiBytes(Vec<u8>);

impl DumpiBytes {
    pub(super) fn byte(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(super) fn handle(mut self, value: u16) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(super) fn int(mut self, value: i32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    fn number(mut self, value: u64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// A list of integers with its length.
    pub(super) fn integers(self, values: &[i32]) -> Self {
        values.iter().fold(self.int(values.len() as i32), |bytes, &value| bytes.int(value))
    }

    /// A list of handles with its length.
    pub(super) fn handles(self, values: &[u16]) -> Self {
        values.iter().fold(self.int(values.len() as i32), |bytes, &value| bytes.handle(value))
    }

    fn text(mut self, text: &str) -> Self {
        let length = text.len().min(usize::from(u16::MAX));
        self = self.handle(length as u16);
        self.0.extend(&text.as_bytes()[..length]);
        self
    }

    /// Statuses; none where the program ignored them.
    pub(super) fn statuses(self, statuses: &[WrittenStatus]) -> Self {
        let one = |bytes: Self, status: &WrittenStatus| {
            let WrittenStatus { bytes: length, source, is_cancelled, tag } = *status;
            bytes.int(length).int(source).byte(is_cancelled.into()).byte(0).int(tag)
        };
        statuses.iter().fold(self.int(statuses.len() as i32), one)
    }
}

/// The file of a rank that is being written.
pub(super) struct DumpiFile {
    out: OutputFile,
    offset: u64,
    /// The number of records of each function.
    calls: Vec<u32>,
}

impl DumpiFile {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let calls = vec![0; usize::from(DumpiFunction::COUNTED)];
        let mut this = Self { out: OutputFile::create(path)?, offset: 0, calls };
        // The seconds from which the clocks of CPU time and of wall time count.
        this.put(&DumpiBytes::default().number(MAGIC).int(0).int(0))?;
        Ok(this)
    }

    fn put(&mut self, bytes: &DumpiBytes) -> io::Result<()> {
        self.offset += bytes.0.len() as u64;
        self.out.write_all(&bytes.0)
    }

    /// Writes a part; returns its offset.
    fn part(&mut self, bytes: &DumpiBytes) -> io::Result<u64> {
        let offset = self.offset;
        self.put(bytes)?;
        Ok(offset)
    }

    /// Writes the record of a call.
    pub(super) fn record(
        &mut self,
        function: DumpiFunction,
        span: DumpiSpan,
        arguments: &DumpiBytes,
    ) -> io::Result<()> {
        if let Some(calls) = self.calls.get_mut(usize::from(function.0)) {
            *calls = calls.saturating_add(1);
        }
        let thread = if span.thread > 0 { mask::THREAD } else { 0 };
        let mut head = DumpiBytes::default().handle(function.0).byte(mask::WALL_TIME | mask::STATUSES | thread);
        if span.thread > 0 {
            head = head.handle(span.thread);
        }
        for time in [span.begin, span.end] {
            // The seconds wrap, as those of DUMPI do.
            head = head.handle((time / SECOND) as u16).int((time % SECOND) as i32);
        }
        self.put(&head)?;
        self.put(arguments)
    }

    /// Ends the records, and writes the other parts: the host, the counts of calls, and the sizes of datatypes.
    pub(super) fn finish(mut self, host: &str, sizes: &[i32]) -> io::Result<()> {
        let body = MAGIC.to_be_bytes().len() as u64;
        self.put(&DumpiBytes::default().handle(DumpiFunction::END.0))?;
        let head = VERSION.into_iter().fold(DumpiBytes::default(), DumpiBytes::byte);
        // No place in a mesh of hosts: neither coordinates nor extents.
        let header = self.part(&head.number(0).text(host).text("").int(0).int(0))?;
        let counts = self
            .calls
            .iter()
            .fold(DumpiBytes::default().number(FOOTER_MAGIC), |counts, &calls| counts.int(calls.cast_signed()));
        let footer = self.part(&self.calls.iter().fold(counts, |counts, _| counts.int(0)))?;
        let [keyvals, counters, addresses] = [
            self.part(&DumpiBytes::default().int(0))?,
            self.part(&DumpiBytes::default().int(0))?,
            self.part(&DumpiBytes::default().int(0))?,
        ];
        let sizes = self.part(&DumpiBytes::default().integers(sizes))?;
        let offsets = [MAGIC, sizes, addresses, counters, header, body, footer, keyvals];
        self.put(&offsets.into_iter().fold(DumpiBytes::default(), DumpiBytes::number))?;
        self.out.finish()
    }
}

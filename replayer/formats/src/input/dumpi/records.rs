//! The records of a file, one for each call.

use std::ops::Range;
use std::path::PathBuf;

use titr_common::event::Span;
use titr_common::trace::TraceError;
use titr_common::units::Nanoseconds;

use super::bytes::{Cursor, DumpiWindow};
use super::functions::{DumpiFunction, pass};

/// Bits of a record's mask.
pub(super) mod mask {
    pub(super) const STATUSES: u8 = 0x03;
    pub(super) const CPU_TIME: u8 = 0x04;
    pub(super) const WALL_TIME: u8 = 0x08;
    pub(super) const THREAD: u8 = 0x40;
    pub(super) const COUNTERS: u8 = 0x80;
}

/// The number of seconds after which the seconds of a record begin again at 0.
const WRAP: u64 = 1 << 16;
/// The nanoseconds in a second.
pub(super) const SECOND: u64 = 1_000_000_000;

#[derive(Clone, Copy)]
pub(super) struct DumpiRecord<'b> {
    pub function: DumpiFunction,
    pub thread: u16,
    /// The time of the call: by the host's clock, or of the CPU if the trace has no other; `None` if it has no times.
    pub span: Option<Span>,
    /// Whether the arguments include statuses.
    pub keeps_statuses: bool,
    pub arguments: Cursor<'b>,
}

/// The records of a file.
pub(super) struct DumpiRecords {
    path: PathBuf,
    window: DumpiWindow,
    clock: DumpiClock,
    /// The length of the record that was returned last.
    last: usize,
    number: u64,
}

/// A clock that shows the low bits of its seconds.
#[derive(Clone, Copy)]
struct DumpiClock {
    /// The seconds that records are counted from, and the times that the low bits have wrapped.
    offset: u64,
    /// The last seconds that were read.
    last: u64,
}

impl DumpiClock {
    fn read(&mut self, bytes: &mut Cursor<'_>) -> Option<Nanoseconds> {
        let (seconds, nanoseconds) = (u64::from(bytes.u16()?), u64::from(bytes.u32()?));
        // A step back by more than half of the range is a wrap; a smaller one is a clock that was set back.
        if self.last > seconds + WRAP / 2 {
            self.offset += WRAP;
        }
        self.last = seconds;
        Some(Nanoseconds((self.offset + seconds) * SECOND + nanoseconds))
    }
}

impl DumpiRecords {
    /// The records in `window`, of a rank whose clock began to count at `started`.
    pub(super) fn new(path: PathBuf, window: DumpiWindow, started: u64) -> Self {
        Self { path, window, clock: DumpiClock { offset: started, last: 0 }, last: 0, number: 0 }
    }

    /// The next record; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<DumpiRecord<'_>>, TraceError> {
        self.window.advance(self.last);
        self.last = 0;
        self.number += 1;
        // A record that is not all in memory is parsed again when more of it is.
        let before = self.clock;
        let found = loop {
            match parse(self.window.bytes(), &mut self.clock) {
                Parsed::Record(found) => break found,
                Parsed::End => return Ok(None),
                Parsed::Unknown(function) => {
                    let what = format!("{}, which no version of DUMPI has: the file is damaged", function.name());
                    return Err(self.error(what));
                }
                Parsed::Short => {
                    self.clock = before;
                    if !self.window.refill().map_err(TraceError::io(&self.path))? {
                        return Err(self.error(
                            "the file ends in the middle of its records: it was cut, or is damaged".to_owned(),
                        ));
                    }
                }
            }
        };
        self.last = found.arguments.end;
        let Found { function, thread, span, keeps_statuses, arguments } = found;
        let arguments = Cursor::new(self.window.bytes().get(arguments).unwrap_or_default());
        Ok(Some(DumpiRecord { function, thread, span, keeps_statuses, arguments }))
    }

    /// The number of the current record, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// An error in the current record.
    pub(super) fn error(&self, what: String) -> TraceError {
        let place = format!("record {} (byte {})", self.number, self.window.offset());
        TraceError::Foreign { path: self.path.clone(), place, what }
    }
}

/// A record, and where its arguments are in the bytes that it begins.
struct Found {
    function: DumpiFunction,
    thread: u16,
    span: Option<Span>,
    keeps_statuses: bool,
    arguments: Range<usize>,
}

/// The outcome of an attempt to parse a record.
enum Parsed {
    Record(Found),
    End,
    Unknown(DumpiFunction),
    /// There are not enough bytes.
    Short,
}

fn parse(bytes: &[u8], clock: &mut DumpiClock) -> Parsed {
    let mut cursor = Cursor::new(bytes);
    let Some(function) = cursor.u16().map(DumpiFunction) else { return Parsed::Short };
    if function == DumpiFunction::END {
        return Parsed::End;
    }
    let Some(letters) = function.arguments() else { return Parsed::Unknown(function) };
    let Some((thread, span, keeps_statuses)) = head(&mut cursor, clock) else { return Parsed::Short };
    let start = bytes.len() - cursor.rest().len();
    match pass(letters, keeps_statuses, &mut cursor) {
        Some(()) => {
            let arguments = start..bytes.len() - cursor.rest().len();
            Parsed::Record(Found { function, thread, span, keeps_statuses, arguments })
        }
        None => Parsed::Short,
    }
}

/// The thread, the time, and whether statuses were kept.
fn head(bytes: &mut Cursor<'_>, clock: &mut DumpiClock) -> Option<(u16, Option<Span>, bool)> {
    let mask = bytes.u8()?;
    let thread = if mask & mask::THREAD != 0 { bytes.u16()? } else { 0 };
    let times = [mask & mask::CPU_TIME != 0, mask & mask::WALL_TIME != 0];
    let span = match times {
        [false, false] => None,
        [is_of_cpu, is_of_wall] => {
            if is_of_cpu && is_of_wall {
                bytes.take(12)?;
            }
            Some(Span { begin: clock.read(bytes)?, end: clock.read(bytes)? })
        }
    };
    if mask & mask::COUNTERS != 0 {
        let counters = usize::from(bytes.u8()?);
        bytes.take(16 * counters)?;
    }
    Some((thread, span, mask & mask::STATUSES != 0))
}

//! The definitions of a location, `LOCATION.def`: the global numbers of what its events name, and its clock.

use std::io;
use std::path::Path;

use rustc_hash::FxHashMap;
use titr_common::trace::TraceError;
use titr_common::units::Nanoseconds;

use super::definitions::ClockProperties;
use super::fields::Otf2Fields;
use super::records::{Contents, Otf2Records};

/// The kinds of definitions that have local numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Otf2Kind {
    Region,
    Group,
    Metric,
    Communicator,
    Window,
}

/// The local definitions of a location.
#[derive(Default)]
pub(super) struct Local {
    /// The global numbers of local ones, by the kind of definition. Numbers that are missing are the same.
    tables: [FxHashMap<u64, u64>; 5],
    /// The differences of the global clock to the local one: from a local time on, in ticks.
    offsets: Vec<(u64, i64)>,
}

impl Local {
    /// Reads the local definitions of a location. A location may have none.
    pub(super) fn read(path: &Path, chunk: u64) -> Result<Self, TraceError> {
        let records = match Otf2Records::open(path, Contents::Definitions, chunk) {
            Err(TraceError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            opened => opened?,
        };
        let mut this = Self::default();
        records.read_all(|kind, fields| this.add(kind, fields))?;
        this.offsets.sort_by_key(|&(time, _)| time);
        this.offsets.dedup_by_key(|&mut (time, _)| time);
        Ok(this)
    }

    fn add(&mut self, kind: u8, mut fields: Otf2Fields<'_>) -> Option<()> {
        let f = &mut fields;
        match kind {
            5 => {
                let (kind, number, mode) = (f.byte()?, f.u64()?, f.byte()?);
                let kind = match kind {
                    3 => Otf2Kind::Region,
                    4 => Otf2Kind::Group,
                    5 => Otf2Kind::Metric,
                    6 => Otf2Kind::Communicator,
                    8 => Otf2Kind::Window,
                    _ => return Some(()),
                };
                let table = &mut self.tables[kind as usize];
                for place in 0..number {
                    let local = if mode == 0 { place } else { f.u64()? };
                    table.insert(local, f.u64()?);
                }
            }
            6 => self.offsets.push((f.full_u64()?, f.i64()?)),
            _ => {}
        }
        Some(())
    }

    /// The global number of a local one.
    pub(super) fn global(&self, kind: Otf2Kind, local: u32) -> u32 {
        let global = self.tables[kind as usize].get(&u64::from(local)).copied();
        global.map_or(local, |global| u32::try_from(global).unwrap_or(u32::MAX))
    }

    /// The global numbers of a kind, if the location has its own; in no order.
    pub(super) fn globals(&self, kind: Otf2Kind) -> Option<impl Iterator<Item = u32>> {
        let table = &self.tables[kind as usize];
        (!table.is_empty()).then(|| table.values().filter_map(|&global| u32::try_from(global).ok()))
    }

    /// The clock of the location.
    pub(super) fn clock(&self, properties: ClockProperties) -> Otf2Clock {
        let ClockProperties { ticks_per_second, origin } = properties;
        Otf2Clock {
            origin,
            nanoseconds_per_tick: 1e9 / ticks_per_second as f64,
            offsets: if self.offsets.len() > 1 { self.offsets.clone() } else { Vec::new() },
            at: 0,
        }
    }
}

/// The clock of a location, which reads its times as those of the archive's clock.
pub(super) struct Otf2Clock {
    origin: u64,
    nanoseconds_per_tick: f64,
    /// The differences to the global clock, at least two or none. Between two of them, and beyond the first and the last, the
    /// difference is on a line through two.
    offsets: Vec<(u64, i64)>,
    /// The line in use: through this difference and the next.
    at: usize,
}

impl Otf2Clock {
    /// The time since the archive's origin.
    #[inline]
    pub(super) fn nanoseconds(&mut self, ticks: u64) -> Nanoseconds {
        let mut since = difference(ticks, self.origin);
        if !self.offsets.is_empty() {
            since += self.offset(ticks);
        }
        Nanoseconds((since * self.nanoseconds_per_tick).round() as u64)
    }

    fn offset(&mut self, ticks: u64) -> f64 {
        while self.offsets.get(self.at + 1).is_some_and(|&(time, _)| time < ticks) && self.at + 2 < self.offsets.len() {
            self.at += 1;
        }
        match self.offsets[self.at..] {
            [(begin, first), (end, second), ..] => {
                let slope = (second as f64 - first as f64) / difference(end, begin);
                first as f64 + slope * difference(ticks, begin)
            }
            _ => 0.0,
        }
    }
}

/// The ticks from `from` to `to`.
fn difference(to: u64, from: u64) -> f64 {
    if to >= from { (to - from) as f64 } else { -((from - to) as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_corrected_along_lines() {
        let properties = ClockProperties { ticks_per_second: 500_000_000, origin: 1000 };
        let local = Local { offsets: vec![(1000, 100), (2000, 300), (3000, 300)], ..Local::default() };
        let mut clock = local.clock(properties);
        let times = [900, 1000, 1500, 2000, 2500, 9000].map(|ticks| clock.nanoseconds(ticks).0);
        assert_eq!(times, [0, 200, 1400, 2600, 3600, 16_600]);
        let single = Local { offsets: vec![(1000, 100)], ..Local::default() };
        assert_eq!(single.clock(properties).nanoseconds(1001), Nanoseconds(2));
    }
}

//! The time of a host since the world's first barrier, and its difference from that of rank 0.
//!
//! A rank asks rank 0 for its time and assumes that it is the time in the middle between question and answer (Cristian,
//! "Probabilistic clock synchronization", Distributed Computing 3, 1989, section 3): the error is at most half of the
//! round-trip time. Of several attempts the quickest counts. The change of the offset until the end is drift.

use std::time::Instant;

use titr_common::collectives::Buffer;
use titr_common::trace::manifest;
use titr_common::units::Nanoseconds;
use titr_wrappers::Abi;
use titr_wrappers::argument::Comm;

use crate::pmpi::{self, ErrorCode, Exchange};

/// A monotonic clock (`CLOCK_MONOTONIC`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

/// The difference of a clock from rank 0's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Offset {
    /// The time of the comparison by this clock, in nanoseconds.
    at: f64,
    /// The difference to add to this clock, in nanoseconds.
    offset: f64,
    /// The largest error of the difference, in nanoseconds.
    uncertainty: f64,
}

/// The number of times that each rank asks.
const ATTEMPTS: usize = 10;

impl Clock {
    /// A clock that starts now, behind a barrier.
    pub(crate) fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// The time since the start: 64 bits of nanoseconds are five hundred years.
    pub(crate) fn now(&self) -> Nanoseconds {
        Nanoseconds(self.origin.elapsed().as_nanos() as u64)
    }

    /// Compares all clocks of a communicator with its first member's. Collective.
    pub(super) fn compare(&self, abi: &'static Abi, comm: Comm) -> Result<Offset, ErrorCode> {
        let mut exchange = Exchange::new(abi, comm, 0, [8, 8, 0]);
        if pmpi::comm_rank(comm) == 0 {
            for member in 1..pmpi::comm_size(comm) as u32 {
                for _ in 0..ATTEMPTS {
                    exchange.recv(member, Buffer::Recv.first(8))?;
                    exchange.put(Buffer::Send, self.now().0)?;
                    exchange.send(member, Buffer::Send.first(8))?;
                }
            }
            return Ok(Offset { at: self.now().0 as f64, ..Offset::default() });
        }
        let mut best = Offset { uncertainty: f64::INFINITY, ..Offset::default() };
        for _ in 0..ATTEMPTS {
            let asked = self.now().0 as f64;
            exchange.send(0, Buffer::Send.first(8))?;
            exchange.recv(0, Buffer::Recv.first(8))?;
            let answered = self.now().0 as f64;
            let (at, uncertainty) = (f64::midpoint(asked, answered), (answered - asked) / 2.0);
            if uncertainty < best.uncertainty {
                best = Offset { at, offset: exchange.get(Buffer::Recv)? as f64 - at, uncertainty };
            }
        }
        Ok(best)
    }
}

impl Offset {
    /// The line through this offset and a later one.
    pub(super) fn to(self, end: Self) -> manifest::Clock {
        let span = end.at - self.at;
        let drift = if span > 0.0 { (end.offset - self.offset) / span } else { 0.0 };
        let uncertainty = self.uncertainty.max(end.uncertainty);
        manifest::Clock { offset: self.offset - drift * self.at, drift, uncertainty }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_offsets_make_a_line() {
        let begin = Offset { at: 1000.0, offset: 50.0, uncertainty: 2.0 };
        let end = Offset { at: 3000.0, offset: 52.0, uncertainty: 1.0 };
        let clock = begin.to(end);
        assert_eq!((clock.offset, clock.drift, clock.uncertainty), (49.0, 0.001, 2.0));
        assert_eq!(begin.to(begin), manifest::Clock { offset: 50.0, drift: 0.0, uncertainty: 2.0 });
    }
}

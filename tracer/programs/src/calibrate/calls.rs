//! The calls of a benchmark, by which a platform's time for its row is predicted ([`Benchmark::calls`]), in a communicator of the ranks
//! that take part.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use titr_calibration::benchmarks::Benchmark;
use titr_common::event::{Completion, Event, Incoming};
use titr_common::units::Bytes;

use super::pattern::TAG;
use crate::{Comm, MpiError, Peer, Request, TagChoice};

/// Calls that ranks make together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Calls {
    pub benchmark: Benchmark,
    pub ranks: Vec<u32>,
    pub bytes: u64,
    pub repetitions: u32,
    pub samples: u32,
}

/// Makes calls together with all ranks. Returns this rank's time of an iteration in each sample, in seconds.
pub(crate) fn make(world: Comm<'_>, calls: &Calls) -> Result<Vec<f64>, MpiError> {
    let at = calls.ranks.iter().position(|&rank| rank == world.rank);
    let comm = world.split(at.map(|_| 0), at.unwrap_or(0) as u32)?;
    let mut mine = Vec::new();
    if let Some(comm) = comm {
        let rank = Caller::new(comm, calls);
        // The first call connects, and warms the caches.
        rank.call_repeatedly(1)?;
        for _ in 0..calls.samples {
            mine.push(rank.call_repeatedly(calls.repetitions)?.as_secs_f64() / f64::from(calls.repetitions));
        }
        comm.free()?;
    }
    Ok(mine)
}

/// A rank that makes calls.
struct Caller<'m> {
    comm: Comm<'m>,
    benchmark: Benchmark,
    calls: Vec<Event>,
    /// The vectors of a reduction.
    vector: Vec<i64>,
}

impl<'m> Caller<'m> {
    fn new(comm: Comm<'m>, calls: &Calls) -> Self {
        let &Calls { benchmark, bytes, .. } = calls;
        let elements = if benchmark == Benchmark::ReduceLocal { bytes / 8 } else { 0 };
        let of_each = if matches!(benchmark, Benchmark::Collective(_)) { u64::from(comm.size) } else { 1 };
        comm.write_outgoing(bytes * of_each);
        let calls = benchmark.calls(comm.size, Bytes(bytes), comm.rank);
        Self { comm, benchmark, calls, vector: vec![1; elements as usize] }
    }

    /// The time of so many iterations after all ranks have met.
    fn call_repeatedly(&self, repetitions: u32) -> Result<Duration, MpiError> {
        let mut result = self.vector.clone();
        let mut passed = Duration::ZERO;
        // Before each collective, all ranks meet, which is not timed.
        let (rounds, in_round) = match self.benchmark {
            Benchmark::Collective(_) => (repetitions, 1),
            _ => (1, repetitions),
        };
        for _ in 0..rounds {
            self.comm.barrier()?;
            let begin = Instant::now();
            for _ in 0..in_round {
                match self.benchmark {
                    Benchmark::ReduceLocal => self.comm.reduce_local(&self.vector, &mut result)?,
                    _ => self.iteration()?,
                }
            }
            passed += begin.elapsed();
        }
        Ok(passed)
    }

    fn iteration(&self) -> Result<(), MpiError> {
        let mut requests: Vec<Request<'m>> = Vec::new();
        for call in &self.calls {
            if let Event::Send(mode, to, completion) = call {
                let (peer, bytes) = (Peer::Rank(to.to.0), to.bytes.0);
                match completion {
                    Completion::Blocking => self.comm.send(*mode, peer, TAG, bytes)?,
                    _ => requests.push(self.comm.isend(*mode, peer, TAG, bytes)?),
                }
            } else if let Event::Recv(from, completion) = call {
                let (peer, tag, bytes) = source(from);
                match completion {
                    Completion::Blocking => drop(self.comm.recv(peer, tag, bytes)?),
                    _ => requests.push(self.comm.irecv(peer, tag, bytes)?),
                }
            } else if let Event::Sendrecv(Some(to), Some(from)) = call {
                self.comm.sendrecv((Peer::Rank(to.to.0), TAG, to.bytes.0), source(from))?;
            } else if let Event::Collective(collective, _) = call {
                self.comm.collective(collective, None)?;
            } else {
                Request::wait_all(std::mem::take(&mut requests))?;
            }
        }
        Request::wait_all(requests)
    }
}

fn source(message: &Incoming) -> (Peer, TagChoice, u64) {
    let peer = message.from.map_or(Peer::Any, |rank| Peer::Rank(rank.0));
    (peer, TagChoice::Tag(TAG), message.bytes.0)
}

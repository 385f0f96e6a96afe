//! Orders: operations that rank 0 makes all ranks execute together.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use titr_calibration::measurements::{LateReceive, Point};
use titr_common::units::{Bytes, Seconds};

use super::calls::{self, Calls};
use super::pattern::{Measured, Train, late_receive, sample, send_train};
use super::seat::Seat;
use crate::{Comm, Mpi, MpiError};

/// A step that all ranks take together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Tell the place.
    Seat,
    /// Measure a pattern.
    Measure(Measured),
    /// Send a message whose receive is posted late, from the first rank to the second.
    Late { ranks: [u32; 2], bytes: u64, delay: Duration },
    /// Send a train of messages.
    Train(Train),
    /// Make the calls of a benchmark.
    Calls(Calls),
    /// Watch a rank for interruptions.
    Watch { rank: u32, time: Duration },
    /// Go home.
    End { failed: bool },
}

/// A reason why there is no calibration.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Mpi(#[from] MpiError),
    #[error("what ranks tell each other cannot be read: {0}")]
    Talk(#[from] serde_json::Error),
    /// Something is wrong that rank 0 tells, and after which all ranks can end in order.
    #[error("{0}")]
    Told(String),
}

impl Failure {
    pub(crate) fn told(message: impl Display) -> Self {
        Self::Told(message.to_string())
    }
}

/// Rank 0's view of all ranks.
pub(crate) struct Measuring<'m> {
    pub world: Comm<'m>,
}

impl Measuring<'_> {
    /// The place of each rank.
    pub(crate) fn seats(&self, mpi: &Mpi) -> Result<Vec<Seat>, Failure> {
        self.tell(&Order::Seat)?;
        let seats = seated(mpi, self.world)?;
        seats.iter().map(|seat| Ok(serde_json::from_slice(seat)?)).collect()
    }

    /// Makes the calls of a benchmark. Returns the time of each sample.
    pub(crate) fn calls(&mut self, calls: &Calls) -> Result<Vec<f64>, Failure> {
        self.tell(&Order::Calls(calls.clone()))?;
        of_row(self.world, calls)
    }

    /// Gives an order to all ranks.
    pub(crate) fn tell(&self, order: &Order) -> Result<(), Failure> {
        let order = serde_json::to_vec(order)?;
        self.world.rest()?;
        self.world.broadcast(0, order)?;
        Ok(())
    }

    /// Measures a pattern; the times are those of the slowest participating rank.
    pub(crate) fn measure(&mut self, measured: Measured) -> Result<Point, Failure> {
        let (bytes, repetitions) = (Bytes(measured.bytes), measured.repetitions);
        self.tell(&Order::Measure(measured.clone()))?;
        Ok(Point { bytes, repetitions, seconds: carry_out(self.world, &measured)? })
    }

    /// Watches a rank for interruptions.
    pub(crate) fn watch(&mut self, rank: u32, time: Duration) -> Result<Gaps, Failure> {
        self.tell(&Order::Watch { rank, time })?;
        gaps(self.world, rank, time)
    }

    /// Sends a train. Returns the seconds from the first arrival to each other one.
    pub(crate) fn train(&mut self, train: Train) -> Result<Vec<f64>, Failure> {
        self.tell(&Order::Train(train))?;
        arrivals(self.world, &train)
    }

    /// Sends a message whose receive is posted late.
    pub(crate) fn late(&mut self, ranks: [u32; 2], bytes: u64, delay: Duration) -> Result<LateReceive, Failure> {
        self.tell(&Order::Late { ranks, bytes, delay })?;
        let send = slowest(self.world, late_receive(self.world, ranks, bytes, delay)?)?;
        Ok(LateReceive { bytes: Bytes(bytes), delay: Seconds(delay.as_secs_f64()), send: Seconds(send) })
    }
}

/// The other ranks: they execute rank 0's orders.
pub(crate) fn follow(mpi: &Mpi, world: Comm<'_>) -> Result<ExitCode, Failure> {
    loop {
        world.rest()?;
        match serde_json::from_slice(&world.broadcast(0, Vec::new())?)? {
            Order::Seat => drop(seated(mpi, world)?),
            Order::Calls(calls) => drop(of_row(world, &calls)?),
            Order::Measure(measured) => drop(carry_out(world, &measured)?),
            Order::Late { ranks, bytes, delay } => {
                slowest(world, late_receive(world, ranks, bytes, delay)?)?;
            }
            Order::Train(train) => drop(arrivals(world, &train)?),
            Order::Watch { rank, time } => drop(gaps(world, rank, time)?),
            Order::End { failed } => return Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }),
        }
    }
}

/// The place of each rank, at rank 0.
fn seated(mpi: &Mpi, world: Comm<'_>) -> Result<Vec<Vec<u8>>, Failure> {
    let seat = Seat::here(mpi.processor_name()?);
    Ok(world.gather(0, &serde_json::to_vec(&seat)?)?)
}

/// Makes the calls of a benchmark. Returns the time of its row in each sample to rank 0.
fn of_row(world: Comm<'_>, calls: &Calls) -> Result<Vec<f64>, Failure> {
    let mine = calls::make(world, calls)?;
    world.rest()?;
    let all = world.gather(0, &serde_json::to_vec(&mine)?)?;
    let all: Vec<Vec<f64>> = all.iter().map(|times| serde_json::from_slice(times)).collect::<Result<_, _>>()?;
    let sample = |number: usize| {
        let times: Vec<f64> = all.iter().filter_map(|times| times.get(number).copied()).collect();
        calls.benchmark.time(&times).0
    };
    Ok(if all.is_empty() { Vec::new() } else { (0..calls.samples as usize).map(sample).collect() })
}

fn carry_out(world: Comm<'_>, measured: &Measured) -> Result<Vec<f64>, Failure> {
    (0..measured.samples).map(|_| slowest(world, sample(world, measured)?)).collect()
}

/// Watches a rank for interruptions, while the others rest. Returns them to rank 0.
fn gaps(world: Comm<'_>, rank: u32, time: Duration) -> Result<Gaps, Failure> {
    let mine = if world.rank == rank { watch(time) } else { Gaps::default() };
    reported(world, rank, mine)
}

/// Sends a train. Returns its arrivals to rank 0.
fn arrivals(world: Comm<'_>, train: &Train) -> Result<Vec<f64>, Failure> {
    reported(world, train.ranks[1], send_train(world, train)?)
}

/// Reports what `rank` has found to rank 0, once all ranks are there; the other ranks keep their own.
fn reported<T: Serialize + DeserializeOwned>(world: Comm<'_>, rank: u32, mine: T) -> Result<T, Failure> {
    world.rest()?;
    let all = world.gather(0, &serde_json::to_vec(&mine)?)?;
    all.get(rank as usize).map_or(Ok(mine), |found| Ok(serde_json::from_slice(found)?))
}

/// The longest of the times that the ranks give, in seconds.
fn slowest(world: Comm<'_>, mine: Option<Duration>) -> Result<f64, Failure> {
    // Ranks that take no part wait for those that do.
    world.rest()?;
    let nanoseconds = i64::try_from(mine.unwrap_or_default().as_nanos()).unwrap_or(i64::MAX);
    Ok(world.max(nanoseconds)? as f64 * 1e-9)
}

/// The interruptions of a rank for some time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gaps {
    pub count: u64,
    pub lost: Duration,
}

/// A reading of the clock takes some ten nanoseconds; what takes this long is an interruption.
const INTERRUPTED: Duration = Duration::from_micros(2);

/// Reads the clock for so long.
pub(crate) fn watch(watched: Duration) -> Gaps {
    let begin = Instant::now();
    let (mut last, mut gaps) = (begin, Gaps::default());
    while last - begin < watched {
        let now = Instant::now();
        if now - last > INTERRUPTED {
            gaps = Gaps { count: gaps.count + 1, lost: gaps.lost + (now - last) };
        }
        last = now;
    }
    gaps
}

//! The compute rate of the user's own program: the volume that an extended trace counted, over the time that lies between its calls.

use thiserror::Error;
use titr_common::event::{Annotation, Event, Rank};
use titr_common::trace::{Trace, TraceError};
use titr_common::units::{Instructions, Nanoseconds, Speed};

use crate::robust::median;

/// The rate at which the ranks of a program computed.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputeRate {
    /// The rate of each rank that computed.
    pub per_rank: Vec<Speed>,
}

/// A reason why a trace tells no rate.
#[derive(Debug, Error)]
pub enum NoRate {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// There are no times.
    #[error("the trace has no computation with times: trace the program with TITRACE_MODE=extended")]
    NoTimes,
}

impl ComputeRate {
    /// The rates in a trace.
    ///
    /// # Errors
    /// If the trace cannot be read, or is not an extended one.
    pub fn of(trace: &Trace) -> Result<Self, NoRate> {
        let rates = (0..trace.ranks()).map(|rank| of_rank(trace, Rank(rank))).collect::<Result<Vec<_>, _>>()?;
        let per_rank: Vec<Speed> = rates.into_iter().flatten().collect();
        if per_rank.is_empty() { Err(NoRate::NoTimes) } else { Ok(Self { per_rank }) }
    }

    /// The median of the ranks.
    #[must_use]
    pub fn speed(&self) -> Speed {
        Speed { per_second: median(&self.rates()).unwrap_or(1.0) }
    }

    /// The least and the greatest rate of a rank, each as a part of the median.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        let middle = self.speed().per_second;
        let rates = self.rates();
        [
            rates.iter().copied().fold(f64::INFINITY, f64::min) / middle,
            rates.iter().copied().fold(0.0, f64::max) / middle,
        ]
    }

    fn rates(&self) -> Vec<f64> {
        self.per_rank.iter().map(|speed| speed.per_second).collect()
    }
}

/// The rate of a rank's main thread: `None` if it counted nothing between two calls whose times are known.
fn of_rank(trace: &Trace, rank: Rank) -> Result<Option<Speed>, TraceError> {
    let mut stream = trace.stream(rank)?;
    let (mut volume, mut nanoseconds) = (0.0, 0_u64);
    let mut counted = 0.0;
    let mut returned: Option<Nanoseconds> = None;
    while let Some(event) = stream.next_event()? {
        if let Event::Compute(Instructions(work)) = event {
            counted += work;
        } else if let Event::Annotation(Annotation::Call(call)) = event {
            if let Some(returned) = returned {
                volume += counted;
                nanoseconds += call.begin.0.saturating_sub(returned.0);
            }
            (counted, returned) = (0.0, Some(call.end));
        }
    }
    Ok((volume > 0.0 && nanoseconds > 0).then(|| Speed { per_second: volume / (nanoseconds as f64 * 1e-9) }))
}

//! The compute rate of the user's own program: the volume counted in an extended trace, divided by the time between its
//! calls, region by region.
//!
//! One rate for a whole program is a large error if its loops differ (H. Casanova, F. Desprez, G. S. Markomanolis and
//! F. Suter, "Simulation of MPI applications with time-independent traces", CCPE 27(5), 2015).

use std::collections::BTreeMap;
use std::path::Path;

use thiserror::Error;
use titr_common::event::{Annotation, Event, Rank};
use titr_common::program::OpenRegions;
use titr_common::trace::{Trace, TraceError};
use titr_common::units::{Instructions, Nanoseconds, Speed};

use crate::robust::median;

/// The rate at which the ranks of a program computed.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputeRate {
    /// The rate of each rank that computed, outside of all regions; if no rank did anything there, wherever it did.
    pub per_rank: Vec<Speed>,
    /// The rate of each rank that computed in a region, by its name. Of nested regions, the innermost counts.
    pub regions: BTreeMap<String, Vec<Speed>>,
}

/// A reason why a trace tells no rate.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum NoRate {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("the trace has no computation with times: trace the program with TITRACE_MODE=extended")]
    NoTimes,
}

impl ComputeRate {
    /// The rates in the trace at `path`.
    ///
    /// # Errors
    /// If the trace cannot be read, or is not an extended one.
    pub fn of_file(path: &Path) -> Result<Self, NoRate> {
        Self::of(&Trace::open(path)?)
    }

    /// The rates in a trace.
    fn of(trace: &Trace) -> Result<Self, NoRate> {
        let (mut whole, mut regions) = (Vec::new(), BTreeMap::<String, Vec<Speed>>::new());
        for rank in (0..trace.ranks()).map(Rank) {
            let counted = of_rank(trace, rank)?;
            whole.extend(Counted::sum(counted.values()).speed());
            for (region, counted) in counted {
                regions.entry(region).or_default().extend(counted.speed());
            }
        }
        regions.retain(|_, rates| !rates.is_empty());
        let outside = regions.remove("");
        let per_rank = outside.unwrap_or(whole);
        if per_rank.is_empty() { Err(NoRate::NoTimes) } else { Ok(Self { per_rank, regions }) }
    }

    /// The rate in each region as a part of [`speed`](Self::speed): the median of the ranks.
    pub(crate) fn region_parts(&self) -> BTreeMap<String, f64> {
        let whole = self.speed().per_second;
        let part = |rates: &Vec<Speed>| median(&rates.iter().map(|speed| speed.per_second).collect::<Vec<_>>());
        self.regions.iter().filter_map(|(region, rates)| Some((region.clone(), part(rates)? / whole))).collect()
    }

    /// The median of the ranks.
    pub(crate) fn speed(&self) -> Speed {
        Speed { per_second: median(&self.rates()).unwrap_or(1.0) }
    }

    /// The least and the greatest rate of a rank, each as a part of the median.
    pub(crate) fn range(&self) -> [f64; 2] {
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

/// A volume that was counted, and the time that it took.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    volume: f64,
    nanoseconds: u64,
}

impl Counted {
    fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            volume: sum.volume + one.volume,
            nanoseconds: sum.nanoseconds + one.nanoseconds,
        })
    }

    /// `None` if nothing was counted in any time.
    fn speed(self) -> Option<Speed> {
        let Self { volume, nanoseconds } = self;
        (volume > 0.0 && nanoseconds > 0).then(|| Speed { per_second: volume / (nanoseconds as f64 * 1e-9) })
    }
}

/// The computation of a rank's main thread between calls whose times are known, by region; that outside of all under no name.
fn of_rank(trace: &Trace, rank: Rank) -> Result<BTreeMap<String, Counted>, TraceError> {
    let mut stream = trace.stream(rank)?;
    let mut regions = BTreeMap::<String, Counted>::new();
    let (mut volume, mut open) = (0.0, OpenRegions::default());
    let mut returned: Option<Nanoseconds> = None;
    while let Some(event) = stream.next_event()? {
        if let Event::Compute(Instructions(work)) = event {
            volume += work;
        } else if let Event::Annotation(Annotation::Call(call)) = event {
            if let Some(returned) = returned {
                let region = regions.entry(open.innermost().unwrap_or_default().to_owned()).or_default();
                region.volume += volume;
                region.nanoseconds += call.begin.0.saturating_sub(returned.0);
            }
            (volume, returned) = (0.0, Some(call.end));
        } else if let Event::Mark(mark) = event {
            // A mark is a separate call, so no computation is in two regions.
            open.pass(&mark);
        }
    }
    Ok(regions)
}

#[cfg(test)]
mod tests {
    use titr_common::event::{Mark, Span};
    use titr_common::trace::{EventSource, RankSources};

    use super::*;

    struct OneRank(Vec<Event>);

    impl RankSources for OneRank {
        fn source(&self, _: Rank, _partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
            Ok(Box::new(self.0.clone().into_iter()))
        }
    }

    /// A call that begins this many nanoseconds after the end of the last one, and takes one nanosecond.
    fn call(end: &mut u64, after: u64) -> Event {
        let begin = *end + after;
        *end = begin + 1;
        Event::Annotation(Annotation::Call(Span { begin: Nanoseconds(begin), end: Nanoseconds(*end) }))
    }

    #[test]
    fn each_region_has_a_rate() {
        let end = &mut 0;
        let compute = |work: f64| Event::Compute(Instructions(work));
        let region = |mark: Mark| Event::Mark(mark);
        let events = vec![
            call(end, 0),
            Event::Init,
            compute(100.0),
            call(end, 100),
            region(Mark::RegionBegin("solve".into())),
            compute(100.0),
            call(end, 200),
            region(Mark::RegionEnd("solve".into())),
            compute(50.0),
            call(end, 50),
            Event::Finalize,
        ];
        let rate = ComputeRate::of(&Trace::new(1, OneRank(events))).unwrap();
        assert_eq!((rate.speed().per_second / 1e9).round(), 1.0);
        assert_eq!(rate.region_parts(), BTreeMap::from([("solve".to_owned(), 0.5)]));
    }
}

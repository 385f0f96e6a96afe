//! The time between two places of the program: a region of interest.
//!
//! An interval is written as `FROM..TO`. A place is `start`, `end`, `region:NAME`, `barrier` or `call:SITE`, with `:NUMBER` for
//! one pass of several, from 1 on. The interval begins when a region begins, a call is made, or a barrier of all ranks is left;
//! it ends when a region ends, a call is made, or a barrier is left. Without a number, it begins with the first pass and ends
//! with the last. A single place stands for both: `region:solve` is the time from the first pass of the region to the last.

use std::collections::BTreeSet;
use std::str::FromStr;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::event::{CallSiteId, CollectiveKind, CommId, Event, Mark, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_simulation::observe::Observer;

/// Two places of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Interval {
    from: PassedPlace,
    to: PassedPlace,
}

/// A place of a program that a rank passes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PassedPlace {
    what: PlaceKind,
    /// The number of the pass, from 1 on; `None`: the first as a beginning, the last as an end.
    pass: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PlaceKind {
    Start,
    End,
    Region(String),
    Barrier,
    Call(String),
}

/// The predicted time between two places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalTime {
    /// The interval, as it was written.
    pub interval: String,
    /// From when the first rank passes the first place to when the last rank passes the second.
    pub time: Seconds,
    /// The time of each rank between the two places; `null` for a rank that does not pass both.
    pub per_rank: Vec<Option<Seconds>>,
}

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        Ok(Self { from: from.parse()?, to: to.parse()? })
    }
}

impl FromStr for PassedPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "'{text}' is no place: write start, end, region:NAME, barrier or call:SITE, each with :NUMBER for one pass"
            )
        };
        let (text, pass) = match text.rsplit_once(':') {
            Some((rest, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty() => {
                (rest, Some(number.parse().ok().filter(|&pass| pass > 0).ok_or_else(wrong)?))
            }
            _ => (text, None),
        };
        let what = match text.split_once(':') {
            None => match text {
                "start" if pass.is_none() => PlaceKind::Start,
                "end" if pass.is_none() => PlaceKind::End,
                "barrier" => PlaceKind::Barrier,
                _ => return Err(wrong()),
            },
            Some(("region", name)) if !name.is_empty() => PlaceKind::Region(name.to_owned()),
            Some(("call", site)) if !site.is_empty() => PlaceKind::Call(site.to_owned()),
            Some(_) => return Err(wrong()),
        };
        Ok(Self { what, pass })
    }
}

/// Measures an interval in a replay.
pub struct IntervalMeter {
    written: String,
    interval: Interval,
    ranks: Vec<Progress>,
    /// The names of regions and call sites that were passed, for a message if the places are none of them.
    seen: BTreeSet<String>,
}

/// A rank on its way.
#[derive(Clone, Debug, Default)]
struct Progress {
    passes: [u64; 2],
    times: [Option<Time>; 2],
    /// Whether a barrier of all ranks was entered and not yet left.
    in_barrier: bool,
    /// The rank's call sites that are places of the interval: its beginning, its end, or both.
    sites: FxHashMap<CallSiteId, [bool; 2]>,
    last: Time,
}

impl IntervalMeter {
    /// Measures an interval of a program with this number of ranks.
    ///
    /// # Errors
    /// If the text is no interval; the error says what one is.
    pub fn new(written: String, ranks: u32) -> Result<Self, String> {
        let (interval, ranks) = (written.parse()?, vec![Progress::default(); ranks as usize]);
        Ok(Self { written, interval, ranks, seen: BTreeSet::new() })
    }

    /// The measured time.
    ///
    /// # Errors
    /// If no rank passes both places; the text says what the program passes.
    pub fn finish(self) -> Result<IntervalTime, String> {
        let Self { written, interval, ranks, seen } = self;
        let time = |progress: &Progress, end: usize| match [&interval.from, &interval.to][end].what {
            PlaceKind::Start => Some(Time::ZERO),
            PlaceKind::End => Some(progress.last),
            PlaceKind::Region(_) | PlaceKind::Barrier | PlaceKind::Call(_) => progress.times[end],
        };
        let both: Vec<Option<(Time, Time)>> =
            ranks.iter().map(|rank| time(rank, 0).zip(time(rank, 1)).filter(|(from, to)| from <= to)).collect();
        let from = both.iter().flatten().map(|(from, _)| *from).min();
        let to = both.iter().flatten().map(|(_, to)| *to).max();
        let Some((from, to)) = from.zip(to) else {
            let names: Vec<_> = seen.into_iter().take(12).collect();
            let known = if names.is_empty() { "no region and no call site".to_owned() } else { names.join(", ") };
            return Err(format!("no rank passes both places of '{written}' in this order; the program passes {known}"));
        };
        let seconds = |from: Time, to: Time| Seconds(to.seconds().0 - from.seconds().0);
        Ok(IntervalTime {
            interval: written,
            time: seconds(from, to),
            per_rank: both.into_iter().map(|both| both.map(|(from, to)| seconds(from, to))).collect(),
        })
    }

    /// A rank passes a mark.
    fn pass_mark(&mut self, rank: Rank, mark: &Mark, at: Time) {
        let index = rank.0 as usize;
        match mark {
            Mark::RegionBegin(name) => {
                if !self.seen.contains(&**name) {
                    self.seen.insert(name.to_string());
                }
                self.pass(rank, at, |what, end| {
                    end == 0 && matches!(what, PlaceKind::Region(region) if **region == **name)
                });
            }
            Mark::RegionEnd(name) => {
                self.pass(rank, at, |what, end| {
                    end == 1 && matches!(what, PlaceKind::Region(region) if **region == **name)
                });
            }
            Mark::CallStack(site, stack) => {
                let written = stack.iter().map(ToString::to_string).collect::<Vec<_>>().join(" < ");
                let is_at =
                    |place: &PassedPlace| matches!(&place.what, PlaceKind::Call(wanted) if written.contains(wanted));
                let is_at = [&self.interval.from, &self.interval.to].map(is_at);
                if let Some(progress) = self.ranks.get_mut(index) {
                    progress.sites.insert(*site, is_at);
                }
                self.seen.insert(written);
            }
            Mark::CallSite(site) => {
                let is_at = self.ranks.get(index).and_then(|progress| progress.sites.get(site)).copied();
                if let Some(is_at) = is_at {
                    self.pass(rank, at, |_, end| is_at[end]);
                }
            }
            Mark::Control(_) | Mark::PartBegin | Mark::PartEnd | Mark::Unrecorded(_) => {}
        }
    }

    /// A rank passes something at a time. `is_at` says whether that is a place, as a beginning (0) or an end (1).
    fn pass(&mut self, rank: Rank, at: Time, is_at: impl Fn(&PlaceKind, usize) -> bool) {
        let Some(progress) = self.ranks.get_mut(rank.0 as usize) else { return };
        for (end, place) in [&self.interval.from, &self.interval.to].into_iter().enumerate() {
            if !is_at(&place.what, end) {
                continue;
            }
            progress.passes[end] += 1;
            let is_wanted = match place.pass {
                Some(pass) => pass == progress.passes[end],
                None => end == 1 || progress.passes[end] == 1,
            };
            if is_wanted {
                progress.times[end] = Some(at);
            }
        }
    }
}

impl Observer for IntervalMeter {
    fn event_began(&mut self, rank: Rank, event: EventRef<'_>, at: Time) {
        let index = rank.0 as usize;
        if self.ranks.get_mut(index).is_some_and(|progress| std::mem::take(&mut progress.in_barrier)) {
            self.pass(rank, at, |what, _| *what == PlaceKind::Barrier);
        }
        if let EventRef::Event(Event::Mark(mark)) = event {
            self.pass_mark(rank, mark, at);
        } else if let EventRef::Event(Event::Collective(call, _)) = event
            && (call.kind, call.comm) == (CollectiveKind::Barrier, CommId::WORLD)
            && let Some(progress) = self.ranks.get_mut(index)
        {
            progress.in_barrier = true;
        }
    }

    fn finished(&mut self, rank: Rank, at: Time) {
        if let Some(progress) = self.ranks.get_mut(rank.0 as usize) {
            progress.last = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(written: &str) -> IntervalMeter {
        IntervalMeter::new(written.to_owned(), 1).unwrap()
    }

    fn run(mut meter: IntervalMeter, events: &[(Event, u64)]) -> Result<f64, String> {
        for (event, at) in events {
            meter.event_began(Rank(0), EventRef::Event(event), Time(*at));
        }
        meter.finished(Rank(0), Time(1000));
        meter.finish().map(|found| (found.time.0 * 1e12).round())
    }

    fn region(name: &str, from: u64, to: u64) -> [(Event, u64); 2] {
        [(Event::Mark(Mark::RegionBegin(name.into())), from), (Event::Mark(Mark::RegionEnd(name.into())), to)]
    }

    #[test]
    fn an_interval_is_between_passes() {
        let events = [region("a", 10, 20), region("a", 30, 45), region("b", 50, 70)].concat();
        let of = |written: &str| run(meter(written), &events);
        assert_eq!(["region:a", "region:a:2", "region:a:2..region:b"].map(of), [Ok(35.0), Ok(15.0), Ok(40.0)]);
        assert_eq!(["start..region:a:1", "region:b..end", "start..end"].map(of), [Ok(20.0), Ok(950.0), Ok(1000.0)]);
    }

    #[test]
    fn places_that_never_come_are_an_error_that_names_those_that_do() {
        let events = region("a", 10, 20);
        let error = run(meter("region:c"), &events).unwrap_err();
        assert!(error.contains("'region:c'") && error.ends_with("the program passes a"), "{error}");
        assert!(run(meter("end..region:a"), &events).is_err());
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["", "a", "region:", "start:2", "barrier:0", "region:a..", "call"] {
            assert!(text.parse::<Interval>().is_err(), "{text}");
        }
        assert!(
            ["barrier:2..barrier:7", "call:lu.c:42", "region:a:b"].iter().all(|text| text.parse::<Interval>().is_ok())
        );
    }
}

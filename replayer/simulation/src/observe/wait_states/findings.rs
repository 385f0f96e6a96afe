//! The findings of the analysis of wait states, as they are serialised.

use std::collections::BTreeMap;

use serde::Serialize;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::delays::Delay;
use super::patterns::Pattern;
use super::{OWN_FINDINGS, WaitPlace, WaitStates};
use crate::observe::Analysis;
use crate::observe::causes::{PlaceId, SegmentKind, Tips};

#[derive(Serialize)]
struct Findings<'a> {
    /// The time that all ranks have waited, summed.
    waiting: Seconds,
    patterns: Vec<PatternTime>,
    ranks: Vec<RankWaiting>,
    /// The places of the program, those of most time first.
    places: Vec<PlaceWaiting<'a>>,
    /// All places of waiting, those of most time first.
    waits: Vec<PlaceTime<'a>>,
    /// All causes of waiting, those of most time first.
    causes: Vec<WaitCause<'a>>,
}

#[derive(Serialize)]
struct PatternTime {
    pattern: Pattern,
    seconds: Seconds,
}

/// The time that a rank has waited, and that others, or itself, have waited because of it.
#[derive(Serialize)]
struct RankWaiting {
    rank: u32,
    waiting: Seconds,
    direct: Seconds,
    indirect: Seconds,
}

/// The time that all ranks have waited at a place, and that ranks have waited because of it.
#[derive(Serialize)]
struct PlaceWaiting<'a> {
    region: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_site: Option<&'a str>,
    waiting: Seconds,
    direct: Seconds,
    indirect: Seconds,
}

#[derive(Serialize)]
struct PlaceTime<'a> {
    rank: u32,
    region: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_site: Option<&'a str>,
    /// The number of the communicator, 0 for that of all ranks.
    communicator: Option<u32>,
    pattern: Pattern,
    seconds: Seconds,
}

#[derive(Serialize)]
struct WaitCause<'a> {
    rank: u32,
    region: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_site: Option<&'a str>,
    kind: SegmentKind,
    seconds: Seconds,
    direct: Seconds,
    indirect: Seconds,
}

fn seconds(picoseconds: u64) -> Seconds {
    Time(picoseconds).seconds()
}

impl Analysis for Tips<WaitStates> {
    fn findings(&self) -> serde_json::Result<serde_json::Value> {
        let WaitStates { severity, delays, .. } = &self.listener;
        let program = &self.places;
        let mut places: Vec<(WaitPlace, u64)> = severity.iter().map(|(&place, &time)| (place, time)).collect();
        places.sort_unstable_by_key(|&(place, time)| (u64::MAX - time, place));
        let mut patterns = BTreeMap::<Pattern, u64>::new();
        let mut ranks = BTreeMap::<Rank, (u64, Delay)>::new();
        let mut by_place = BTreeMap::<PlaceId, (u64, Delay)>::new();
        for (place, time) in &places {
            *patterns.entry(place.pattern).or_default() += time;
            ranks.entry(place.rank).or_default().0 += time;
            by_place.entry(place.place).or_default().0 += time;
        }
        let causes = delays.sorted();
        for (segment, delay) in &causes {
            for (_, sum) in [ranks.entry(segment.rank).or_default(), by_place.entry(segment.place).or_default()] {
                sum.direct += delay.direct;
                sum.indirect += delay.indirect;
            }
        }
        let mut by_place: Vec<_> = by_place.into_iter().collect();
        by_place.sort_by_key(|(_, (waiting, Delay { direct, indirect }))| u64::MAX - (waiting + direct + indirect));
        let mut by_pattern: Vec<_> = patterns.into_iter().collect();
        by_pattern.sort_by_key(|&(pattern, time)| (u64::MAX - time, pattern));
        serde_json::to_value(Findings {
            waiting: seconds(places.iter().map(|(_, time)| time).sum()),
            patterns: by_pattern
                .into_iter()
                .map(|(pattern, time)| PatternTime { pattern, seconds: seconds(time) })
                .collect(),
            ranks: ranks
                .into_iter()
                .map(|(rank, (waiting, Delay { direct, indirect }))| RankWaiting {
                    rank: rank.0,
                    waiting: seconds(waiting),
                    direct: seconds(direct),
                    indirect: seconds(indirect),
                })
                .collect(),
            places: by_place
                .into_iter()
                .map(|(place, (waiting, Delay { direct, indirect }))| PlaceWaiting {
                    region: program.region(place),
                    call_site: program.call_site(place),
                    waiting: seconds(waiting),
                    direct: seconds(direct),
                    indirect: seconds(indirect),
                })
                .collect(),
            waits: places
                .into_iter()
                .map(|(WaitPlace { rank, place, communicator, pattern }, time)| PlaceTime {
                    rank: rank.0,
                    region: program.region(place),
                    call_site: program.call_site(place),
                    communicator: communicator.map(|number| number.0).filter(|&number| number < OWN_FINDINGS),
                    pattern,
                    seconds: seconds(time),
                })
                .collect(),
            causes: causes
                .into_iter()
                .map(|(segment, Delay { direct, indirect })| WaitCause {
                    rank: segment.rank.0,
                    region: program.region(segment.place),
                    call_site: program.call_site(segment.place),
                    kind: segment.kind,
                    seconds: seconds(direct + indirect),
                    direct: seconds(direct),
                    indirect: seconds(indirect),
                })
                .collect(),
        })
    }
}

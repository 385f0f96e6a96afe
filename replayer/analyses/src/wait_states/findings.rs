//! The findings of the analysis of wait states.

use std::collections::BTreeMap;

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::delays::Delay;
use super::{OWN_FINDINGS, WaitPlace, WaitStates};
use crate::analysis::Analysis;
use crate::causes::{CausalChains, PlaceId};
use crate::findings::{
    CollectiveWaiting, Findings, Pattern, PatternTime, PlaceWaiting, RankWaiting, WaitCause, WaitFindings, WaitTime,
};

fn seconds(picoseconds: u64) -> Seconds {
    Time(picoseconds).seconds()
}

impl Analysis for CausalChains<WaitStates> {
    fn add_to(&self, all: &mut Findings) {
        let WaitStates { severity, collectives, delays, .. } = &self.listener;
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
        let mut collectives: Vec<_> = collectives.iter().map(|(&name, &[late, own])| (name, late, own)).collect();
        collectives.sort_by_key(|&(.., own)| u64::MAX - own);
        all.wait_states = Some(WaitFindings {
            collectives: collectives
                .into_iter()
                .map(|(name, late, own)| CollectiveWaiting {
                    collective: name.to_owned(),
                    late: seconds(late),
                    own: seconds(own),
                })
                .collect(),
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
                    place: program.named(place),
                    waiting: seconds(waiting),
                    direct: seconds(direct),
                    indirect: seconds(indirect),
                })
                .collect(),
            waits: places
                .into_iter()
                .map(|(WaitPlace { rank, place, communicator, pattern }, time)| WaitTime {
                    rank: rank.0,
                    place: program.named(place),
                    communicator: communicator.map(|number| number.0).filter(|&number| number < OWN_FINDINGS),
                    pattern,
                    seconds: seconds(time),
                })
                .collect(),
            causes: causes
                .into_iter()
                .map(|(segment, Delay { direct, indirect })| WaitCause {
                    rank: segment.rank.0,
                    place: program.named(segment.place),
                    kind: segment.kind,
                    with: self.party(segment.party),
                    seconds: seconds(direct + indirect),
                    direct: seconds(direct),
                    indirect: seconds(indirect),
                })
                .collect(),
        });
    }
}

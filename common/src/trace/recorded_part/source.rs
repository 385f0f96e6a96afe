//! The events of one rank, without calls whose counterparts are not in the trace.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::calls::{Calls, Decision};
use super::correspondence::{Correspondence, CorrespondenceSide, Counterparts, Omission, SizedComm};
use super::survey::Survey;
use crate::event::{CommCall, CommId, Event, Group, Rank};
use crate::trace::located::{Located, LocatedEvents};
use crate::trace::transformation::ChangeEvents;

/// Leaves out the calls of one rank that have no counterparts in the trace.
pub(super) struct KeepMatched {
    calls: Calls,
    matching: Matching,
    /// Annotations of the call that comes next.
    annotations: Vec<Event>,
}

/// The judge that knows the contents of the trace from the survey.
struct Matching {
    rank: Rank,
    survey: Arc<Survey>,
    /// The number of the next call of each series.
    next: FxHashMap<(Correspondence, CorrespondenceSide), u64>,
    made: usize,
    received_any: usize,
}

impl KeepMatched {
    pub(super) fn new(rank: Rank, ranks: u32, survey: Arc<Survey>) -> Self {
        let matching = Matching { rank, survey, next: FxHashMap::default(), made: 0, received_any: 0 };
        let (calls, annotations) = (Calls::new(rank, ranks), Vec::new());
        Self { calls, matching, annotations }
    }
}

impl ChangeEvents for KeepMatched {
    fn change(&mut self, Located { event, location }: Located<'_>, events: &mut LocatedEvents) {
        let event = event.to_event();
        if let Event::Annotation(_) = event {
            self.annotations.push(event);
            return;
        }
        // If a call is dropped, these events are not its last one: the call's own event follows.
        let is_before = matches!(event, Event::Matched(..) | Event::Cancel(_) | Event::Compute(_));
        let (before, event) = match self.calls.decide(event, &mut self.matching) {
            Decision::Keep(event) => (None, event),
            Decision::KeepAfter(before, event) => (Some(before), event),
            Decision::Replace(others) => {
                self.annotations.clear();
                return others.into_iter().for_each(|event| events.push(event, location));
            }
            Decision::Drop => {
                if !is_before {
                    self.annotations.clear();
                }
                return;
            }
        };
        before.into_iter().for_each(|event| events.push(event, location));
        if !matches!(event, Event::Compute(_)) {
            self.annotations.drain(..).for_each(|annotation| events.push(annotation, location));
        }
        events.push(event, location);
    }
}

impl Matching {
    fn is_next_common(&self, meeting: Correspondence, side: CorrespondenceSide) -> bool {
        let next = self.next.get(&(meeting, side)).copied().unwrap_or_default();
        self.survey.is_common(meeting, next)
    }
}

impl Counterparts for Matching {
    fn makes(&mut self, _: Rank, _: CommCall, _: CommId, _: &Group) -> Option<SizedComm> {
        self.made += 1;
        self.survey.comm(self.rank, self.made - 1)
    }

    fn meets(&mut self, meeting: Correspondence, side: CorrespondenceSide, _: u32) -> bool {
        let is_common = self.is_next_common(meeting, side);
        self.skips(meeting, side, 1);
        is_common
    }

    fn would_meet(&mut self, meeting: Correspondence, side: CorrespondenceSide) -> bool {
        self.is_next_common(meeting, side)
    }

    fn skips(&mut self, meeting: Correspondence, side: CorrespondenceSide, number: u64) {
        let next = self.next.entry((meeting, side)).or_default();
        *next = next.saturating_add(number);
    }

    fn withdraws(&mut self, meeting: Correspondence, side: CorrespondenceSide) {
        if let Some(next) = self.next.get_mut(&(meeting, side)) {
            *next = next.saturating_sub(1);
        }
    }

    fn receives_any(&mut self, rank: Rank) -> (usize, bool) {
        self.received_any += 1;
        (self.received_any - 1, self.survey.has_received(rank, self.received_any - 1))
    }

    fn received(&mut self, _: Rank, _: usize, meeting: Correspondence) {
        self.skips(meeting, CorrespondenceSide::RECEIVER, 1);
    }

    fn leaves_out(&mut self, _: Omission) {}
}

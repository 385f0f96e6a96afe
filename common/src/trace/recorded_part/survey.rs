//! Surveys the complete trace of a part of a program before it is read, to find the calls with all their counterparts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::calls::Calls;
use super::correspondence::{
    CommKey, Common, Correspondence, CorrespondenceSide, Correspondences, Counterparts, Omission, SizedComm,
};
use crate::event::{CommCall, CommId, Event, Group, Rank};
use crate::format::{count, plural};
use crate::program::{CommIndex, Communicators};
use crate::trace::error::TraceError;
use crate::trace::located::LocatedEvents;
use crate::trace::opened::RankSources;

/// The facts about a trace that are known once all of it has been read.
#[derive(Default)]
pub(super) struct Survey {
    common: Common,
    /// The communicators that each rank makes, in order.
    comms: Vec<Vec<Option<SizedComm>>>,
    /// The messages that each rank received with a wildcard source or tag, in order.
    received: Vec<Vec<Option<(Correspondence, u64)>>>,
    /// The calls that are left out, by kind.
    left_out: BTreeMap<&'static str, u64>,
    /// Whether the part began in any rank.
    pub(super) has_begun: bool,
}

/// The judge of the survey itself, which assumes that every counterpart is present.
struct Surveyor {
    communicators: Communicators,
    meetings: Correspondences,
    found: Survey,
}

impl Survey {
    /// Reads the events of all ranks.
    pub(super) fn of(ranks: u32, sources: &Arc<dyn RankSources>, partial: bool) -> Result<Self, TraceError> {
        let (comms, received) = (vec![Vec::new(); ranks as usize], vec![Vec::new(); ranks as usize]);
        let mut surveyor = Surveyor {
            communicators: Communicators::new(ranks as usize),
            meetings: Correspondences::default(),
            found: Self { comms, received, ..Self::default() },
        };
        for rank in (0..ranks).map(Rank) {
            let mut source = sources.source(rank, partial)?;
            let (mut calls, mut events) = (Calls::new(rank, ranks), LocatedEvents::default());
            while source.read(&mut events)? {
                for located in events.iter() {
                    let event = located.event.to_event();
                    if !matches!(event, Event::Annotation(_)) {
                        calls.decide(event, &mut surveyor);
                    }
                }
                events.clear();
            }
            surveyor.found.has_begun |= calls.has_begun;
        }
        let Surveyor { meetings, mut found, .. } = surveyor;
        let (common, left) = meetings.common();
        found.common = common;
        for (meeting, side, number) in left {
            let what = match meeting {
                Correspondence::Message(_) | Correspondence::Partitioned(..) if side == CorrespondenceSide::SENDER => {
                    "send"
                }
                Correspondence::Message(_) | Correspondence::Partitioned(..) => "receive",
                Correspondence::Collective(_) | Correspondence::PersistentCollective(..) => "collective call",
                Correspondence::Fence(_) | Correspondence::Exposure(_) => "one-sided call",
                Correspondence::File(_) => "call on a file",
                Correspondence::Agreement(_) => continue,
            };
            *found.left_out.entry(what).or_default() += number;
        }
        Ok(found)
    }

    /// The calls that are left out, in words.
    pub(super) fn left_out(&self) -> Option<String> {
        let words =
            |(what, number): (&&'static str, &u64)| format!("{} {what}{}", count(*number), plural(*number, "", "s"));
        let list: Vec<String> = self.left_out.iter().map(words).collect();
        (!list.is_empty()).then(|| list.join(", "))
    }

    /// Whether all sides have the call of this number.
    pub(super) fn is_common(&self, meeting: Correspondence, number: u64) -> bool {
        self.common.get(&meeting).is_some_and(|common| common.contains(number))
    }

    /// The communicator that a rank makes as its *n*-th.
    pub(super) fn comm(&self, rank: Rank, nth: usize) -> Option<SizedComm> {
        self.comms.get(rank.0 as usize)?.get(nth).copied().flatten()
    }

    /// Whether the match of the rank's *n*-th receive with a wildcard source or tag is in the trace.
    pub(super) fn has_received(&self, rank: Rank, nth: usize) -> bool {
        let received = self.received.get(rank.0 as usize).and_then(|all| all.get(nth)).copied().flatten();
        received.is_some_and(|(meeting, number)| self.is_common(meeting, number))
    }
}

impl Counterparts for Surveyor {
    fn makes(&mut self, rank: Rank, call: CommCall, parent: CommId, group: &Group) -> Option<SizedComm> {
        let made: Option<CommIndex> = self.communicators.create(rank, call, parent, group).ok();
        let comm = made.map(|index| SizedComm {
            key: CommKey::Made(index),
            size: self.communicators.get(index).members.len() as u32,
        });
        self.found.comms.get_mut(rank.0 as usize)?.push(comm);
        comm
    }

    fn meets(&mut self, meeting: Correspondence, side: CorrespondenceSide, sides: u32) -> bool {
        self.meetings.add(meeting, side, sides);
        true
    }

    fn would_meet(&mut self, _: Correspondence, _: CorrespondenceSide) -> bool {
        true
    }

    fn skips(&mut self, meeting: Correspondence, side: CorrespondenceSide, number: u64) {
        self.meetings.skip(meeting, side, number);
    }

    fn withdraws(&mut self, meeting: Correspondence, side: CorrespondenceSide) {
        self.meetings.withdraw(meeting, side);
    }

    fn receives_any(&mut self, rank: Rank) -> (usize, bool) {
        let Some(received) = self.found.received.get_mut(rank.0 as usize) else { return (0, true) };
        received.push(None);
        (received.len() - 1, true)
    }

    fn received(&mut self, rank: Rank, nth: usize, meeting: Correspondence) {
        let number = self.meetings.add(meeting, CorrespondenceSide::RECEIVER, CorrespondenceSide::OF_MESSAGE);
        if let Some(received) = self.found.received.get_mut(rank.0 as usize).and_then(|all| all.get_mut(nth)) {
            *received = Some((meeting, number));
        }
    }

    fn leaves_out(&mut self, what: Omission) {
        let what = match what {
            Omission::Completion => "completion",
            Omission::OneSided => "one-sided call",
            Omission::File => "call on a file",
        };
        *self.found.left_out.entry(what).or_default() += 1;
    }
}

//! Communicators that a trace defines without the calls that made them, as traces of some tools do.

use std::collections::BTreeMap;
use std::io::Error;

use rustc_hash::FxHashMap;
use titr_common::event::{CommCall, CommId, Event, Group, Rank, Tag};
use titr_common::trace::{Trace, TraceError};

/// The communicators that all ranks define at their beginning.
#[derive(Default)]
pub(super) struct CommDefinitions {
    /// The numbers that the members give each, in an order that is the same for all ranks.
    all: BTreeMap<Definition, FxHashMap<Rank, CommId>>,
}

/// The number of a definition, and the members.
type Definition = (Option<Tag>, Vec<Rank>);

impl CommDefinitions {
    /// Looks for them in a trace.
    pub(super) fn of(trace: &Trace) -> Result<Self, TraceError> {
        let mut this = Self::default();
        for rank in (0..trace.ranks()).map(Rank) {
            let mut events = trace.stream(rank)?;
            while let Some(event) = events.next_event()? {
                if let Event::CommCreate(CommCall::World, _, Some(group)) = event {
                    if group.remote.is_empty() {
                        this.all.entry((group.tag, group.members)).or_default().insert(rank, group.id);
                    }
                } else if event.is_executed() && event != Event::Init {
                    break;
                }
            }
        }
        Ok(this)
    }

    /// The members of each, and the number that a rank gives it if it is a member.
    pub(super) fn of_rank(&self, rank: Rank) -> impl Iterator<Item = (&[Rank], Option<CommId>)> {
        self.all.iter().map(move |((_, members), numbers)| (&members[..], numbers.get(&rank).copied()))
    }

    /// Checks that a definition was found.
    pub(super) fn check(&self, rank: Rank, group: &Group) -> Result<(), Error> {
        let numbers = self.all.get(&(group.tag, group.members.clone()));
        if numbers.is_some_and(|numbers| numbers.get(&rank) == Some(&group.id)) {
            return Ok(());
        }
        let what = "a communicator that is defined after the first call, or between two groups";
        Err(Error::other(format!("rank {}: {what}, which cannot be written as DUMPI", rank.0)))
    }
}

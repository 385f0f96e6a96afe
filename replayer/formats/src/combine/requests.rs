//! The requests of a rank in one run, numbered so that all runs agree.
//!
//! A recording gives a request the lowest number that is free, which depends on the moment at which tests and waits
//! find others complete. Here a request has the number of requests that the rank made before it.

use rustc_hash::FxHashMap;
use titr_common::event::{Completed, Event, Partitioned, Quantifier, Rank, RequestId, RequestUse, Tag};

/// A fact about a request, which the rank learns in a test or a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    Completed,
    Cancelled,
    Matched,
}

/// A request and a fact about it, with the match.
pub(super) type Finding = ((RequestId, Fact), Option<(Rank, Tag)>);

#[derive(Clone, Copy)]
struct NumberedRequest {
    number: RequestId,
    is_persistent: bool,
    is_active: bool,
}

/// The requests of a rank that are not gone.
#[derive(Default)]
pub(super) struct AgreedNumbers {
    recorded: FxHashMap<RequestId, NumberedRequest>,
    made: u32,
}

impl AgreedNumbers {
    /// The event as it is compared with those of other runs: with the numbers that all runs agree on, and a test or a
    /// probe that succeeds as the blocking call.
    pub fn comparable(&mut self, mut event: Event) -> Event {
        if let Event::Wait(_, completed) | Event::Test(_, Some(completed)) = &mut event
            && let Completed::Outstanding(Some(count)) = *completed
        {
            let active: Vec<RequestId> =
                self.recorded.iter().filter(|(_, request)| request.is_active).map(|(&id, _)| id).collect();
            if active.len() == count as usize {
                *completed = Completed::These(active);
            }
        }
        event.requests(|id, usage| {
            if let Some(number) = self.follow(*id, usage) {
                *id = number;
            }
        });
        if let Event::Wait(_, completed) | Event::Test(_, Some(completed)) = event {
            let completed = match completed {
                Completed::One(_, Some(id)) => Completed::These(vec![id]),
                Completed::These(mut ids) => {
                    ids.sort_unstable();
                    Completed::These(ids)
                }
                Completed::Outstanding(_) | Completed::One(_, None) => completed,
            };
            return Event::Wait(Quantifier::All, completed);
        }
        if let Event::Iprobe(message, true) = event { Event::Probe(message) } else { event }
    }

    /// The number of the request that is recorded as `id`, which an event uses like this.
    fn follow(&mut self, id: RequestId, usage: RequestUse) -> Option<RequestId> {
        if let RequestUse::Makes { persistent } = usage {
            let number = RequestId(self.made);
            self.made += 1;
            self.recorded.insert(id, NumberedRequest { number, is_persistent: persistent, is_active: !persistent });
            return Some(number);
        }
        let request = self.recorded.get_mut(&id)?;
        let NumberedRequest { number, is_persistent, .. } = *request;
        match usage {
            RequestUse::Starts => request.is_active = true,
            RequestUse::Completes if is_persistent => request.is_active = false,
            RequestUse::Completes | RequestUse::Frees => _ = self.recorded.remove(&id),
            RequestUse::Makes { .. } | RequestUse::Uses => {}
        }
        Some(number)
    }
}

/// The findings of a [`comparable`](AgreedNumbers::comparable) event that comes sooner or later as the machine has it, like
/// that of the test that succeeds at last; `None` for an event whose place all runs have in common.
pub(super) fn findings(comparable: &Event) -> Option<Vec<Finding>> {
    if let Event::Wait(_, Completed::These(ids)) = comparable {
        return Some(ids.iter().map(|&id| ((id, Fact::Completed), None)).collect());
    }
    if let &Event::Cancel(id) = comparable {
        return Some(vec![((id, Fact::Cancelled), None)]);
    }
    if let &Event::Matched(id, source, tag) = comparable {
        return Some(vec![((id, Fact::Matched), Some((source, tag)))]);
    }
    matches!(comparable, Event::Partitioned(Partitioned::Arrived(..))).then(Vec::new)
}

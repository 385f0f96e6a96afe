//! Non-blocking duplications of communicators, one after another.
//!
//! Open MPI executes `MPI_Comm_idup` by non-blocking reductions on the original communicator, and begins the second
//! reduction of a duplication when it happens to find the first one complete. If two duplications of a communicator are
//! in progress, members may begin their reductions in different orders, and wait for each other forever (seen with Open
//! MPI 4.1, with and without the tracer). Here a duplication begins once the one before it is complete: the program has
//! a generalized request for it, as for a collective in the background. Duplications begin in the order of the
//! program's calls, including those of different communicators, because Open MPI makes some wait for others in that
//! order.

use std::thread;

use titr_wrappers::Real;
use titr_wrappers::abi::Family;
use titr_wrappers::argument::{Comm, Later, Place, Request};
use titr_wrappers::pmpi::generalized_request::GeneralizedRequest;
use titr_wrappers::pmpi::{Duplication, ErrorCode};

use super::Engine;

/// The program's incomplete duplications, in the order of its calls.
#[derive(Default)]
pub(super) struct Duplications {
    all: Vec<Pending>,
    /// The number of duplications that there have been.
    count: u64,
}

struct Pending {
    number: u64,
    parent: Comm,
    /// Its stage; `None` while a thread advances it.
    stage: Option<DuplicationStage>,
    /// The program's request.
    request: GeneralizedRequest,
}

/// The stage of a duplication.
enum DuplicationStage {
    /// Another one of the same communicator is in progress. The new communicator is wanted here.
    Waiting(Later),
    UnderWay(Duplication),
}

impl Duplications {
    /// Whether a new duplication has to wait for an earlier one.
    fn must_wait(&self, parent: Comm) -> bool {
        let waits = |pending: &Pending| !matches!(pending.stage, Some(DuplicationStage::UnderWay(_)));
        self.all.iter().any(|pending| pending.parent == parent || waits(pending))
    }

    fn are_of(&self, parent: Comm) -> bool {
        self.all.iter().any(|pending| pending.parent == parent)
    }

    fn add(&mut self, parent: Comm, stage: DuplicationStage, request: GeneralizedRequest) {
        self.all.push(Pending { number: self.count, parent, stage: Some(stage), request });
        self.count += 1;
    }

    /// Takes the first duplication of a communicator that is not among those `seen`, and adds it to them. None begins before an
    /// earlier one.
    fn take_first(&mut self, seen: &mut Vec<Comm>) -> Option<(u64, Comm, DuplicationStage)> {
        let mut is_earlier_waiting = false;
        for Pending { number, parent, stage, .. } in &mut self.all {
            let waits = !matches!(stage, Some(DuplicationStage::UnderWay(_)));
            let is_first = !(seen.contains(parent) || waits && is_earlier_waiting);
            is_earlier_waiting |= waits;
            if is_first {
                seen.push(*parent);
                if let Some(stage) = stage.take() {
                    return Some((*number, *parent, stage));
                }
            }
        }
        None
    }

    /// Puts a duplication back that is at this stage; `None`: it is complete.
    fn put_back(&mut self, number: u64, stage: Option<DuplicationStage>) {
        let Some(at) = self.all.iter().position(|pending| pending.number == number) else { return };
        match stage {
            Some(stage) => self.all[at].stage = Some(stage),
            None => self.all.remove(at).request.complete(),
        }
    }
}

impl Engine {
    /// Whether the tracer ensures that the library's duplications do not overlap.
    pub(super) fn orders_duplications(&self) -> bool {
        self.abi.family == Family::OpenMpi && !self.settings.observes
    }

    /// Makes a call of `MPI_Comm_idup`; whether it succeeded.
    pub(super) fn duplicate(
        &self,
        parent: Comm,
        new: &Place<'_, Comm>,
        request: &Place<'_, Request>,
        real: Real<'_>,
    ) -> bool {
        let must_wait = self.state().duplications.must_wait(parent);
        let stage = match must_wait {
            true => Ok(DuplicationStage::Waiting(new.later())),
            false => Duplication::start(self.abi, parent, new.later()).map(DuplicationStage::UnderWay),
        };
        let result = stage.and_then(|stage| {
            // SAFETY: it is where the program wants its request.
            let request = unsafe { GeneralizedRequest::start(self.abi, request.address()) }?;
            self.state().duplications.add(parent, stage, request);
            Ok(())
        });
        real.replace(ErrorCode::of(result));
        result.is_ok()
    }

    /// Advances the duplications; returns whether any is still in progress. Nothing is locked while the library is
    /// called, because it may call functions of the program.
    pub(super) fn progress_duplications(&self) -> bool {
        let mut seen = Vec::new();
        loop {
            let Some((number, parent, stage)) = self.state().duplications.take_first(&mut seen) else { break };
            let stage = match stage {
                DuplicationStage::Waiting(new) => Duplication::start(self.abi, parent, new).ok(),
                DuplicationStage::UnderWay(duplication) => Some(duplication),
            };
            let left = stage.and_then(|mut duplication| (!duplication.is_complete()).then_some(duplication));
            if left.is_none() {
                // The next ones begin at once.
                seen.clear();
            }
            self.state().duplications.put_back(number, left.map(DuplicationStage::UnderWay));
        }
        !self.state().duplications.all.is_empty()
    }

    /// Waits until no duplication of a communicator is in progress, while all background work advances.
    pub(super) fn finish_duplications(&self, parent: Comm) {
        while self.state().duplications.are_of(parent) {
            self.progress();
            thread::yield_now();
        }
    }
}

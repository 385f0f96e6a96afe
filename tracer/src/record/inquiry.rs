//! What the eight functions that ask after requests have in common: `MPI_Wait`, `MPI_Test` and their kin.

use titr_common::event::Quantifier;
use titr_wrappers::Call;
use titr_wrappers::argument::{Array, Place, Request, Status, StatusArgument, Statuses};
use titr_wrappers::functions::point_to_point::PointToPoint::*;
use titr_wrappers::signature::WaitSome;

use super::envelope::Named;

/// A wait or a test.
pub(super) struct Inquiry<'c> {
    pub(super) ask: Quantifier,
    pub(super) kind: Kind<'c>,
    requests: Handles<'c>,
    answer: Answer<'c>,
    statuses: Room<'c>,
}

/// Whether it waits.
pub(super) enum Kind<'c> {
    /// Until there is something to say.
    Wait,
    /// No; the flag says whether there is. `MPI_Testsome` has none.
    Test(Option<Place<'c, i32>>),
}

/// The requests asked after.
enum Handles<'c> {
    One(Place<'c, Request>),
    Many(Array<'c, Request>),
}

/// Which of them are done.
enum Answer<'c> {
    All,
    One(Place<'c, i32>),
    Some(WaitSome<'c>),
}

/// Where statuses go.
enum Room<'c> {
    One(StatusArgument<'c>),
    Many(Statuses<'c>),
}

impl<'c> Inquiry<'c> {
    /// Takes a call apart, if it is one of these.
    pub(super) fn of(call: &Call<'c>) -> Option<Self> {
        use Kind::{Test, Wait};
        let one = |ask, kind, request: &Place<'c, Request>, status: &StatusArgument<'c>| {
            let (requests, statuses) = (Handles::One(*request), Room::One(*status));
            Some(Self { ask, kind, requests, answer: Answer::All, statuses })
        };
        let many = |ask, kind, requests: Array<'c, Request>, answer, statuses| {
            Some(Self { ask, kind, requests: Handles::Many(requests), answer, statuses })
        };
        let Call::PointToPoint(call) = call else { return None };
        match call {
            MPI_Wait(request, status) => one(Quantifier::Single, Wait, request, status),
            MPI_Test(request, flag, status) => one(Quantifier::Single, Test(Some(*flag)), request, status),
            MPI_Waitall(all) => {
                many(Quantifier::All, Wait, all.array_of_requests(), Answer::All, Room::Many(all.array_of_statuses()))
            }
            MPI_Testall(all) => {
                let (flag, statuses) = (Test(Some(all.flag())), Room::Many(all.array_of_statuses()));
                many(Quantifier::All, flag, all.array_of_requests(), Answer::All, statuses)
            }
            MPI_Waitany(any, index, status) => {
                many(Quantifier::Any, Wait, any.array_of_requests(), Answer::One(*index), Room::One(*status))
            }
            MPI_Testany(any, index, flag, status) => {
                let (flag, status) = (Test(Some(*flag)), Room::One(*status));
                many(Quantifier::Any, flag, any.array_of_requests(), Answer::One(*index), status)
            }
            MPI_Waitsome(some) => {
                let statuses = Room::Many(some.array_of_statuses());
                many(Quantifier::Some, Wait, some.array_of_requests(), Answer::Some(*some), statuses)
            }
            MPI_Testsome(some) => {
                let statuses = Room::Many(some.array_of_statuses());
                many(Quantifier::Some, Test(None), some.array_of_requests(), Answer::Some(*some), statuses)
            }
            _ => None,
        }
    }

    /// Calls `each` with the requests as they are now, each with where it is kept.
    #[inline]
    pub(super) fn each_request(&self, mut each: impl FnMut(Request, usize)) {
        match &self.requests {
            Handles::One(place) => each(place.get(), place.address()),
            Handles::Many(all) => all.iter().enumerate().for_each(|(index, it)| each(it, all.address(index))),
        }
    }

    /// The request at `index`.
    pub(super) fn request(&self, index: usize) -> Option<Named> {
        match &self.requests {
            Handles::One(place) => (index == 0).then(|| Named::from(place)),
            Handles::Many(all) => Some(Named { handle: all.get(index)?, place: all.address(index) }),
        }
    }

    /// Sees to it that the call has statuses to write to.
    pub(super) fn keep_statuses(&self) {
        match &self.statuses {
            Room::One(status) => status.keep(),
            Room::Many(statuses) => statuses.keep(),
        }
    }

    /// A status that the call has written.
    pub(super) fn status(&self, index: usize) -> Option<Status<'c>> {
        match &self.statuses {
            Room::One(status) => status.get(),
            Room::Many(statuses) => statuses.get(index),
        }
    }

    /// Whether a call that succeeded had anything to say.
    pub(super) fn has_answer(&self) -> bool {
        match (&self.kind, &self.answer) {
            (Kind::Test(Some(flag)), _) => flag.get() != 0,
            // MPI_UNDEFINED: there was nothing to ask after.
            (Kind::Test(None), Answer::Some(some)) => some.outcount().get() != 0,
            (Kind::Wait | Kind::Test(None), _) => true,
        }
    }

    /// Whether an answer names all requests, each with the status of the same index.
    pub(super) fn names_all(&self) -> bool {
        matches!(self.answer, Answer::All)
    }

    /// Whether it returns when all requests are done.
    pub(super) fn waits_for_all(&self) -> bool {
        matches!(self.kind, Kind::Wait) && self.names_all()
    }

    /// How many requests are asked after.
    pub(super) fn len(&self) -> usize {
        match &self.requests {
            Handles::One(_) => 1,
            Handles::Many(all) => all.len(),
        }
    }

    /// Calls `done` with the index of each request that any other answer names, and with that of its status.
    pub(super) fn each_done(&self, mut done: impl FnMut(usize, usize)) {
        match &self.answer {
            Answer::All => {}
            // MPI_UNDEFINED is negative: there was nothing to ask after.
            Answer::One(index) => usize::try_from(index.get()).into_iter().for_each(|index| done(index, 0)),
            Answer::Some(some) => {
                let count = usize::try_from(some.outcount().get()).unwrap_or(0);
                let indices = some.array_of_indices().iter().take(count).enumerate();
                indices.for_each(|(status, index)| usize::try_from(index).into_iter().for_each(|i| done(i, status)));
            }
        }
    }
}

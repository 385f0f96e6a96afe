//! The calls that complete requests, `MPI_Wait`, `MPI_Test` and six related ones, in one form.

use std::sync::atomic::{AtomicBool, Ordering};

use titr_common::event::{Quantifier, RequestId};
use titr_wrappers::Call;
use titr_wrappers::argument::{Array, Place, Request, Status, StatusArgument, Statuses};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::signature::{Requests, WaitSome};

use super::message_args::{Match, RequestRef};
use crate::pmpi;

/// A call that may complete requests: a wait or a test.
pub(crate) struct CompletionCall<'c> {
    pub(crate) ask: Quantifier,
    pub(super) kind: CompletionKind<'c>,
    requests: Handles<'c>,
    completed: Completed<'c>,
    statuses: StatusDest<'c>,
}

/// Whether a completion call waits.
pub(crate) enum CompletionKind<'c> {
    /// It waits until it completes something.
    Wait,
    /// It does not wait; the flag tells whether it has completed something. `MPI_Testsome` has no flag.
    Test(Option<Place<'c, i32>>),
}

/// The requests of a completion call.
enum Handles<'c> {
    One(Place<'c, Request>),
    /// A copy: the address is not known.
    Copied(Request),
    Many(Array<'c, Request>),
}

/// The requests that are completed.
enum Completed<'c> {
    All,
    One(Place<'c, i32>),
    Some(WaitSome<'c>),
}

/// The destination of the statuses.
enum StatusDest<'c> {
    One(StatusArgument<'c>),
    Many(Statuses<'c>),
}

impl<'c> CompletionCall<'c> {
    /// The completion call that a call is, if it is one.
    // Inlined always: the hook asks this of every call, and the value is too large to be returned in registers.
    #[inline(always)]
    pub(crate) fn of(call: &Call<'c>) -> Option<Self> {
        use CompletionKind::{Test, Wait};
        let Call::PointToPoint(call) = call else { return None };
        Some(match call {
            MPI_Wait(request, status) => Self::one(Wait, Handles::One(*request), status),
            MPI_Test(request, flag, status) => Self::one(Test(Some(*flag)), Handles::One(*request), status),
            MPI_Waitall(all) => Self::all(Wait, all.array_of_requests(), all.array_of_statuses()),
            MPI_Testall(all) => Self::all(Test(Some(all.flag())), all.array_of_requests(), all.array_of_statuses()),
            MPI_Waitany(any, index, status) => Self::any(Wait, any, index, status),
            MPI_Testany(any, index, flag, status) => Self::any(Test(Some(*flag)), any, index, status),
            MPI_Waitsome(some) => Self::some(Wait, some),
            MPI_Testsome(some) => Self::some(Test(None), some),
            _ => return None,
        })
    }

    /// The question for requests that a call is, in the form of a test, if it is one. Its requests stay the program's.
    pub(crate) fn of_status_query(call: &PointToPoint<'c>) -> Option<Self> {
        use CompletionKind::Test;
        Some(match call {
            MPI_Request_get_status(request, flag, status) => {
                Self::one(Test(Some(*flag)), Handles::Copied(*request), status)
            }
            MPI_Request_get_status_all(all) => {
                Self::all(Test(Some(all.flag())), all.array_of_requests(), all.array_of_statuses())
            }
            MPI_Request_get_status_any(any, index, flag, status) => Self::any(Test(Some(*flag)), any, index, status),
            MPI_Request_get_status_some(some) => Self::some(Test(None), some),
            _ => return None,
        })
    }

    #[inline(always)]
    fn one(kind: CompletionKind<'c>, requests: Handles<'c>, status: &StatusArgument<'c>) -> Self {
        let (completed, statuses) = (Completed::All, StatusDest::One(*status));
        Self { ask: Quantifier::Single, kind, requests, completed, statuses }
    }

    #[inline(always)]
    fn all(kind: CompletionKind<'c>, requests: Array<'c, Request>, statuses: Statuses<'c>) -> Self {
        let (requests, statuses) = (Handles::Many(requests), StatusDest::Many(statuses));
        Self { ask: Quantifier::All, kind, requests, completed: Completed::All, statuses }
    }

    #[inline(always)]
    fn any(kind: CompletionKind<'c>, any: &Requests<'c>, index: &Place<'c, i32>, status: &StatusArgument<'c>) -> Self {
        let (requests, statuses) = (Handles::Many(any.array_of_requests()), StatusDest::One(*status));
        Self { ask: Quantifier::Any, kind, requests, completed: Completed::One(*index), statuses }
    }

    #[inline(always)]
    fn some(kind: CompletionKind<'c>, some: &WaitSome<'c>) -> Self {
        let (requests, statuses) =
            (Handles::Many(some.array_of_requests()), StatusDest::Many(some.array_of_statuses()));
        Self { ask: Quantifier::Some, kind, requests, completed: Completed::Some(*some), statuses }
    }

    /// Calls `each` with the current requests and their addresses.
    #[inline]
    pub(super) fn each_request(&self, mut each: impl FnMut(Request, usize)) {
        match &self.requests {
            Handles::One(place) => each(place.get(), place.address()),
            Handles::Copied(request) => each(*request, 0),
            Handles::Many(all) => all.iter().enumerate().for_each(|(index, it)| each(it, all.address(index))),
        }
    }

    pub(crate) fn request(&self, index: usize) -> Option<RequestRef> {
        match &self.requests {
            Handles::One(place) => (index == 0).then(|| RequestRef::from(place)),
            Handles::Copied(handle) => (index == 0).then_some(RequestRef { handle: *handle, place: 0 }),
            Handles::Many(all) => Some(RequestRef { handle: all.get(index)?, place: all.address(index) }),
        }
    }

    /// Gives the call statuses to write to if the program ignores its statuses.
    pub(crate) fn keep_statuses(&self) {
        match &self.statuses {
            StatusDest::One(status) => status.keep(),
            StatusDest::Many(statuses) => statuses.keep(),
        }
    }

    /// A status that the call has written.
    pub(crate) fn status(&self, index: usize) -> Option<Status<'c>> {
        match &self.statuses {
            StatusDest::One(status) => status.get(),
            StatusDest::Many(statuses) => statuses.get(index),
        }
    }

    /// Whether a call that succeeded has completed anything.
    pub(super) fn has_completed(&self) -> bool {
        match (&self.kind, &self.completed) {
            (CompletionKind::Test(Some(flag)), _) => flag.get() != 0,
            // MPI_UNDEFINED: there was no active request.
            (CompletionKind::Test(None), Completed::Some(some)) => some.outcount().get() != 0,
            (CompletionKind::Wait | CompletionKind::Test(None), _) => true,
        }
    }

    /// Whether success means that all requests are completed, each with the status at the same index.
    pub(crate) fn names_all(&self) -> bool {
        matches!(self.completed, Completed::All)
    }

    /// Whether the call waits until it completes something.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.kind, CompletionKind::Wait)
    }

    /// Whether the call returns when all requests are completed.
    pub(crate) fn waits_for_all(&self) -> bool {
        self.waits() && self.names_all()
    }

    pub(crate) fn len(&self) -> usize {
        match &self.requests {
            Handles::One(_) | Handles::Copied(_) => 1,
            Handles::Many(all) => all.iter().len(),
        }
    }

    /// Calls `done` with the index of each completed request, and with the index of its status, where not all are completed.
    pub(super) fn each_done(&self, mut done: impl FnMut(usize, usize)) {
        match &self.completed {
            Completed::All => {}
            // MPI_UNDEFINED is negative: there was no active request.
            Completed::One(index) => usize::try_from(index.get()).into_iter().for_each(|index| done(index, 0)),
            Completed::Some(some) => {
                let count = usize::try_from(some.outcount().get()).unwrap_or(0);
                let indices = some.array_of_indices().iter().take(count).enumerate();
                indices.for_each(|(status, index)| usize::try_from(index).into_iter().for_each(|i| done(i, status)));
            }
        }
    }
}

/// The requests of a completion call, taken out of the table for as long as the call may complete them.
#[derive(Debug, Default)]
pub(crate) struct HeldRequests {
    /// The requests in the order of the call. `None` for a null handle, an inactive request, or a request of a call that is
    /// not recorded.
    pub(super) ids: Vec<Option<RequestId>>,
    /// The completed requests where not all are: the index, the request, and the index of its status.
    pub(super) done: Vec<(usize, RequestId, usize)>,
    /// Whether only the status of a request will contain its match.
    pub(super) is_open: bool,
    /// Whether an event may refer to a request.
    pub(super) is_visible: bool,
}

impl HeldRequests {
    /// Forgets the requests of the last call.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        (self.is_open, self.is_visible) = (false, false);
    }

    /// The request at `index` is completed.
    pub(super) fn done(&mut self, index: usize, status: usize) {
        if let Some(id) = self.ids.get_mut(index).and_then(Option::take) {
            self.done.push((index, id, status));
        }
    }
}

/// Whether the program has cancelled a request. Until it has, no status is asked for that.
static HAS_CANCELLED: AtomicBool = AtomicBool::new(false);

/// The program cancels a request.
pub(super) fn note_cancellation() {
    HAS_CANCELLED.store(true, Ordering::Relaxed);
}

/// The content of a status, if there is one, kept for a call that is recorded later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptStatus {
    matched: Option<Match>,
    is_cancelled: bool,
}

impl From<Option<Status<'_>>> for KeptStatus {
    fn from(status: Option<Status<'_>>) -> Self {
        let is_cancelled = HAS_CANCELLED.load(Ordering::Relaxed) && status.as_ref().is_some_and(pmpi::is_cancelled);
        Self { matched: status.map(Match::from), is_cancelled }
    }
}

/// The source of the matches of receives.
pub(super) enum Matches<'a, 'c> {
    /// In the statuses of a call.
    Of(&'a CompletionCall<'c>),
    /// In statuses that were kept.
    Kept(&'a [KeptStatus]),
}

impl Matches<'_, '_> {
    /// The match at `index`.
    pub(super) fn get(&self, index: usize) -> Option<Match> {
        match self {
            Self::Of(call) => call.status(index).map(Match::from),
            Self::Kept(statuses) => statuses.get(index).and_then(|status| status.matched),
        }
    }

    /// Whether the request at `index` was cancelled before it had a match.
    pub(super) fn is_cancelled(&self, index: usize) -> bool {
        match self {
            Self::Of(call) => call.status(index).is_some_and(|status| pmpi::is_cancelled(&status)),
            Self::Kept(statuses) => statuses.get(index).is_some_and(|status| status.is_cancelled),
        }
    }
}

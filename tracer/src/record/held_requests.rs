//! The requests of a completion call, from before the call until it has returned, and the matches that it discloses.

use std::sync::atomic::{AtomicBool, Ordering};

use titr_common::event::RequestId;
use titr_wrappers::argument::Status;
use titr_wrappers::pmpi;

use super::completion_call::CompletionCall;
use super::message_args::Match;

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

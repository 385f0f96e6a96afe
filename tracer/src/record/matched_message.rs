//! Messages that a matched probe has found (`MPI_Mprobe`, `MPI_Improbe`), and that are not yet received.

use titr_common::event::{Incoming, RequestId, ThreadId};
use titr_wrappers::Function;

/// A message that a matched probe has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchedMessage {
    /// The message, with its own size.
    pub(super) message: Incoming,
    /// The thread that has found it, and the function that it called.
    pub(super) thread: ThreadId,
    pub(super) function: &'static Function,
    /// The receive that takes the message in the trace, before another one can.
    pub(super) receive: Option<RequestId>,
}

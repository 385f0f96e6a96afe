//! Messages that a matched probe has found (`MPI_Mprobe`, `MPI_Improbe`), and that are not yet received.

use titr_common::event::{CommId, Rank, Tag};

/// A message that a matched probe has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchedMessage {
    pub(super) comm: CommId,
    pub(super) from: Rank,
    pub(super) tag: Tag,
}

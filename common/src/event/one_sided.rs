//! Windows of memory that other ranks reach into: one-sided communication (MPI 4.0 §12).

use super::{CommId, Rank, RequestId};
use crate::units::Bytes;

/// A window, by the number that this rank gave it: the lowest that was free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WinId(pub u32);

/// An operation of one rank on a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OneSided {
    /// All members of a communicator make a window; this one lends so many bytes.
    Create(WinCall, CommId, WinId, Bytes),
    /// `MPI_Win_free`.
    Free(WinId),
    /// A call that separates accesses, and the ranks it names.
    Sync(WinSync, WinId, Vec<Rank>),
    /// A call that moves data.
    Access(Access),
}

/// The MPI function that made a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as MPI names them.
pub enum WinCall {
    Create,
    Allocate,
    AllocateShared,
    CreateDynamic,
}

/// The MPI function that separates accesses (§12.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as MPI names them; a lock is exclusive or shared.
pub enum WinSync {
    Fence,
    Post,
    Start,
    Complete,
    Wait,
    Test,
    Lock,
    LockShared,
    LockAll,
    Unlock,
    UnlockAll,
    Flush,
    FlushAll,
    FlushLocal,
    FlushLocalAll,
}

/// Moving data to and from the memory of another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The MPI function.
    pub op: AccessOp,
    /// The window whose memory is accessed.
    pub win: WinId,
    /// The rank whose memory is accessed.
    pub target: Rank,
    /// Bytes that go to the target; for a compare-and-swap, both values.
    pub there: Bytes,
    /// Bytes that come back.
    pub back: Bytes,
    /// The request, for `MPI_Rput` and its kin.
    pub request: Option<RequestId>,
}

/// The MPI function that accesses a window (§12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as MPI names them.
pub enum AccessOp {
    Put,
    Get,
    Accumulate,
    GetAccumulate,
    FetchAndOp,
    CompareAndSwap,
}

impl OneSided {
    /// The request of an access that has one.
    #[must_use]
    pub fn request(&self) -> Option<&RequestId> {
        match self {
            Self::Access(access) => access.request.as_ref(),
            Self::Create(..) | Self::Free(_) | Self::Sync(..) => None,
        }
    }
}

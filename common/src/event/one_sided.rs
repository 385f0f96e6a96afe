//! One-sided communication (MPI 4.0 §12): windows of memory that other ranks access.

use super::{Activity, CommId, ListSize, ObjectUse, Rank, RequestId};
use crate::units::Bytes;

/// A window, by the number that this rank gave it: the lowest that was free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WinId(pub u32);

/// An operation of one rank on a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OneSided {
    /// All members of a communicator create a window; this one exposes this many bytes.
    Create(WinCall, CommId, WinId, Bytes),
    /// `MPI_Win_free`.
    Free(WinId),
    /// A call that separates accesses.
    Sync(Synchronisation),
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

/// A call that separates accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synchronisation {
    /// The MPI function.
    pub call: WinSync,
    /// The window.
    pub win: WinId,
    /// The ranks that the call names: its target, or the group of a post or a start.
    pub ranks: Vec<Rank>,
    /// The promises of the program.
    pub asserts: Asserts,
}

/// The promises that a program makes in a synchronisation (§12.5.5): any of five.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Asserts(u8);

/// One promise of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Assert {
    /// `MPI_MODE_NOCHECK`: the matching calls were already made, or no other rank holds or requests the lock.
    NoCheck,
    /// `MPI_MODE_NOSTORE`: the rank did not write to its own part of the window since the last synchronisation.
    NoStore,
    /// `MPI_MODE_NOPUT`: no rank writes to this rank's part of the window until the next synchronisation.
    NoPut,
    /// `MPI_MODE_NOPRECEDE`: the fence completes no accesses.
    NoPrecede,
    /// `MPI_MODE_NOSUCCEED`: the fence begins no accesses.
    NoSucceed,
}

impl Asserts {
    /// Whether the program promises this.
    #[must_use]
    pub fn has(self, assert: Assert) -> bool {
        self.0 & 1 << assert as u8 != 0
    }

    /// The promises, in the order of the standard.
    pub(crate) fn iter(self) -> impl Iterator<Item = Assert> {
        Assert::ALL.into_iter().filter(move |&assert| self.has(assert))
    }
}

impl FromIterator<Assert> for Asserts {
    fn from_iter<I: IntoIterator<Item = Assert>>(asserts: I) -> Self {
        Self(asserts.into_iter().fold(0, |bits, assert| bits | 1 << assert as u8))
    }
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
    /// The request, for `MPI_Rput` and related functions.
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
    /// The activity of a rank in the call.
    pub(super) fn activity(&self) -> Activity {
        match self {
            Self::Access(access) => match access.op {
                AccessOp::Put | AccessOp::Accumulate => Activity::Send,
                AccessOp::Get | AccessOp::GetAccumulate | AccessOp::FetchAndOp | AccessOp::CompareAndSwap => {
                    Activity::Recv
                }
            },
            Self::Create(..) | Self::Free(_) => Activity::Collective,
            Self::Sync(sync) if sync.call == WinSync::Fence => Activity::Collective,
            Self::Sync(_) => Activity::Wait,
        }
    }

    /// The window that the call names, which a reader may replace, and the effect on it.
    pub fn window(&mut self) -> (&mut WinId, ObjectUse) {
        match self {
            Self::Create(_, _, win, _) => (win, ObjectUse::Makes),
            Self::Free(win) => (win, ObjectUse::Frees),
            Self::Sync(sync) => (&mut sync.win, ObjectUse::Orders),
            Self::Access(access) => (&mut access.win, ObjectUse::Accesses),
        }
    }

    /// The size of the lists of the call.
    pub(super) fn list_size(&self) -> ListSize {
        match self {
            Self::Sync(sync) => ListSize::of(&sync.ranks),
            Self::Create(..) | Self::Free(_) | Self::Access(_) => ListSize::default(),
        }
    }
}

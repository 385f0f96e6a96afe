//! Marks of a rank's position in its program: regions that the program itself marks (`MPI_Pcontrol`, MPI 4.0 §15.2.4),
//! and the call sites in its code.

use std::fmt::{self, Display, Formatter};

use super::{CommId, FileId, ListSize, Rank, RequestId, Tag, WinId};

/// A mark of a thread's position in its program. It takes no time. [`OpenRegions`](crate::program::OpenRegions) keeps
/// track of the regions that are open between two marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `titr_region_begin`: a region of this name begins.
    RegionBegin(Box<str>),
    /// `titr_region_end`: the region of this name that began last ends.
    RegionEnd(Box<str>),
    /// `MPI_Pcontrol` with this level, which tools give different meanings.
    Control(i32),
    /// The next call of the thread, and the computation before it, are of this call site.
    CallSite(CallSiteId),
    /// From here on, this call site number denotes this stack of calls, for this thread.
    CallStack(CallSiteId, CallStack),
    /// The start of the traced part of the program: from here on the rank's calls are in the trace.
    PartBegin,
    /// The end of the traced part: from here on only calls that create or free objects named by later calls are in the
    /// trace.
    PartEnd,
    /// Calls of the rank that are not in the trace, since the last mark of this kind.
    Unrecorded(Box<[Unrecorded]>),
}

/// Calls that are not in the trace and belong with calls of other ranks that may be, and how many of them there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unrecorded {
    /// The kind of call.
    pub call: UnrecordedCall,
    /// The number of calls, or for [`UnrecordedCall::Moved`] the distance.
    pub number: u64,
}

/// A kind of call that corresponds to calls of other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnrecordedCall {
    /// A message to this rank with this tag was sent.
    Sent(CommId, Rank, Tag),
    /// A message from this rank with this tag was received.
    Received(CommId, Rank, Tag),
    /// A collective of all members of a communicator.
    Collective(CommId),
    /// This persistent request was started.
    Start(RequestId),
    /// A fence of all members of a window.
    Fence(WinId),
    /// `MPI_Win_start` for a window of this rank.
    AccessEpoch(WinId, Rank),
    /// `MPI_Win_post` for accesses of this rank.
    ExposureEpoch(WinId, Rank),
    /// A collective call of all members of a file.
    File(FileId),
    /// Accesses to a file: the distance in bytes from the end of the last one before them to the end of the last of
    /// them, modulo 2⁶⁴.
    Moved(FileId),
}

/// The number of a call site, the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallSiteId(pub u32);

/// The places in the program's code from which an MPI call was made: the place of the call, and those of the calls
/// around it, innermost first. There is at least one.
pub type CallStack = Box<[CodePlace]>;

/// A place in the code of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CodePlace {
    /// The address that the call returns to.
    Address {
        /// The place of the module, the program itself or a library, in the list of the rank's entry in the manifest.
        module: u32,
        /// The address in the module's file.
        offset: u64,
    },
    /// The place as people call it: `solve (lu.c:42)`.
    Named(Box<str>),
}

impl Display for CodePlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { module, offset } => write!(f, "module {module}+{offset:#x}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl UnrecordedCall {
    /// The communicator that the calls name.
    pub(super) fn communicator(&mut self) -> Option<&mut CommId> {
        match self {
            Self::Sent(comm, ..) | Self::Received(comm, ..) | Self::Collective(comm) => Some(comm),
            Self::Start(_) | Self::Fence(_) | Self::AccessEpoch(..) | Self::ExposureEpoch(..) => None,
            Self::File(_) | Self::Moved(_) => None,
        }
    }

    /// The rank that the calls name.
    pub(super) fn rank(&mut self) -> Option<&mut Rank> {
        match self {
            Self::Sent(_, rank, _) | Self::Received(_, rank, _) => Some(rank),
            Self::AccessEpoch(_, rank) | Self::ExposureEpoch(_, rank) => Some(rank),
            Self::Collective(_) | Self::Start(_) | Self::Fence(_) | Self::File(_) | Self::Moved(_) => None,
        }
    }
}

impl Mark {
    /// The size of the name or the stack.
    pub(super) fn list_size(&self) -> ListSize {
        match self {
            Self::RegionBegin(name) | Self::RegionEnd(name) => ListSize::of(name.as_bytes()),
            Self::CallStack(_, stack) => {
                let names = stack.iter().map(|place| match place {
                    CodePlace::Address { .. } => 0,
                    CodePlace::Named(name) => name.len(),
                });
                let ListSize { entries, bytes } = ListSize::of(stack);
                let named: usize = names.sum();
                ListSize { entries: entries + named, bytes: bytes + named }
            }
            Self::Unrecorded(calls) => ListSize::of(calls),
            Self::Control(_) | Self::CallSite(_) | Self::PartBegin | Self::PartEnd => ListSize::default(),
        }
    }
}

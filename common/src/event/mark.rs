//! Marks of where in its program a rank is: regions that the program marks itself (`MPI_Pcontrol`, MPI 4.0 §15.2.4), and
//! the places in its code that calls are made from.

use std::fmt::{self, Display, Formatter};

use super::ListSize;

/// A mark of where in its program a thread is. It takes no time. Which regions are open between two marks is the business
/// of [`OpenRegions`](crate::program::OpenRegions).
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
    /// From here on, the call site of this number is this stack of calls, for this thread.
    CallStack(CallSiteId, CallStack),
}

/// The number of a call site, the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallSiteId(pub u32);

/// The places in the program's code that a call of MPI was made from: that of the call, and of the calls around it, from
/// within to without. There is at least one.
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
            Self::Control(_) | Self::CallSite(_) => ListSize::default(),
        }
    }
}

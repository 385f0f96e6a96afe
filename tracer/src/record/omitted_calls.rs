//! Calls that become no event, counted by function.

use std::collections::BTreeMap;
use std::ptr;

use titr_common::trace::manifest::RankEntry;
use titr_wrappers::{Effect, Function};

/// Why a call becomes no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Omission {
    /// The call communicates with no process: its peer is `MPI_PROC_NULL`, or its requests are null or those of such
    /// calls.
    NullPeer,
    /// The call concerns the caller only.
    Local,
    /// The call communicates, and the trace does not say so.
    Untraced,
    /// The trace has the collective and, though it is extended, not its messages.
    Opaque,
}

/// The number of calls of each function that became no event.
#[derive(Debug, Default)]
pub(super) struct OmittedCalls {
    /// In the order in which they were called first.
    calls: Vec<Calls>,
    /// The place of the function that was called last.
    last: usize,
    /// The functions that objects call without the tracer's seeing it, and these objects' files.
    unseen: Vec<(String, String)>,
}

#[derive(Debug)]
struct Calls {
    function: &'static Function,
    null_peer: u64,
    local: u64,
    untraced: u64,
    opaque: u64,
}

impl Omission {
    /// The reason for a call of a function whose arguments are not read.
    pub(super) fn unless_read(function: &Function) -> Self {
        match function.effect {
            Effect::Local => Self::Local,
            Effect::Communicates => Self::Untraced,
        }
    }
}

impl OmittedCalls {
    #[inline(never)]
    pub(super) fn count(&mut self, function: &'static Function, why: Omission) {
        if !self.calls.get(self.last).is_some_and(|calls| ptr::eq(calls.function, function)) {
            let known = self.calls.iter().position(|calls| ptr::eq(calls.function, function));
            self.last = known.unwrap_or(self.calls.len());
            if known.is_none() {
                self.calls.push(Calls { function, null_peer: 0, local: 0, untraced: 0, opaque: 0 });
            }
        }
        let Some(calls) = self.calls.get_mut(self.last) else { return };
        match why {
            Omission::NullPeer => calls.null_peer += 1,
            Omission::Local => calls.local += 1,
            Omission::Untraced => calls.untraced += 1,
            Omission::Opaque => calls.opaque += 1,
        }
    }

    /// An object, which was loaded from `file`, calls these functions and is not seen to.
    pub(super) fn unseen(&mut self, file: &str, functions: Vec<String>) {
        let file = file.rsplit('/').next().unwrap_or(file);
        self.unseen.extend(functions.into_iter().map(|function| (function, file.to_owned())));
    }

    /// Puts the counts where the manifest has them.
    pub(super) fn complete(&self, entry: &mut RankEntry) {
        let note = |list: &mut BTreeMap<String, u64>, name: &str, calls| {
            if calls > 0 {
                list.insert(name.to_owned(), calls);
            }
        };
        for (function, file) in &self.unseen {
            // The number is unknown.
            note(&mut entry.untraced, &format!("{function} in {file} (at least)"), 1);
        }
        for calls in &self.calls {
            let name = calls.function.name;
            note(&mut entry.null_peer, name, calls.null_peer);
            note(&mut entry.local, name, calls.local);
            note(&mut entry.untraced, name, calls.untraced);
            note(&mut entry.opaque, name, calls.opaque);
        }
    }
}

//! The call sites that a thread has visited: finding one again takes a look at the stack instead of a walk along it.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use titr_common::event::CallSiteId;
use titr_wrappers::Caller;
use titr_wrappers::unwinding::Unwinder;

use super::CallSites;

/// Maximum distance of the next frame from the caller's for its return address to be read without a walk. Addresses
/// closer than this to the beginning of a stack belong to the stack, too.
const NEAR: usize = 2048;

/// The call sites that one thread has come by.
pub struct SiteCache {
    sites: &'static CallSites,
    /// Call sites of one place, by the address that the call returns to.
    callers: FxHashMap<usize, KnownCaller>,
    /// Call sites of several places.
    stacks: FxHashMap<Box<[usize]>, CallSiteId>,
    /// Kept for its memory.
    addresses: Vec<usize>,
    unwinder: Unwinder,
    /// The changes of the unwinder when the above were last known to be right.
    changes: u64,
}

/// A function that calls MPI, by the address that the call returns to.
enum KnownCaller {
    /// The program's own.
    Program(CallSiteId),
    /// The library's, as a binding of Fortran is. Its frame is so large, and these are the addresses that it was seen
    /// to return to.
    Binding(usize, Vec<(usize, CallSiteId)>),
}

impl SiteCache {
    /// For a thread that has not called MPI.
    #[must_use]
    pub(crate) fn new(sites: &'static CallSites) -> Self {
        Self {
            sites,
            callers: FxHashMap::default(),
            stacks: FxHashMap::default(),
            addresses: Vec::new(),
            unwinder: Unwinder::new(),
            changes: 0,
        }
    }

    /// The call site of a call, with `more` additional places.
    #[inline(never)]
    pub(crate) fn find(&mut self, caller: Caller, more: usize) -> CallSiteId {
        if self.sites.depth + more == 1
            && let Some(known) = self.callers.get(&caller.address)
        {
            match known {
                KnownCaller::Program(site) => return *site,
                KnownCaller::Binding(size, seen) => {
                    // SAFETY: a frame of this size began here before, so at least `NEAR` bytes of the stack are there.
                    let address = unsafe { Caller::return_address_before(caller.frame + size) };
                    if let Some((_, site)) = seen.iter().find(|(known, _)| Some(*known) == address) {
                        return *site;
                    }
                }
            }
        }
        self.walk(caller, self.sites.depth + more)
    }

    /// The call site of a call, by all frames that it takes.
    #[inline(never)]
    fn walk(&mut self, caller: Caller, depth: usize) -> CallSiteId {
        let Self { sites, callers, stacks, addresses, unwinder, changes } = self;
        addresses.clear();
        let mut next = None;
        let mut first = None;
        unwinder.walk(caller, |frame, is_library| {
            if frame.address != caller.address && next.is_none() {
                next = Some(frame);
            }
            if !is_library || !addresses.is_empty() {
                first.get_or_insert(frame);
                addresses.push(frame.address);
            }
            if addresses.len() == depth || frame.address == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        // Another object may be where one was that has been unloaded.
        if *changes != unwinder.changes() {
            callers.clear();
            stacks.clear();
            *changes = unwinder.changes();
        }
        // A stack that cannot be walked, as the code says nothing of its frames, ends here.
        addresses.retain(|address| *address != 0);
        if addresses.is_empty() {
            addresses.push(caller.address);
        }
        let site = match stacks.get(&addresses[..]) {
            Some(known) => *known,
            None => {
                let site = sites.find(addresses);
                stacks.insert(addresses.as_slice().into(), site);
                site
            }
        };
        if depth == 1 {
            if addresses[0] == caller.address {
                callers.insert(caller.address, KnownCaller::Program(site));
            } else if let (Some(next), Some(first)) = (next, first)
                && next == first
                && next.frame.wrapping_sub(caller.frame) <= NEAR
            {
                let size = next.frame - caller.frame;
                let known = callers.entry(caller.address).or_insert(KnownCaller::Binding(size, Vec::new()));
                if let KnownCaller::Binding(known_size, seen) = known {
                    if *known_size != size {
                        seen.clear();
                        *known_size = size;
                    }
                    seen.push((first.address, site));
                }
            }
        }
        site
    }
}

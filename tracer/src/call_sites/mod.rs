//! Call sites: the places in the program's code from which its calls are made, if `TITRACE_CALLSITES` requests them.
//!
//! A call site is a stack of return addresses of the requested depth, each as a module and an offset: these are the
//! same in every run and on every rank, independent of the addresses of the modules. Frames of the MPI library are left
//! out: its Fortran bindings are between the program and the call. A stack is recorded once, under a number that its
//! calls' events refer to.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use titr_common::event::{CallSiteId, CallStack, CodePlace};
use titr_common::trace::manifest::CodeModule;
use titr_wrappers::unwinding::Unwinder;
use titr_wrappers::{Caller, Module};

pub(crate) struct CallSites {
    /// The number of recorded places of each call.
    depth: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The modules that stacks name by their places in this list: the program, then others as they appear.
    modules: Vec<Module>,
    sites: FxHashMap<CallStack, CallSiteId>,
    stacks: Vec<CallStack>,
}

pub(crate) fn program() -> Option<CodeModule> {
    Module::program().as_ref().map(described)
}

fn described(module: &Module) -> CodeModule {
    CodeModule { path: module.path.clone(), build_id: module.build_id.clone() }
}

impl CallSites {
    /// No call sites yet, with this number of places each.
    pub(crate) fn new(depth: usize) -> Self {
        let table = Table { modules: Module::program().into_iter().collect(), ..Table::default() };
        Self { depth, table: Mutex::new(table) }
    }

    pub(crate) fn stack(&self, site: CallSiteId) -> Option<CallStack> {
        self.table().stacks.get(site.0 as usize).cloned()
    }

    pub(crate) fn modules(&self) -> Vec<CodeModule> {
        self.table().modules.iter().map(described).collect()
    }

    /// The call site with these return addresses, from within to without.
    fn find(&self, addresses: &[usize]) -> CallSiteId {
        let mut table = self.table();
        let stack: CallStack = addresses.iter().map(|&address| table.place(address)).collect();
        if let Some(&known) = table.sites.get(&stack) {
            return known;
        }
        let site = CallSiteId(table.stacks.len() as u32);
        table.stacks.push(stack.clone());
        table.sites.insert(stack, site);
        site
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn place(&mut self, address: usize) -> CodePlace {
        let Some(found) = Module::of(address) else {
            return CodePlace::Named(format!("{address:#x}").into());
        };
        let offset = (address - found.base) as u64;
        let module = self.modules.iter().position(|module| *module == found).unwrap_or_else(|| {
            self.modules.push(found);
            self.modules.len() - 1
        });
        CodePlace::Address { module: module as u32, offset }
    }
}

/// Maximum distance of the next frame from the caller's for its return address to be read without a walk. Addresses
/// closer than this to the beginning of a stack belong to the stack, too.
const NEAR: usize = 2048;

/// The call sites that one thread has come by.
pub(crate) struct SiteCache {
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
        if *changes != unwinder.changes {
            callers.clear();
            stacks.clear();
            *changes = unwinder.changes;
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

//! Call sites: the places in the program's code from which its calls are made, if `TITRACE_CALLSITES` requests them.
//!
//! A call site is a stack of return addresses of the requested depth, each as a module and an offset: these are the
//! same in every run and on every rank, independent of the addresses of the modules. Frames of the MPI library are left
//! out: its Fortran bindings are between the program and the call. A stack is recorded once, under a number that its
//! calls' events refer to.

mod cache;

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use titr_common::event::{CallSiteId, CallStack, CodePlace};
use titr_common::trace::manifest::CodeModule;
use titr_wrappers::Module;

pub use cache::SiteCache;

/// The call sites of a process.
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

/// The program itself.
pub(crate) fn program() -> Option<CodeModule> {
    Module::program().as_ref().map(described)
}

fn described(module: &Module) -> CodeModule {
    CodeModule { path: module.path.clone(), build_id: module.build_id.clone() }
}

impl CallSites {
    /// No call sites yet, with this number of places each.
    #[must_use]
    pub(crate) fn new(depth: usize) -> Self {
        let table = Table { modules: Module::program().into_iter().collect(), ..Table::default() };
        Self { depth, table: Mutex::new(table) }
    }

    /// The stack of a call site.
    pub(crate) fn stack(&self, site: CallSiteId) -> Option<CallStack> {
        self.table().stacks.get(site.0 as usize).cloned()
    }

    /// The modules that stacks name.
    #[must_use]
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

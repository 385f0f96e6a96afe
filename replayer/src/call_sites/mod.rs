//! Names of the call sites in a program's code: `sweep (solver.f90:42)` for an address in a module.
//!
//! A trace has its call sites as addresses in the program and in its libraries, and names these files.
//! [`CallSiteNames`] is a transformation of such a trace that replaces the addresses by names, found in the debugging
//! information of the files (DWARF) or in their symbol tables. A place without a name is shown as `lb+0x12b9`, and
//! [`unnamed`](CallSiteNames::unnamed) gives the reason.

mod code;
mod names;

pub(crate) use names::{CallSiteNames, look_up};

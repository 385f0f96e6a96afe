//! Names of the places in a program's code that its calls were made from: `sweep (solver.f90:42)` for an address in a module.
//!
//! A trace has its call sites as addresses in the program and in its libraries, and says which files these are.
//! [`CallSiteNames`] is a transformation of such a trace: the places of its call sites have names then, found in the debugging
//! information of the files (DWARF) or in their tables of symbols. A place that cannot be named is shown as `lb+0x12b9`, and
//! [`unnamed`](CallSiteNames::unnamed) says why.

mod code;
mod function;
mod names;

pub use names::CallSiteNames;

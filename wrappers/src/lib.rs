//! Intercepts every MPI call of a process once, for any MPI library and language, and passes it to a [`Tool`].
//!
//! Preloaded into a program, this crate defines each MPI function under both its names, `MPI_X` and `PMPI_X` (MPI 4.0
//! §15.2). Both are needed: the Fortran bindings of Open MPI call `PMPI_X`, those of MPICH call `MPI_X`, and in parts
//! of `mpi_f08` it is the other way round. The real function is the library's `PMPI_X`. A thread-local guard
//! distinguishes the program's call from those that the library makes inside it, and their return addresses distinguish
//! these from calls of the program's callbacks. Arguments arrive in C's calling convention, so one set of functions
//! serves every binding. The `*_f2c` and `*_c2f` conversions are not intercepted, because the bindings themselves use
//! them, and neither are the functions that reveal whether there is a library ([`functions::environment::LEFT_ALONE`]).
//!
//! Nothing is linked. The library of the process is detected at the first call, and the differences between libraries —
//! sizes of handles, constants, the layout of a status — are one table, [`abi`].
//!
//! ```text
//!   program ─► MPI_X, PMPI_X ─► first on this thread? ─► Tool::call(function, Call, Real) ─► Real::run ─► library's PMPI_X
//!              functions/*       call.rs                  arguments, typed by signature.rs
//! ```
//!
//! Each module uses only those above it in this list:
//!
//! | module | subject |
//! | --- | --- |
//! | `loaded`, `relocations`, `library`, `weak_symbols` | the objects of the process, the MPI library among them, and their references |
//! | [`symbol`] | a function of the library, and how to call one with words |
//! | [`handle`], [`abi`] | handles, and the constants of each family |
//! | [`argument`] | one argument of a call |
//! | [`pmpi`] | calls that the tool makes itself |
//! | [`signature`] | the arguments that several functions have in common |
//! | `caller`, `stack`, [`unwinding`] | the place of a call in the program, and the calls around it |
//! | `in_progress`, `callbacks`, `bypasses` | the current calls of a thread, whether the program has left them, and objects whose calls are not seen |
//! | `containment` | panics of the tool, which end here, and exceptions of others, which pass |
//! | [`functions`], `call` | every function, and the handling of a call of one |
//!
//! # Why words suffice
//! A function is passed on without knowledge of its types: every argument of every MPI function is an integer or a
//! pointer, and on Linux's two ABIs, System V x86-64 and AArch64 (AAPCS64), each of those takes one integer register or
//! one eight-byte stack slot. `N` arguments are therefore `N` words, with any meaning, and upper halves that an `int`
//! leaves undefined are passed on undefined. Three exceptions are written out: `MPI_Wtime` and `MPI_Wtick` return
//! `double`, and `MPI_Pcontrol` is variadic.
//!
//! # Panics and exceptions
//! A panic in the tool is caught before it reaches C, the real call is made if it was not yet made, and from then on
//! every call goes directly to the library. Exceptions of the program's callbacks, and the unwinding of a thread that
//! ends, pass.

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!("passing arguments on as words is only known to be right on 64-bit Linux, x86-64 and AArch64");

pub mod abi;
pub mod argument;
mod call;
mod callbacks;
mod caller;
mod containment;
mod function;
pub mod functions;
pub mod handle;
mod in_progress;
mod library;
mod loaded;
pub mod pmpi;
mod relocations;
pub mod signature;
mod stack;
pub mod symbol;
pub mod unwinding;
mod weak_symbols;

pub use abi::Abi;
pub use call::{Call, Real, Tool, as_program, install};
pub use callbacks::bypasses;
pub use caller::{Caller, tool_word};
pub use function::{Effect, Function};
pub use in_progress::{functions_in_progress, is_in_call};
pub use library::{file as library_file, file_of, function as library_function, hidden_tool, own_file};
pub use loaded::Module;

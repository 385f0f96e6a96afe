//! Sees every MPI call of a process once, whatever the MPI library and the language, and hands it to a [`Tool`].
//!
//! Preloaded into a program, this crate defines each MPI function under both its names, `MPI_X` and `PMPI_X` (MPI 4.0
//! §15.2). Both are needed: the Fortran bindings of Open MPI call `PMPI_X`, those of MPICH call `MPI_X`, and in parts of
//! `mpi_f08` it is the other way round. The real function is the library's `PMPI_X`; a thread-local guard tells the call
//! that the program made from those that the library makes on the way, and the address that these return to from those of the
//! program's callbacks. Arguments arrive as C passes them, so one set of
//! functions serves every binding. The `*_f2c` and `*_c2f` conversions are left alone, as the bindings themselves use them, and
//! so is what tells whether there is a library ([`functions::environment::LEFT_ALONE`]).
//!
//! Nothing is linked. Which library the process runs on is found out at the first call, and what differs between
//! libraries — sizes of handles, constants, where a status keeps what — is one table, [`abi`].
//!
//! ```text
//!   program ─► MPI_X, PMPI_X ─► first on this thread? ─► Tool::call(function, Call, Real) ─► Real::run ─► library's PMPI_X
//!              functions/*       call.rs                  arguments, typed by signature.rs
//! ```
//!
//! Each module uses only those above it in this list:
//!
//! | module | what it knows |
//! | --- | --- |
//! | `loaded`, `library`, `relocations`, `weak_symbols` | the objects of the process, which of them is the MPI library, and what they refer to |
//! | [`symbol`] | a function of the library, and how to call one with words |
//! | [`handle`], [`abi`] | handles, and the constants of each family |
//! | [`argument`] | one argument of a call |
//! | [`pmpi`] | MPI calls of the tool's own |
//! | [`observation`] | messages inside Open MPI's collectives |
//! | [`signature`] | the arguments that several functions have in common |
//! | `caller`, `stack`, [`unwinding`] | where in the program a call was made, and the calls around it |
//! | `in_progress`, `callbacks`, `bypasses` | the calls that a thread is in, whether the program has left them, and what makes calls that are not seen |
//! | `containment` | panics of the tool, which end here, and exceptions of others, which pass |
//! | [`functions`], [`call`] | every function, and what happens when the program calls one |
//!
//! # Why words are enough
//! A function is passed on without knowing its types: every argument of every MPI function is an integer or a pointer,
//! and on Linux's two ABIs, System V x86-64 and AArch64 (AAPCS64), each of those takes one integer register or one
//! eight-byte stack slot. So `N` arguments are `N` words, whatever they mean, and upper halves that an `int` leaves
//! undefined are passed on undefined. Three exceptions are written out: `MPI_Wtime` and `MPI_Wtick` return `double`,
//! and `MPI_Pcontrol` is variadic.
//!
//! # Panics and exceptions
//! A panic in the tool is caught before it reaches C, the real call happens if it has not yet, and from then on every
//! call goes straight through. What the program throws in a callback, and what unwinds a thread that ends, passes.

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!("passing arguments on as words is only known to be right on 64-bit Linux, x86-64 and AArch64");

pub mod abi;
pub mod argument;
mod bypasses;
pub mod call;
mod callbacks;
mod caller;
mod containment;
mod function;
pub mod functions;
pub mod handle;
mod in_progress;
mod library;
mod loaded;
pub mod observation;
pub mod pmpi;
mod relocations;
pub mod signature;
mod stack;
pub mod symbol;
pub mod unwinding;
mod weak_symbols;

pub use abi::Abi;
pub use bypasses::bypasses;
pub use call::{Call, Real, Tool, as_program, install};
pub use caller::{Caller, tool_word};
pub use function::{Effect, Function};
pub use in_progress::{functions_in_progress, is_in_call};
pub use library::{file as library_file, file_of, function as library_function, hidden_tool, own_file};
pub use loaded::Module;

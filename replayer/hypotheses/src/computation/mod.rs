//! Changes of the computation between calls: a counted volume, or the elapsed time with `--compute timed`.
//!
//! A region contains the computations that end in it: all from the mark at its beginning to the mark at its end.

mod balance;
mod scale_compute;
mod volume;

pub(crate) use balance::BALANCE_COMPUTE;
pub use balance::Scope;
pub(crate) use scale_compute::{INFINITE_CPU, SCALE_COMPUTE, scaled};

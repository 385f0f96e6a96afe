//! Changes of the computation between calls: a counted volume, or the elapsed time with `--compute timed`.
//!
//! A region contains the computations that end in it: all from the mark at its beginning to the mark at its end.

mod balance;
mod scale_compute;
mod volume;

pub use balance::{BALANCE_COMPUTE, Scope};
pub use scale_compute::{INFINITE_CPU, SCALE_COMPUTE, Scalings};

//! Changes of the computation between calls: a volume that was counted, or with `--compute timed` the time that passed.
//!
//! A region has the computations that end in it, so all from the mark at its beginning to the mark at its end.

mod balance;
mod scale_compute;
mod volume;

pub use balance::{BALANCE_COMPUTE, Scope};
pub use scale_compute::{INFINITE_CPU, SCALE_COMPUTE, Scalings};

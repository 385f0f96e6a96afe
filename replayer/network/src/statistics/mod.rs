//! What can be said of many numbers: means and how sure they are, and percentiles.

mod estimate;
mod histogram;

pub use estimate::Estimate;
pub use histogram::{Histogram, Percentiles};

//! Statistics of samples: means with confidence intervals, and percentiles.

mod estimate;
mod histogram;

pub use estimate::Estimate;
pub use histogram::{Histogram, Percentiles};

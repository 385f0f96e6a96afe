//! Traces in the formats of other tools, a module for each.

mod error;
mod output;
pub mod simgrid;

pub use error::ConvertError;

//! Traces in the formats of other tools, a module for each, and in titr's own.

mod error;
mod output;
pub mod recorded;
pub mod simgrid;
pub mod ti;

pub use error::ConvertError;

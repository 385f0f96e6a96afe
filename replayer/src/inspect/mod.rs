//! Contents and soundness of a trace.

mod check;
mod inventory;

pub use check::{Verdict, check};
pub use inventory::{Inventory, RankEnd};

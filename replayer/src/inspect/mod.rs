//! What a trace holds, and whether it is sound, without a machine.

mod check;
mod counters;
mod inventory;

pub use check::{Verdict, check};
pub use counters::Comparison;
pub use inventory::{Inventory, RankEnd};

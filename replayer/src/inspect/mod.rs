//! What a trace holds, and whether it is sound, without a machine.

mod check;
mod inventory;

pub use check::check;
pub use inventory::{Inventory, RankEnd};

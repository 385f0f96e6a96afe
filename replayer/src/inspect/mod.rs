//! Contents and soundness of a trace.

mod check;
mod inventory;
mod uncounted;

pub use check::{Verdict, check};
pub use inventory::{Inventory, RankEnd};
pub use uncounted::uncounted;

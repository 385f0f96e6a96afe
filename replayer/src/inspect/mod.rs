//! Contents and soundness of a trace.

mod check;
mod inventory;
mod messages;
mod part;
mod row;
mod uncounted;
mod unreadable;

pub use check::{Verdict, check};
pub use inventory::{Inventory, RankEnd, TraceInfo};
pub use messages::sent_by;
pub use part::recorded_part;
pub use row::EventRow;
pub use uncounted::uncounted;

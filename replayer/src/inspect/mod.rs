//! Contents and soundness of a trace.

mod check;
mod inventory;
mod messages;
mod open_requests;
mod row;

pub(crate) use check::{Verdict, check};
pub(crate) use inventory::{Inventory, TraceInfo};
pub(crate) use messages::sent_by;
pub(crate) use row::EventRow;

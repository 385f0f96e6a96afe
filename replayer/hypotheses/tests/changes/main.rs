//! The effects of changes on a trace, event by event.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod computation;
mod messages;
mod mistakes;
mod removal;
mod scalings;
mod support;

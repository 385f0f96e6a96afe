//! The commands `titr-replay` and `titr`: they parse arguments, replay and print.

mod call_sites;
pub mod cli;
mod combine;
mod diff;
pub mod generate;
mod inspect;
mod machine;
pub mod memory;
pub mod page;
mod recorders;
mod report;
mod scaling;
pub mod schedule;
pub mod schema;
mod studies;

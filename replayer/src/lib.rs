//! The commands `titr-replay` and `titr`: they parse arguments, replay and print.

pub mod advise;
pub mod cli;
pub mod diff;
pub mod generate;
pub mod inspect;
pub mod page;
pub mod report;
pub mod schedule;

//! The commands `titr-replay` and `titr`: they parse arguments, replay and print.

pub mod cli;
pub mod generate;
pub mod inspect;
pub mod machine;
pub mod memory;
pub mod page;
pub mod report;
pub mod schedule;
pub mod schema;

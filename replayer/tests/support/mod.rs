//! What the tests of this folder share.

pub mod browser;
pub mod command;
pub mod machine;
pub mod schema;

//! What the tests of this folder share.

pub mod command;
pub mod machine;

//! What the tests of this folder share.

#![allow(dead_code)] // No test uses all of it.

pub mod command;
pub mod machine;

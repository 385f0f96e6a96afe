//! Code shared by the tests of this folder.

pub mod base64;
pub mod browser;
pub mod by_hand;
pub mod command;
pub mod schema;

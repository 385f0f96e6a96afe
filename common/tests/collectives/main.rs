//! Every algorithm implements its collective's definition, and sends the library's messages.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod definition;
mod machine;
mod nodes;
mod recordings;
mod results;

//! Every algorithm does what its collective is defined to do, and sends what the library sends.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod definition;
mod machine;
mod recordings;
mod results;

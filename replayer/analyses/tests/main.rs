//! What analyses find in programs, a module for each analysis, in one program so that the library is linked once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod critical_path;
mod wait_states;

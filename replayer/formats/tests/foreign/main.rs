//! Reads traces of other tools, and counts what is in them.
//!
//! The samples in `tests/data/foreign` are of the same programs: a stencil, collectives on several communicators,
//! collectives with unequal counts, persistent requests, and wildcards. Their right counts are known from the programs.
//! The tests that are ignored read a larger collection, in the directory that `TITR_FOREIGN` names.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod chakra;
mod counts;
mod dumpi;
mod goal;
mod graphs;
mod liballprof;
mod otf2;
mod paraver;
mod readings;
mod samples;
mod speed;
mod steps;
mod tally;
mod written;
mod written_paraver;

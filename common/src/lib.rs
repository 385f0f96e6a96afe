//! Code shared by tracer and replayer: traces (events, their text, their directory), collective schedules, and units.
//! Nothing here links an MPI library or simulates; `collectives::library` has the rules by which MPI libraries choose
//! algorithms.

pub mod bit_set;
pub mod collectives;
pub mod counts;
pub mod dense_slab;
pub mod event;
pub mod event_buffer;
pub mod format;
pub mod grammar;
pub mod input;
pub mod output;
pub mod program;
pub mod statistics;
pub mod step_function;
pub mod terminal;
pub mod time;
pub mod timeline;
pub mod trace;
pub mod units;

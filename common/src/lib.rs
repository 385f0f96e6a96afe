//! What tracer and replayer share: the trace — its events, their text, its directory — collective schedules, and units.
//! Nothing here links an MPI library or simulates; `collectives::library` knows the rules by which MPI libraries choose
//! algorithms.

pub mod collectives;
pub mod event;
pub mod event_buffer;
pub mod format;
pub mod grammar;
pub mod program;
pub mod time;
pub mod trace;
pub mod units;

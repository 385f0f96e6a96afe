//! What tracer and replayer share: the trace — its events, their text, its directory — collective schedules, and units.
//! Nothing here knows an MPI library or a simulation.

pub mod collectives;
pub mod event;
pub mod event_buffer;
pub mod format;
pub mod grammar;
pub mod time;
pub mod trace;
pub mod units;

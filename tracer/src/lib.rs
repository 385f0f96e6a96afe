//! `libtitrace.so`: preloaded into an MPI program, it records the program's requests to the machine.
//!
//! ```text
//!   lifecycle ──► record ──► sink ──► rank-000017.tit.gz
//!    │         ▲
//!    │         └── counter: what was computed between two calls
//!    │         ├── process_time: what else the process computed, and when it waited
//!    │         ├── call_sites: where in the program's code its calls are made, if asked for
//!    │         ├── extended: collectives carried out as messages
//!    ├── open: at MPI_Init
//!    │    ├── local_ranks: whether all ranks are traced
//!    │    └── directory: where; how is in `titr_config`
//!    ├── never_called: if there was none
//!    ├── launched: the messages to `titrace`
//!    ├── sanitizers: what they are told of the tracer
//!    ├── termination: at an end that runs no `atexit` handler
//!    └── gather: all ranks' streams into one archive, at MPI_Finalize, if asked for
//! ```

mod call_sites;
mod clock;
mod collective_call;
mod counter;
mod descriptors;
mod directory;
mod extended;
mod gather;
mod hook;
mod host;
mod launched;
mod lifecycle;
mod local_ranks;
mod never_called;
mod open;
mod pmpi;
mod process_time;
mod ranks;
mod record;
mod sanitizers;
mod sink;
mod stderr;
mod termination;
mod threads;

//! Synthetic traffic: hosts that send without end, whatever the network makes of it, and what comes of it.
//!
//! An **open loop** (W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks", 2004, ch. 23): in every
//! cycle each host offers a message with the same probability, such that it offers `load` phits a cycle in the mean; what
//! the network does not take waits at the host. A run first warms up, then it is measured for so many cycles:
//!
//! - **accepted** load: phits consumed in them, a cycle and host;
//! - **message latency**: from the offer of a message until the tail of its last packet is consumed, and **network latency**:
//!   from when the header of its first packet leaves the host; of the messages that arrive in the measured cycles.
//!
//! **Bursts** (INSEE's) close the loop instead: every host sends so many messages at once, and as many again when all have
//! arrived, as after a barrier that costs nothing. What tells is how long a burst takes.
//!
//! Means come with 99 % confidence intervals (Student's t): over runs, or over batches of cycles where there is one run.

mod load;
mod measure;
mod pattern;
mod size;
mod source;

pub use load::{Loads, NoLoad};
pub use measure::{Burst, Injection, MeasuredRun, Plan, Point, measure, measure_run, point};
pub use pattern::{Destinations, NoPattern, Pattern};
pub use size::{NoSize, Sizes};
pub use source::{below, generator};

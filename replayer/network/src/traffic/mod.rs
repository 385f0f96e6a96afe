//! Synthetic traffic: hosts that send continuously, and the resulting throughput and latency.
//!
//! An **open loop** (W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks", 2004, ch. 23): in
//! every cycle each host offers a message with the same probability, chosen so that it offers `load` phits per cycle on
//! average. Messages that the network does not accept wait at the host. After a warm-up, a number of cycles is
//! measured:
//!
//! - **accepted** load: phits consumed in these cycles, per cycle and host;
//! - **message latency**: from the offer of a message until the tail of its last packet is consumed, and **network
//!   latency**: from the departure of its first packet's header from the host; both of the messages that arrive in the
//!   measured cycles.
//!
//! **Bursts** (INSEE's) form a closed loop: every host sends a number of messages at once, and the same number again
//! when all have arrived, as after a barrier that costs nothing. The result is the time of a burst.
//!
//! Means have 99 % confidence intervals (Student's t): over runs, or over batches of cycles for a single run.

mod background;
mod measure;
mod pattern;
mod size;
mod source;

pub use background::{BackgroundLoad, BackgroundMessage, BackgroundTraffic, Loads, NoLoad};
pub use measure::{Burst, Injection, MeasuredRun, Plan, Point, measure, measure_run, point};
pub use pattern::{Arrangement, Destinations, NoPattern, Pattern};
pub use size::{NoSize, Sizes};
pub use source::{below, generator};

//! Replays of programs whose iterations are alike, without most of these.
//!
//! A program that repeats its main loop thousands of times takes about as long for each iteration once the loop has settled.
//! So it is enough to simulate some iterations:
//!
//! 1. [`find_loop`](loops::find_loop) finds the loop of each rank: the longest part of its trace in which the same calls come again after
//!    the same number of calls. How much is computed in between may differ.
//! 2. Two [shortened traces](shortened) are written, which hold a [sample](sample) of the iterations, spread evenly over the
//!    loop, and all that comes before and after it. As every rank leaves out the same iterations, and these are alike, sends
//!    and receives still match.
//! 3. Both are replayed. In the longer one [`IterationTimes`] takes the time of every iteration.
//! 4. An [estimate](estimate) tells the time of an iteration that was left out, and how sure that is. The difference of the two
//!    replays tells whatever adds up: messages, bytes, the load of links. What was computed in the
//!    iterations that were left out is known exactly, as it is in the trace.
//!
//! If the estimate is not good enough, twice as many iterations are simulated, and in the end all of them.

mod estimate;
mod extrapolation;
mod iteration_times;
mod loops;
mod sample;
mod sampled_replay;
mod shortened;

mod structure;

pub use iteration_times::IterationTimes;
pub use sampled_replay::{Steady, SteadyError};

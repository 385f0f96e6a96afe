//! Sampled replays of programs with similar iterations.
//!
//! A program that repeats its main loop thousands of times takes about the same time for each iteration once the loop
//! has settled. Simulating some iterations is therefore enough:
//!
//! 1. The loop of each rank is found. Most traces have it [as a loop](titr_common::counts::PassedLoop). In others,
//!    [`find_loop`](loops::find_loop) finds the longest part in which the same calls recur after the same number of calls. The
//!    computation between them may vary.
//! 2. A [sample](sample) of the iterations is chosen, spread evenly over their order by the longest computation of a rank.
//!    Iterations whose computation or sleeps are unusual are sampled separately.
//! 3. Two [sampled traces](sampled_trace) are replayed, which contain the iterations of the sample, or some of these, and
//!    everything before and after the loop. Every rank leaves out the same iterations, and these are alike, so sends and receives
//!    still match. In the longer one, [`IterationTimes`] measures the time of every iteration.
//! 4. An [estimate](estimate) gives the time of an omitted iteration and its error. The difference of the two replays
//!    gives all additive quantities: messages, bytes, packets, the load of links. The computation of omitted iterations is known
//!    exactly, because it is in the trace.
//!
//! If the estimate is not good enough, two to four times as many iterations are simulated, and eventually all of them.

mod estimate;
mod extrapolation;
mod iteration_times;
mod loops;
mod sample;
mod sampled_replay;
mod sampled_trace;
mod structure;

pub(crate) use sampled_replay::Steady;

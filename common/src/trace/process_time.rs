//! Times of a rank's process while it was traced, by the system's clocks: the time that the trace has as computation,
//! and the rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time of a rank's process from the end of `MPI_Init` to the end of its trace, in seconds. The threads of the tracer are left
/// out everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessTime {
    /// Elapsed time.
    pub elapsed: f64,
    /// CPU time of the process before `MPI_Init` was called.
    pub cpu_before: f64,
    /// CPU time of all threads.
    pub cpu: f64,
    /// CPU time of the threads that call MPI, each from its first call on: computation and calls together.
    pub calling_threads: f64,
    /// CPU time of the counted computation between calls, by [`Counter::rate`](crate::trace::manifest::Counter::rate)
    /// or, if instructions were counted, by the rate of the reference kernel; absent if neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computation: Option<f64>,
    /// CPU time of the threads that call MPI in calls that communicate and are in no event of the trace, such as messages
    /// to `MPI_PROC_NULL`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed_over: f64,
    /// CPU time of other threads of the program: threads that never call MPI, and threads that do, before their first
    /// call.
    pub other_threads: f64,
    /// The part of `other_threads` that was added to the computation of threads that call MPI (`TITRACE_THREADS=sum`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added: f64,
    /// CPU time of threads that the MPI library started in `MPI_Init`.
    pub library_threads: f64,
    /// CPU time of child processes that the process waited for, and of their children.
    pub children: f64,
    /// Elapsed time of the threads that call MPI, each from its first call on, summed.
    pub calling_elapsed: f64,
    /// The part of `calling_elapsed` in which the threads were outside of MPI calls and had no CPU time: they waited
    /// for a device, a file, another thread or a core. Absent if the counter cannot measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// The part of the processors' time that the host of a virtual machine gave to others (`steal`), as a fraction of the
    /// elapsed time of all processors. Absent if the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen: Option<f64>,
    /// The number of times that the process lost its core to another one (`getrusage`, involuntary context switches).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Time for which the threads that call MPI waited for a core, inside and outside of MPI calls. Absent if the
    /// system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_queue: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The smallest CPU time of a rank that is reported, in seconds: threads of libraries themselves take some.
const LEAST: f64 = 1e-3;
/// The smallest time that is reported, as a fraction of the counted computation.
const MATTERS: f64 = 0.01;

impl ProcessTime {
    /// CPU time of threads of the program that is not in the trace.
    pub fn uncounted_threads(&self) -> f64 {
        (self.other_threads - self.added).max(0.0)
    }

    /// A lower bound of the time for which the threads that call MPI waited outside of MPI for a device such as a GPU,
    /// a file or another thread, but not for a core; `None` if it is not known.
    pub fn idle(&self) -> Option<f64> {
        // Some of the time in the run queue may be inside of calls.
        Some((self.waiting? - self.run_queue?).max(0.0))
    }

    /// CPU time that the trace has as computation, if known.
    pub(crate) fn counted(&self) -> f64 {
        self.computation.unwrap_or(self.calling_threads)
    }

    /// Whether this much additional CPU time, or waiting time, would change the prediction of a replay: at least 1 % of
    /// the counted computation, and a millisecond.
    pub(crate) fn matters(&self, seconds: f64) -> bool {
        seconds >= LEAST && seconds >= MATTERS * self.counted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_of_the_computation_matters_and_noise_does_not() {
        let time = ProcessTime { calling_threads: 9.0, computation: Some(2.0), ..ProcessTime::default() };
        assert!(time.matters(0.02) && !time.matters(0.019));
        let short = ProcessTime { computation: Some(1e-5), ..time };
        assert!(short.matters(1e-3) && !short.matters(9e-4));
        let unknown = ProcessTime { computation: None, ..time };
        assert!(unknown.matters(0.09) && !unknown.matters(0.08));
    }

    #[test]
    fn what_was_added_is_counted() {
        let time = ProcessTime { other_threads: 2.0, added: 1.5, ..ProcessTime::default() };
        assert_eq!(time.uncounted_threads(), 0.5);
        assert_eq!(ProcessTime { added: 2.1, ..time }.uncounted_threads(), 0.0);
    }
}

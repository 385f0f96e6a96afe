//! Long work that Ctrl-C ends.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use pyo3::prelude::*;
use titr_replayer::cli::Failure;
use titr_simulation::StopRequest;

use crate::error::exception;

/// The time between two looks at the signals of the process.
const PATIENCE: Duration = Duration::from_millis(50);

/// Does a short part of some work while other threads of Python run, and raises what a signal handler of Python has raised.
pub(crate) fn step<T: Send, E: Into<Failure> + Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    let done = py.detach(work).map_err(|failure| exception(py, failure))?;
    py.check_signals()?;
    Ok(done)
}

/// Does `work` on another thread, while other threads of Python run. If a signal handler of Python raises an exception, makes the
/// request to `stop` and raises it.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    stop: &StopRequest,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let outcome = thread::scope(|scope| {
        let (working, mut has_ended) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            // Hangs up when the work has ended, in whatever way.
            let _working = working;
            work()
        });
        let join = |worker: ScopedJoinHandle<'_, _>| worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        loop {
            let has_ended = &mut has_ended;
            if py.detach(move || has_ended.recv_timeout(PATIENCE)) != Err(RecvTimeoutError::Timeout) {
                return Ok(py.detach(|| join(worker)));
            }
            if let Err(interrupt) = py.check_signals() {
                stop.make();
                let _ = py.detach(|| join(worker));
                return Err(interrupt);
            }
        }
    })?;
    outcome.map_err(|failure| exception(py, failure))
}

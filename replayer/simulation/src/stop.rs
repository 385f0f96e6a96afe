//! Requests of another thread that replays end early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request that replays end early with an error. Clones are the same request.
#[derive(Clone, Debug, Default)]
pub struct StopRequest(Arc<AtomicBool>);

impl StopRequest {
    /// Makes the request.
    pub fn make(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the request is made.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

//! The place of a process's recorder, for one thread at a time.
//!
//! Every call comes by here, and nearly always there is nobody to wait for: programs call MPI from one thread, and the
//! recorder is held for some tens of nanoseconds. A `Mutex` takes two atomic read-modify-writes for that, which are a
//! tenth of what a hook costs; this lock takes one, and who waits does so without being woken. A panic leaves the
//! recorder as it is, usable for ending the trace and no more.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::Recorder;

/// How often to look again at once, and how long to sleep from then on: whoever holds a recorder for long waits for the
/// flush thread.
const LOOKS: u32 = 200;
const NAP: Duration = Duration::from_micros(50);

/// The recorder of a process, while it records.
pub struct Slot {
    held: AtomicBool,
    recorder: UnsafeCell<Option<Recorder>>,
}

// SAFETY: `recorder` is touched only through a `Held`, of which there is one at a time, and a `Recorder` is `Send`.
unsafe impl Sync for Slot {}

/// Access to the recorder, until dropped.
pub(super) struct Held<'s>(&'s Slot);

impl Slot {
    /// No recorder.
    #[must_use]
    pub const fn empty() -> Self {
        Self { held: AtomicBool::new(false), recorder: UnsafeCell::new(None) }
    }

    /// Waits until nobody else holds it.
    #[inline]
    pub(super) fn hold(&self) -> Held<'_> {
        self.try_hold().unwrap_or_else(|| self.wait())
    }

    /// None if somebody holds it.
    #[inline]
    pub(super) fn try_hold(&self) -> Option<Held<'_>> {
        (!self.held.swap(true, Ordering::Acquire)).then_some(Held(self))
    }

    #[cold]
    fn wait(&self) -> Held<'_> {
        let mut looks = 0;
        loop {
            if !self.held.load(Ordering::Relaxed)
                && let Some(held) = self.try_hold()
            {
                return held;
            }
            if looks == LOOKS {
                thread::sleep(NAP);
            } else {
                looks += 1;
                thread::yield_now();
            }
        }
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::Release);
    }
}

impl Deref for Held<'_> {
    type Target = Option<Recorder>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        // SAFETY: there is one `Held` at a time, and it is borrowed.
        unsafe { &*self.0.recorder.get() }
    }
}

impl DerefMut for Held<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        // SAFETY: there is one `Held` at a time, and it is borrowed for this alone.
        unsafe { &mut *self.0.recorder.get() }
    }
}

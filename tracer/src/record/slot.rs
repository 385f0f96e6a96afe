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

/// How often to look again at once, and how long to sleep from then on: whoever holds a recorder for long waits for the
/// flush thread.
const LOOKS: u32 = 200;
const NAP: Duration = Duration::from_micros(50);

/// The recorder `R` of a process, while it records.
pub struct Slot<R> {
    held: AtomicBool,
    recorder: UnsafeCell<Option<R>>,
}

// SAFETY: `recorder` is touched only through a `Held`, of which there is one at a time, and may be sent to its thread.
unsafe impl<R: Send> Sync for Slot<R> {}

/// Access to the recorder, until dropped.
pub(super) struct Held<'s, R>(&'s Slot<R>);

impl<R> Slot<R> {
    /// No recorder.
    #[must_use]
    pub const fn empty() -> Self {
        Self { held: AtomicBool::new(false), recorder: UnsafeCell::new(None) }
    }

    /// Waits until nobody else holds it.
    #[inline]
    pub(super) fn hold(&self) -> Held<'_, R> {
        self.try_hold().unwrap_or_else(|| self.wait())
    }

    /// None if somebody holds it.
    #[inline]
    pub(super) fn try_hold(&self) -> Option<Held<'_, R>> {
        // Not `then_some`: a `Held` that is made and not given out would release what another thread holds.
        (!self.held.swap(true, Ordering::Acquire)).then(|| Held(self))
    }

    #[cold]
    fn wait(&self) -> Held<'_, R> {
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

impl<R> Drop for Held<'_, R> {
    #[inline]
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::Release);
    }
}

impl<R> Deref for Held<'_, R> {
    type Target = Option<R>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        // SAFETY: there is one `Held` at a time, and it is borrowed.
        unsafe { &*self.0.recorder.get() }
    }
}

impl<R> DerefMut for Held<'_, R> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        // SAFETY: there is one `Held` at a time, and it is borrowed for this alone.
        unsafe { &mut *self.0.recorder.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time() {
        const THREADS: u64 = 4;
        const ROUNDS: u64 = 20_000;
        let slot = Slot::empty();
        *slot.hold() = Some(0_u64);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let mut held = slot.hold();
                        let seen = held.take();
                        thread::yield_now();
                        *held = seen.map(|count| count + 1);
                    }
                });
            }
        });
        assert_eq!(*slot.hold(), Some(THREADS * ROUNDS));
    }

    #[test]
    fn who_does_not_get_it_takes_it_from_nobody() {
        let slot = Slot::<u64>::empty();
        let held = slot.try_hold();
        assert!(held.is_some());
        for _ in 0..3 {
            assert!(slot.try_hold().is_none(), "it is still held");
        }
        drop(held);
        assert!(slot.try_hold().is_some());
    }
}

//! The place of a recorder, for one thread at a time.
//!
//! Every call comes by here, and nearly always there is nobody to wait for: programs call MPI from one thread, and the
//! recorder is held for some tens of nanoseconds. A `Mutex` takes two atomic read-modify-writes for that, which are a
//! tenth of what a hook costs; a spin lock takes one, and who waits does so without being woken. A panic leaves the
//! recorder as it is, usable for ending the trace and no more.
//!
//! Who waits only reads until the lock is free: to try for it would take its cache line away from who holds it (test and
//! test-and-set: Rudolph and Segall, ISCA 1984).

use std::thread;
use std::time::Duration;

use spin::mutex::{SpinMutex, SpinMutexGuard};

/// How often to look again at once: as long as some calls are recorded.
const AT_ONCE: u32 = 100;
/// How often to let others run first, and how long to sleep from then on: whoever holds a recorder for long waits for the
/// flush thread.
const LOOKS: u32 = AT_ONCE + 100;
const NAP: Duration = Duration::from_micros(50);

/// The recorder `R` of a process, while it records.
pub struct Slot<R>(SpinMutex<Option<R>>);

impl<R> Slot<R> {
    /// No recorder.
    #[must_use]
    pub const fn empty() -> Self {
        Self(SpinMutex::new(None))
    }

    /// Waits until nobody else holds it.
    #[inline]
    pub(super) fn hold(&self) -> SpinMutexGuard<'_, Option<R>> {
        self.try_hold().unwrap_or_else(|| self.wait())
    }

    /// None if somebody holds it.
    #[inline]
    pub(super) fn try_hold(&self) -> Option<SpinMutexGuard<'_, Option<R>>> {
        self.0.try_lock()
    }

    #[cold]
    fn wait(&self) -> SpinMutexGuard<'_, Option<R>> {
        let mut looks = 0;
        loop {
            match looks {
                0..AT_ONCE => std::hint::spin_loop(),
                AT_ONCE..LOOKS => thread::yield_now(),
                _ => thread::sleep(NAP),
            }
            if !self.0.is_locked()
                && let Some(held) = self.try_hold()
            {
                return held;
            }
            looks = looks.saturating_add(1);
        }
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

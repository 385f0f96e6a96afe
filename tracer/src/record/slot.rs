//! The place of a recorder, for one thread at a time.
//!
//! Every call comes by here, and nearly always there is nobody to wait for: programs call MPI from one thread, and the
//! recorder is held for some tens of nanoseconds. A `Mutex` takes two atomic read-modify-writes for that, which are a
//! tenth of what a hook costs; a spin lock takes one, and who waits does so without being woken. A panic leaves the
//! recorder as it is, usable for ending the trace and no more.
//!
//! Who waits only reads until the lock is free: to try for it would take its cache line away from who holds it (test and
//! test-and-set: Rudolph and Segall, ISCA 1984).

use std::sync::atomic::{AtomicBool, Ordering};
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
pub struct Slot<R> {
    recorder: SpinMutex<Option<R>>,
    pub(super) notice: Notice,
}

/// Whether threads note their calls, and have noted something. Read at every call and seldom written, so on cache lines of its
/// own.
#[repr(align(128))]
pub(super) struct Notice {
    /// Threads get in each other's way.
    pub(super) wanted: AtomicBool,
    /// They are not to note calls though.
    refused: AtomicBool,
    /// Something is in a lane.
    pub(super) noted: AtomicBool,
}

impl Notice {
    const fn none() -> Self {
        Self { wanted: AtomicBool::new(false), refused: AtomicBool::new(false), noted: AtomicBool::new(false) }
    }

    /// Whether calls are noted, where they can be.
    #[inline]
    pub(super) fn is_taken(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) && !self.refused.load(Ordering::Relaxed)
    }

    /// From now on every call is recorded at once.
    #[cold]
    pub(super) fn refuse(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }

    /// A thread has noted something, and holds its lane: who has taken `noted` back and not yet come to this lane finds it
    /// there.
    #[inline]
    pub(super) fn has_noted(&self) {
        if !self.noted.load(Ordering::Relaxed) {
            self.noted.store(true, Ordering::Relaxed);
        }
    }
}

impl<R> Slot<R> {
    /// No recorder.
    #[must_use]
    pub const fn empty() -> Self {
        Self { recorder: SpinMutex::new(None), notice: Notice::none() }
    }

    /// Waits until nobody else holds it.
    #[inline]
    pub(super) fn hold(&self) -> SpinMutexGuard<'_, Option<R>> {
        self.try_hold().unwrap_or_else(|| self.wait())
    }

    /// None if somebody holds it.
    #[inline]
    pub(super) fn try_hold(&self) -> Option<SpinMutexGuard<'_, Option<R>>> {
        self.recorder.try_lock()
    }

    /// None if somebody holds it for long.
    pub(super) fn hold_soon(&self) -> Option<SpinMutexGuard<'_, Option<R>>> {
        (0..LOOKS).find_map(|look| {
            if look >= AT_ONCE {
                thread::yield_now();
            }
            self.try_hold()
        })
    }

    #[cold]
    fn wait(&self) -> SpinMutexGuard<'_, Option<R>> {
        self.notice.wanted.store(true, Ordering::Relaxed);
        let mut looks = 0;
        loop {
            match looks {
                0..AT_ONCE => std::hint::spin_loop(),
                AT_ONCE..LOOKS => thread::yield_now(),
                _ => thread::sleep(NAP),
            }
            if !self.recorder.is_locked()
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

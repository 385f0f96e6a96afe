//! The lock of a recorder, for one thread at a time.
//!
//! Every call takes it, and nearly always without contention: programs call MPI from one thread, and the recorder is
//! held for some tens of nanoseconds. A `Mutex` takes two atomic read-modify-writes for that, a tenth of the cost of a
//! hook. A spin lock takes one, and a waiting thread continues without being woken. A panic leaves the recorder in its
//! state, usable only for ending the trace.
//!
//! A waiting thread only reads until the lock is free: trying to take it would remove its cache line from the holder
//! (test and test-and-set: Rudolph and Segall, ISCA 1984).

use std::thread;
use std::time::Duration;

use spin::mutex::{SpinMutex, SpinMutexGuard};

use crate::nap::nap;

/// The number of times to look again at once: as long as some calls are recorded.
const AT_ONCE: u32 = 100;
/// The number of attempts before sleeping, the last of them after yielding: a thread that holds a recorder for long
/// waits for the flush thread.
const LOOKS: u32 = AT_ONCE + 100;
const NAP: Duration = Duration::from_micros(50);

/// A lock around a `T`, which may be absent.
pub(super) struct RecorderLock<T>(SpinMutex<Option<T>>);

impl<T> RecorderLock<T> {
    /// A lock around nothing.
    pub(super) const fn empty() -> Self {
        Self(SpinMutex::new(None))
    }

    /// `None` if a thread holds the lock.
    #[inline]
    pub(super) fn try_lock(&self) -> Option<SpinMutexGuard<'_, Option<T>>> {
        self.0.try_lock()
    }

    /// `None` if a thread holds the lock for long.
    pub(super) fn lock_soon(&self) -> Option<SpinMutexGuard<'_, Option<T>>> {
        (0..LOOKS).find_map(|look| {
            if look >= AT_ONCE {
                thread::yield_now();
            }
            self.try_lock()
        })
    }

    /// Waits until no thread holds the lock.
    #[cold]
    pub(super) fn wait(&self) -> SpinMutexGuard<'_, Option<T>> {
        let mut looks = 0;
        loop {
            match looks {
                0..AT_ONCE => std::hint::spin_loop(),
                AT_ONCE..LOOKS => thread::yield_now(),
                _ => nap(NAP),
            }
            if !self.0.is_locked()
                && let Some(locked) = self.try_lock()
            {
                return locked;
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
        let lock = RecorderLock::empty();
        *lock.wait() = Some(0_u64);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let mut locked = lock.wait();
                        let seen = locked.take();
                        thread::yield_now();
                        *locked = seen.map(|count| count + 1);
                    }
                });
            }
        });
        assert_eq!(*lock.wait(), Some(THREADS * ROUNDS));
    }

    #[test]
    fn a_thread_that_does_not_get_it_takes_it_from_nobody() {
        let lock = RecorderLock::<u64>::empty();
        let locked = lock.try_lock();
        assert!(locked.is_some());
        for _ in 0..3 {
            assert!(lock.try_lock().is_none(), "it is still locked");
        }
        drop(locked);
        assert!(lock.try_lock().is_some());
    }
}

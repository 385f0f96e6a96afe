//! One recorder for all threads of a process.
//!
//! The recorder serves one thread at a time: a hook reaches it through [`SharedRecorder::with`], which locks it
//! ([`lock`]) and brings it up to date. If two threads call MPI at once, the recorder's memory moves from core to core
//! with every call, which takes several times as long as recording the call. While threads contend, each therefore
//! publishes its messages and waits in its own queue ([`queue`]), and from time to time one of them records everything
//! published ([`deferred`]; flat combining: Hendler, Incze, Shavit and Tzafrir, SPAA 2010).
//!
//! Without contention, publishing a call takes longer than recording it at once. Publishing therefore begins when a
//! thread finds another one recording, and ends when only one thread has published anything for a while.
//!
//! Programs that call MPI from one thread need only `with` from this folder: a recorder in a mutex, and a
//! [`SharedRecorder::defer`] that always returns false, would suffice.

mod deferred;
mod queue;
mod thread;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use deferred::{DeferredCall, Publisher};
use queue::{Drained, PublicationQueues, Until};
use spin::mutex::{SpinMutex, SpinMutexGuard};
use titr_wrappers::Function;

use crate::record::Recorder;
use crate::stderr::nap;

pub(crate) use thread::Thread;

/// The number of drains in a row with the calls of one thread alone, after which calls are recorded at once again.
const SOLITARY: u32 = 16;

/// The recorder of a process, while it records.
pub(crate) struct SharedRecorder {
    lock: SpinMutex<Option<Guarded>>,
    contention: ContentionFlags,
}

/// The state that the lock protects. On separate cache lines, since processors fetch two at a time: waiting threads
/// read the line of the lock.
#[repr(align(128))]
struct Guarded {
    recorder: Recorder,
    queues: PublicationQueues<DeferredCall, Publisher>,
    /// The number of drains in a row that found calls of one thread alone.
    solitary: u32,
}

/// Whether threads publish their calls, and have published any. Read at every call and rarely written, so on separate
/// cache lines.
#[repr(align(128))]
struct ContentionFlags {
    /// Threads get in each other's way.
    contended: AtomicBool,
    /// All calls have to be recorded at once nevertheless.
    disabled: AtomicBool,
    /// A queue has calls in it.
    pending: AtomicBool,
    /// The recorder is held by a thread that is not the program's.
    observed: AtomicBool,
}

impl SharedRecorder {
    /// A place without a recorder.
    pub(crate) const fn empty() -> Self {
        let contention = ContentionFlags {
            contended: AtomicBool::new(false),
            disabled: AtomicBool::new(false),
            pending: AtomicBool::new(false),
            observed: AtomicBool::new(false),
        };
        Self { lock: SpinMutex::new(None), contention }
    }

    /// Begins to record.
    pub(crate) fn fill(&self, recorder: Recorder) {
        let state = Guarded { recorder, queues: PublicationQueues::default(), solitary: 0 };
        *self.lock() = Some(state);
    }

    /// Calls `body` with the recorder on behalf of a thread, after recording everything that threads did before and
    /// adding the thread's computation. `None` if nothing is recorded any more.
    #[inline]
    pub(crate) fn with<R>(&self, thread: &mut Thread, body: impl FnOnce(&mut Recorder, &mut Thread) -> R) -> Option<R> {
        let mut state = self.lock_and_drain();
        let recorder = &mut state.as_mut()?.recorder;
        thread.switch_to(recorder);
        Some(body(recorder, thread))
    }

    /// Calls `body` with the recorder, after recording everything that threads have published; `None` if a thread uses
    /// the recorder. For a thread that does not belong to the program, and does not count as contention.
    pub(crate) fn try_with<R>(&self, until_end: bool, body: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
        self.contention.observed.store(true, Ordering::Relaxed);
        let result = self.lock.try_lock().and_then(|mut state| {
            let state = state.as_mut()?;
            if until_end {
                let Guarded { recorder, queues, .. } = state;
                queues.drain(Until::End, |publisher, call| call.record(recorder, publisher));
            } else {
                self.drain_if_pending(state);
            }
            Some(body(&mut state.recorder))
        });
        self.contention.observed.store(false, Ordering::Relaxed);
        result
    }

    /// Gives a thread its number at its first call: before the call is made, which another thread's first call may outlast.
    #[inline]
    pub(crate) fn admit(&self, thread: &mut Thread) {
        if thread.number().is_none() {
            self.with(thread, |_, _| ());
            thread.is_admitted();
        }
    }

    /// A call of a thread will not return, as the program has left it.
    #[cold]
    pub(crate) fn abandon(&self, thread: &mut Thread, function: &'static Function) {
        let mut state = self.lock_and_drain();
        let Some(Guarded { recorder, queues, .. }) = &mut *state else { return };
        thread.switch_to(recorder);
        recorder.release_requests(&mut thread.requests);
        if !thread.is_nested {
            let own = queues.threads().filter(|publisher| Some(publisher.thread()) == thread.number());
            own.for_each(|publisher| publisher.leave_wait(recorder));
        }
        recorder.abandon(function);
    }

    /// Stops recording, and returns the recorder to be ended by `thread`. `None` if nothing was recorded, or if another
    /// thread holds it and may never release it, as in a signal handler.
    pub(crate) fn take(&self, thread: Option<&mut Thread>) -> Option<Recorder> {
        let Guarded { mut recorder, mut queues, .. } = lock_soon(&self.lock)?.take()?;
        queues.drain(Until::End, |publisher, call| call.record(&mut recorder, publisher));
        if let Some(thread) = thread {
            thread.switch_to(&mut recorder);
        }
        Some(recorder)
    }

    /// A thread ends, and its number is free for another one. The main thread does so in `exit`, before the trace is ended.
    pub(crate) fn leave(&self, thread: &mut Thread) {
        // If a thread holds the recorder and may never release it, as in a signal handler, the number is lost.
        if let (Some(number), Some(mut state)) = (thread.number(), lock_soon(&self.lock))
            && let Some(state) = &mut *state
        {
            self.drain_if_pending(state);
            thread.switch_to(&mut state.recorder);
            state.recorder.stream().thread_ended();
            state.queues.close(|publisher| publisher.thread() == number);
        }
    }

    /// Records every call at once from now on.
    #[cold]
    pub(crate) fn disable_deferral(&self) {
        self.contention.disabled.store(true, Ordering::Relaxed);
    }

    /// Whether threads contend, so that their calls may be recorded later.
    #[inline]
    fn defers(&self) -> bool {
        self.contention.contended.load(Ordering::Relaxed) && !self.contention.disabled.load(Ordering::Relaxed)
    }

    /// Waits until no other thread holds the recorder.
    #[inline]
    fn lock(&self) -> SpinMutexGuard<'_, Option<Guarded>> {
        self.lock.try_lock().unwrap_or_else(|| {
            if !self.contention.observed.load(Ordering::Relaxed) {
                self.contention.contended.store(true, Ordering::Relaxed);
            }
            wait(&self.lock)
        })
    }

    /// Waits until no other thread holds the recorder, and records the published calls.
    #[inline]
    fn lock_and_drain(&self) -> SpinMutexGuard<'_, Option<Guarded>> {
        let mut state = self.lock();
        if let Some(state) = &mut *state {
            self.drain_if_pending(state);
        }
        state
    }

    #[inline]
    fn drain_if_pending(&self, state: &mut Guarded) {
        if self.contention.pending.load(Ordering::Relaxed) {
            self.drain(state);
        }
    }

    #[cold]
    fn drain(&self, Guarded { recorder, queues, solitary }: &mut Guarded) {
        self.contention.pending.store(false, Ordering::Relaxed);
        let until = Until::Moment(Instant::now());
        let Drained { threads, is_all } = queues.drain(until, |publisher, call| call.record(recorder, publisher));
        if !is_all {
            self.contention.pending.store(true, Ordering::Relaxed);
        }
        *solitary = if threads > 1 { 0 } else { *solitary + 1 };
        if *solitary > SOLITARY {
            // Until threads meet again.
            *solitary = 0;
            self.contention.contended.store(false, Ordering::Relaxed);
        }
    }

    /// Marks a queue as having calls. The caller holds that queue: a thread that has reset `pending` and not yet
    /// reached the queue finds them there.
    #[inline]
    fn set_pending(&self) {
        if !self.contention.pending.load(Ordering::Relaxed) {
            self.contention.pending.store(true, Ordering::Relaxed);
        }
    }
}

/// The number of times to look again at once: as long as some calls are recorded.
const AT_ONCE: u32 = 100;
/// The number of attempts before sleeping, the last of them after yielding: a thread that holds a recorder for long
/// waits for the flush thread.
const LOOKS: u32 = AT_ONCE + 100;
const NAP: Duration = Duration::from_micros(50);

/// Locks if no thread holds the lock for long.
fn lock_soon<T>(lock: &SpinMutex<T>) -> Option<SpinMutexGuard<'_, T>> {
    (0..LOOKS).find_map(|look| {
        if look >= AT_ONCE {
            std::thread::yield_now();
        }
        lock.try_lock()
    })
}

/// Locks once no thread holds the lock.
#[cold]
fn wait<T>(lock: &SpinMutex<T>) -> SpinMutexGuard<'_, T> {
    let mut looks = 0;
    loop {
        match looks {
            0..AT_ONCE => std::hint::spin_loop(),
            AT_ONCE..LOOKS => std::thread::yield_now(),
            _ => nap(NAP),
        }
        if !lock.is_locked()
            && let Some(locked) = lock.try_lock()
        {
            return locked;
        }
        looks = looks.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time() {
        const THREADS: u64 = 4;
        const ROUNDS: u64 = 20_000;
        let lock = SpinMutex::new(Some(0_u64));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let mut locked = wait(&lock);
                        let seen = locked.take();
                        std::thread::yield_now();
                        *locked = seen.map(|count| count + 1);
                    }
                });
            }
        });
        assert_eq!(*wait(&lock), Some(THREADS * ROUNDS));
    }

    #[test]
    fn a_thread_that_does_not_get_it_takes_it_from_nobody() {
        let lock = SpinMutex::<_>::new(0_u64);
        let locked = lock.try_lock();
        assert!(locked.is_some());
        for _ in 0..3 {
            assert!(lock.try_lock().is_none(), "it is still locked");
        }
        drop(locked);
        assert!(lock.try_lock().is_some());
    }
}

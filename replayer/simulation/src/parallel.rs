//! Runs independent tasks on several threads, with the same outcome as running them one after another.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The number of tasks that run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jobs(pub NonZeroUsize);

impl Jobs {
    /// One task after another.
    pub const ONE: Self = Self(NonZeroUsize::MIN);

    /// One task for each processor that the process may use.
    #[must_use]
    pub fn of_processors() -> Self {
        Self(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    /// Whether several tasks run at the same time.
    #[must_use]
    pub fn are_several(self) -> bool {
        self != Self::ONE
    }

    /// The results of `work` on each number below `count`, in order.
    ///
    /// # Errors
    /// The error of the lowest number that has one.
    pub fn map<T: Send, E: Send>(self, count: usize, work: impl Fn(usize) -> Result<T, E> + Sync) -> Result<Vec<T>, E> {
        self.map_with_main(|| Ok(()), count, work).map(|((), results)| results)
    }

    /// Runs `first` on the calling thread and `work` on each number below `count`; returns the results of `work` in
    /// order.
    pub(crate) fn map_with_main<A, T: Send, E: Send>(
        self,
        first: impl FnOnce() -> Result<A, E>,
        count: usize,
        work: impl Fn(usize) -> Result<T, E> + Sync,
    ) -> Result<(A, Vec<T>), E> {
        let mut results = Vec::with_capacity(count);
        let take = |result| {
            results.push(result);
            Ok(())
        };
        let first = self.in_order(first, count, work, take)?;
        Ok((first, results))
    }

    /// Runs `first` on the calling thread and `work` on each number below `count`. The calling thread passes each
    /// result to `take`, in order and as early as possible. With one job, everything runs sequentially.
    pub(crate) fn in_order<A, T: Send, E: Send>(
        self,
        first: impl FnOnce() -> Result<A, E>,
        count: usize,
        work: impl Fn(usize) -> Result<T, E> + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<A, E> {
        let pieces = Pieces { count, next: AtomicUsize::new(0), done: Mutex::default(), work };
        let mut taken = 0;
        thread::scope(|scope| {
            for _ in 1..self.0.get().min(count + 1) {
                // With fewer threads than wanted it only takes longer.
                let _ = thread::Builder::new().spawn_scoped(scope, || while pieces.do_next() {});
            }
            let result = first().and_then(|first| {
                loop {
                    pieces.take_done(&mut taken, &mut take)?;
                    if !pieces.do_next() {
                        return Ok(first);
                    }
                }
            });
            if result.is_err() {
                pieces.stop();
            }
            result
        })
        .and_then(|first| pieces.take_done(&mut taken, &mut take).map(|()| first))
    }
}

/// The tasks by number, and the results that were not yet taken.
struct Pieces<T, E, F> {
    count: usize,
    /// The next task that no thread has started.
    next: AtomicUsize,
    done: Mutex<BTreeMap<usize, Result<T, E>>>,
    work: F,
}

impl<T, E, F: Fn(usize) -> Result<T, E>> Pieces<T, E, F> {
    /// Runs a task that no thread has started; false if there is none.
    fn do_next(&self) -> bool {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if number >= self.count {
            self.stop();
            return false;
        }
        let result = (self.work)(number);
        if result.is_err() {
            self.stop();
        }
        self.done.lock().unwrap_or_else(PoisonError::into_inner).insert(number, result);
        true
    }

    /// Prevents further tasks from starting.
    fn stop(&self) {
        self.next.store(self.count, Ordering::Relaxed);
    }

    /// Takes the results that are next in order.
    fn take_done(&self, taken: &mut usize, take: &mut impl FnMut(T) -> Result<(), E>) -> Result<(), E> {
        loop {
            let next = self.done.lock().unwrap_or_else(PoisonError::into_inner).remove(taken);
            let Some(result) = next else { return Ok(()) };
            *taken += 1;
            take(result?)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(number: usize) -> Jobs {
        Jobs(NonZeroUsize::new(number).unwrap())
    }

    /// Takes longer for low numbers, so that others overtake it.
    fn slowly(number: usize) -> usize {
        thread::sleep(std::time::Duration::from_millis(4 * (5 - number as u64 % 5)));
        number
    }

    #[test]
    fn results_are_in_order_with_any_number_of_jobs() {
        for number in [1, 2, 5, 100] {
            let squares = jobs(number).map(23, |piece| Ok::<_, ()>(slowly(piece).pow(2)));
            assert_eq!(squares, Ok((0..23_usize).map(|piece| piece.pow(2)).collect()), "{number} jobs");
            let mut taken = Vec::new();
            let take = |piece| {
                taken.push(piece);
                Ok(())
            };
            assert_eq!(jobs(number).in_order(|| Ok::<_, ()>('a'), 7, |piece| Ok(slowly(piece)), take), Ok('a'));
            assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6], "{number} jobs");
        }
        assert_eq!(jobs(3).map(0, |_| Err::<(), _>("nothing is to be done")), Ok(Vec::new()));
    }

    #[test]
    fn the_error_is_that_of_the_sequence() {
        for number in [1, 2, 5] {
            let failing = |piece| if piece % 4 == 2 { Err(piece) } else { Ok(slowly(piece)) };
            assert_eq!(jobs(number).map(20, failing), Err(2), "{number} jobs");
            let mut taken = Vec::new();
            let take = |piece| {
                taken.push(piece);
                Ok(())
            };
            assert_eq!(jobs(number).in_order(|| Ok(()), 20, failing, take), Err(2));
            assert_eq!(taken, [0, 1], "results before the error are taken");
            assert_eq!(jobs(number).in_order(|| Err::<(), _>(99), 20, failing, |_| Ok(())), Err(99));
            assert_eq!(jobs(number).in_order(|| Ok(()), 20, |piece| Ok(slowly(piece)), Err), Err(0));
        }
    }

    #[test]
    fn nothing_is_begun_after_an_error() {
        for number in [1, 3] {
            let begun = AtomicUsize::new(0);
            let work = |piece| {
                begun.fetch_add(1, Ordering::Relaxed);
                thread::sleep(std::time::Duration::from_millis(1));
                if piece == 0 { Err(()) } else { Ok(()) }
            };
            assert_eq!(jobs(number).map(1000, work), Err(()));
            assert!(begun.into_inner() < 500, "{number} jobs");
        }
    }
}

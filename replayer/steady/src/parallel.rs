//! Work on each of many ranks, by as many threads as there are cores.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use titr_common::event::Rank;

/// The result of `work` on each rank, in the order of ranks, or the error of the first rank that has one.
pub(crate) fn of_each_rank<T: Send, E: Send>(
    ranks: u32,
    work: impl Fn(Rank) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicU32::new(0);
    let done = Mutex::new(Vec::new());
    let worker = || {
        loop {
            let rank = next.fetch_add(1, Ordering::Relaxed);
            if rank >= ranks {
                return;
            }
            let result = work(Rank(rank));
            done.lock().unwrap_or_else(PoisonError::into_inner).push((rank, result));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(worker);
        });
        worker();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|&(rank, _)| rank);
    done.into_iter().map(|(_, result)| result).collect()
}

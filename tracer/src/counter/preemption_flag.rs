//! Detects, with one load from memory, whether this thread has been off its core.
//!
//! A restartable sequence (rseq(2), Linux 4.18) is a piece of code that the kernel restarts if it was preempted in it.
//! A thread declares its current sequence by a pointer in memory that it shares with the kernel. When the kernel has
//! preempted or migrated the thread and finds its instruction pointer *outside* of that sequence, it clears the
//! pointer, and does nothing else. The pointer can therefore be used as a preemption flag: it is set to a sequence that
//! no thread ever executes, and as long as it stays set, the thread has stayed on its core.
//!
//! glibc 2.35 registers the memory for each thread and tells its place (`<sys/rseq.h>`). Others may use it as well: a
//! program that enters a sequence of its own overwrites the pointer, which looks like a preemption. That costs a clock
//! reading and is harmless. A forked child inherits a pointer that is valid in its copy of the memory, and the pointer
//! of a thread that ends disappears with it.
//!
//! Linux 6.19 checks the pointer only if an interrupt took the thread from its core, not if the thread slept in a
//! system call. The preemption flag is not sufficient there; [`PreemptionFlag::works`] finds out by trying.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The word that has to precede an abort handler, or the kernel ends the process (glibc's `RSEQ_SIG`, x86).
const SIGNATURE: u32 = 0x5305_3053;
/// The offsets of `cpu_id` and `rseq_cs` in `struct rseq` of `<linux/rseq.h>`.
const CPU_ID: isize = 4;
const RSEQ_CS: isize = 8;

/// `struct rseq_cs` of `<linux/rseq.h>`: a sequence.
#[repr(C, align(32))]
struct Sequence {
    version: u32,
    flags: u32,
    start: *const u8,
    length: u64,
    abort: *const u8,
}

// SAFETY: nothing ever writes to it, or to its target.
unsafe impl Sync for Sequence {}

/// A byte of "code" that is data, so no thread is ever in it, and the handler that is never run.
static NOWHERE: [u32; 2] = [SIGNATURE, 0];
static SEQUENCE: Sequence = Sequence {
    version: 0,
    flags: 0,
    start: (&raw const NOWHERE).cast(),
    length: 1,
    // SAFETY: within `NOWHERE`, just behind the signature.
    abort: unsafe { (&raw const NOWHERE).cast::<u8>().add(4) },
};

/// The pointer of one thread. It cannot be sent to another.
pub(super) struct PreemptionFlag {
    pointer: *const AtomicU64,
    of_this_thread: PhantomData<*const ()>,
}

impl PreemptionFlag {
    /// The one of the calling thread, if the kernel has been told of it.
    pub(super) fn of_this_thread() -> Option<Self> {
        let area = area()?;
        // SAFETY: glibc says that a `struct rseq` is there; the kernel sets its `cpu_id` once it is registered.
        let cpu = unsafe { area.offset(CPU_ID).cast::<i32>().read_volatile() };
        if cpu < 0 {
            return None;
        }
        // SAFETY: within the same structure.
        let pointer = unsafe { area.offset(RSEQ_CS) }.cast();
        Some(Self { pointer, of_this_thread: PhantomData })
    }

    /// Starts watching.
    pub(super) fn set(&self) {
        self.cell().store(Self::watching(), Ordering::Relaxed);
    }

    /// Whether the thread has stayed on its core since [`set`](Self::set).
    pub(super) fn holds(&self) -> bool {
        self.cell().load(Ordering::Relaxed) == Self::watching()
    }

    /// Whether this kernel clears the pointer when a thread has slept, and only then. Takes a millisecond of sleep.
    pub(super) fn works(&self) -> bool {
        self.set();
        std::thread::sleep(Duration::from_millis(1));
        let told = !self.holds();
        // If all ten attempts fail, preemption is not the reason.
        let holds = (0..10).any(|_| {
            self.set();
            self.holds()
        });
        told && holds
    }

    fn watching() -> u64 {
        (&raw const SEQUENCE).addr() as u64
    }

    fn cell(&self) -> &AtomicU64 {
        // SAFETY: valid and aligned for as long as the thread lives, which is longer than `self`, as `self` cannot leave
        // it. The kernel writes to it only while the thread is not running.
        unsafe { &*self.pointer }
    }
}

/// The place of the `struct rseq` that the calling thread shares with the kernel, at an offset from the thread pointer.
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
fn area() -> Option<*const u8> {
    // SAFETY: both names end with a zero; glibc declares the variables as `ptrdiff_t` and `unsigned int`, constant.
    let (offset, size) = unsafe {
        let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast::<isize>();
        let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()).cast::<u32>();
        if offset.is_null() || size.is_null() {
            return None;
        }
        (*offset, *size)
    };
    if size == 0 {
        return None;
    }
    let thread: *const u8;
    // SAFETY: the x86-64 ABI has the thread pointer at offset 0 of the segment.
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) thread, options(nostack, preserves_flags, readonly, pure)) };
    Some(thread.wrapping_offset(offset))
}

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
fn area() -> Option<*const u8> {
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use titr_test_support::cannot_run;

    use super::*;

    #[test]
    fn each_thread_is_told_of_its_own_sleep() {
        let Some(mine) = PreemptionFlag::of_this_thread() else {
            return cannot_run("this thread has no restartable sequences");
        };
        if !mine.works() {
            return cannot_run("this kernel does not clear a restartable sequence when a thread sleeps");
        }
        let other = std::thread::spawn(|| PreemptionFlag::of_this_thread().is_some_and(|other| other.works()));
        assert!(other.join().unwrap());
    }

    /// The number of times that the calling thread left its core.
    fn switches() -> i64 {
        // SAFETY: the structure is a live local, and any bits are numbers.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
            usage.ru_nvcsw + usage.ru_nivcsw
        }
    }

    /// Three other threads compete for the core until the thread was off it a few times. Fails if the flag is not shared with
    /// the kernel, or if the kernel tells of sleep only.
    #[test]
    fn a_thread_is_told_that_it_was_preempted() {
        let Some(flag) = PreemptionFlag::of_this_thread() else {
            return cannot_run("this thread has no restartable sequences");
        };
        if !flag.works() {
            return cannot_run("this kernel does not clear a restartable sequence when a thread sleeps");
        }
        with_competitors(3, || {
            let flag = PreemptionFlag::of_this_thread().unwrap();
            let mut preempted = 0;
            while preempted < 10 {
                flag.set();
                let before = switches();
                (0..1000).for_each(|step| _ = std::hint::black_box(step));
                let after = switches();
                if after > before {
                    preempted += 1;
                    assert!(!flag.holds());
                }
            }
        });
    }

    fn pin(core: usize) {
        // SAFETY: the set is a live local; 0 is the calling thread.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
        }
    }

    /// Runs `test` on a thread of its own that shares a core with others.
    fn with_competitors(competitors: usize, test: impl FnOnce() + Send + 'static) {
        // SAFETY: takes nothing, returns a number.
        let core = unsafe { libc::sched_getcpu() } as usize;
        let stop = Arc::new(AtomicBool::new(false));
        let busy = |stop: Arc<AtomicBool>| {
            move || {
                pin(core);
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        };
        let competitors: Vec<_> = (0..competitors).map(|_| thread::spawn(busy(stop.clone()))).collect();
        let outcome = thread::spawn(move || {
            pin(core);
            test();
        })
        .join();
        stop.store(true, Ordering::Relaxed);
        competitors.into_iter().for_each(|thread| thread.join().unwrap());
        outcome.unwrap();
    }

    #[test]
    fn a_sequence_of_somebody_else_is_not_taken_for_ours() {
        let Some(flag) = PreemptionFlag::of_this_thread() else {
            return cannot_run("this thread has no restartable sequences");
        };
        static OTHERS: Sequence = Sequence { version: 0, flags: 0, ..SEQUENCE };
        flag.set();
        flag.cell().store((&raw const OTHERS).addr() as u64, Ordering::Relaxed);
        assert!(!flag.holds());
    }
}

//! The time of the process, by the system's clocks of processes and threads.
//!
//! A trace has the computation of threads that call MPI. The computation of other threads is a difference of totals:
//! the CPU time of the process, less that of each known thread. These clocks are not read while calls are recorded,
//! except for `TITRACE_THREADS=sum`, which reads them in every call.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rustc_hash::FxHashMap;
use spin::mutex::SpinMutex;
use titr_common::trace::process_time::ProcessTime;

use crate::clock::nanoseconds;

/// Nanoseconds that threads have neither computed nor been in an MPI call, as far as their counters have noticed.
static WAITED: AtomicU64 = AtomicU64::new(0);

/// A thread, by its number in the system.
type ThreadNumber = libc::pid_t;

/// The process before it calls `MPI_Init`.
pub(crate) struct BeforeInit {
    cpu: u64,
    threads: Vec<ThreadNumber>,
}

/// The process when `MPI_Init` has returned.
pub(crate) struct AfterInit {
    cpu_before: u64,
    /// The threads that `MPI_Init` has started.
    library: Vec<ThreadNumber>,
    threads: Vec<ThreadNumber>,
}

/// The clocks of the process, from when its trace began.
pub(crate) struct ProcessClock {
    begun: Instant,
    cpu_before: u64,
    /// The CPU time of the process and of its children when the trace began.
    cpu: u64,
    children: u64,
    waited: u64,
    ticks: Option<Ticks>,
    involuntary_switches: u64,
    /// Threads that do not belong to the program, with their CPU time when the trace began.
    library: FxHashMap<ThreadNumber, u64>,
    /// Those of the tracer, and of the emulator that executes the program.
    tracer: FxHashMap<ThreadNumber, u64>,
    callers: SpinMutex<Callers>,
    /// CPU time of other threads that was added to the computation of threads that call MPI.
    added: AtomicU64,
    counter: CounterFacts,
}

/// The known properties of the counter of computation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CounterFacts {
    /// The volume of a second of CPU time, if that is known.
    pub per_second: Option<f64>,
    /// Whether the counter notices that a thread waits.
    pub notices_waiting: bool,
    /// Whether a thread is the counter's own, and executes nothing of the program.
    pub is_own: fn(libc::pid_t) -> bool,
}

/// The threads that call MPI.
#[derive(Default)]
struct Callers {
    live: Vec<Caller>,
    ended: Usage,
}

struct Caller {
    thread: ThreadNumber,
    begun: Instant,
    cpu_at_first_call: u64,
    queued_at_first_call: Option<u64>,
    /// The CPU time as it was read last: a thread that ends unseen has no clock any more.
    cpu: u64,
}

/// The time that threads have used, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    elapsed: u64,
    cpu: u64,
    queued: u64,
}

impl BeforeInit {
    pub(crate) fn now() -> Self {
        Self { cpu: process_cpu(), threads: threads() }
    }

    /// The state of the process after `MPI_Init`, which has just returned.
    pub(crate) fn after(self) -> AfterInit {
        let threads = threads();
        let library = threads.iter().copied().filter(|thread| !self.threads.contains(thread)).collect();
        AfterInit { cpu_before: self.cpu, library, threads }
    }
}

impl AfterInit {
    /// Begins to measure. Threads that were started since `MPI_Init` returned are the tracer's; the calling thread has called
    /// MPI. `None` if the system does not list threads.
    pub(crate) fn begin(self, counter: CounterFacts) -> Option<ProcessClock> {
        let with_clock = |thread: &ThreadNumber| Some((*thread, thread_cpu(*thread)?));
        let now = threads();
        let is_tracers = |thread: &ThreadNumber| !self.threads.contains(thread) || (counter.is_own)(*thread);
        let others = |thread: &&ThreadNumber| is_tracers(thread) && !self.library.contains(thread);
        let mut clock = ProcessClock {
            begun: Instant::now(),
            cpu_before: self.cpu_before,
            cpu: process_cpu(),
            children: children_cpu(),
            waited: WAITED.load(Ordering::Relaxed),
            ticks: Ticks::now(),
            involuntary_switches: involuntary_switches(),
            library: self.library.iter().filter_map(with_clock).collect(),
            tracer: now.iter().filter(others).filter_map(with_clock).collect(),
            callers: SpinMutex::default(),
            added: AtomicU64::new(0),
            counter,
        };
        clock.enter();
        // At the same time as the caller's clock: what is in between takes an emulator milliseconds.
        clock.cpu = process_cpu();
        (!now.is_empty()).then_some(clock)
    }
}

impl ProcessClock {
    /// The calling thread calls MPI for the first time.
    pub(crate) fn enter(&self) {
        let thread = this_thread();
        let cpu = thread_cpu(thread).unwrap_or_default();
        let (begun, queued_at_first_call) = (Instant::now(), queued(thread));
        let caller = Caller { thread, begun, cpu_at_first_call: cpu, queued_at_first_call, cpu };
        self.callers.lock().live.push(caller);
    }

    /// The calling thread ends.
    pub(crate) fn leave(&self) {
        let thread = this_thread();
        // A signal handler may have interrupted the holder of the lock.
        let Some(mut callers) = self.callers.try_lock() else { return };
        if let Some(index) = callers.live.iter().position(|caller| caller.thread == thread) {
            let used = callers.live.swap_remove(index).used();
            callers.ended = callers.ended.plus(used);
        }
    }

    /// The volume that other threads have computed since the last call of this, by any thread.
    #[cold]
    pub(crate) fn take_others(&self) -> f64 {
        let Some(mut callers) = self.callers.try_lock() else { return 0.0 };
        let others = self.others(&mut callers);
        let new = others.saturating_sub(self.added.fetch_max(others, Ordering::Relaxed));
        new as f64 / 1e9 * self.counter.per_second.unwrap_or_default()
    }

    /// CPU time of the program's threads, excluding threads that call MPI from their first calls on.
    fn others(&self, callers: &mut Callers) -> u64 {
        let process = process_cpu().saturating_sub(self.cpu);
        let known = callers.used().cpu + cpu_since(&self.library) + cpu_since(&self.tracer);
        process.saturating_sub(known)
    }

    /// The times of the process until now, in which a volume of `computed` was counted, and one of `passed_over` in calls that
    /// have become no event.
    pub(crate) fn measure(&self, computed: f64, passed_over: f64) -> Option<ProcessTime> {
        let mut callers = self.callers.try_lock()?;
        let (used, others) = (callers.used(), self.others(&mut callers));
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let waited = WAITED.load(Ordering::Relaxed).saturating_sub(self.waited);
        let tracer = cpu_since(&self.tracer);
        let added = self.added.load(Ordering::Relaxed);
        let own = |rate: f64| (computed / rate - seconds(added)).max(0.0);
        Some(ProcessTime {
            elapsed: self.begun.elapsed().as_secs_f64(),
            cpu_before: seconds(self.cpu_before),
            cpu: seconds(process_cpu().saturating_sub(self.cpu).saturating_sub(tracer)),
            calling_threads: seconds(used.cpu),
            computation: self.counter.per_second.map(own),
            passed_over: self.counter.per_second.map_or(0.0, |rate| (passed_over / rate).max(0.0)),
            other_threads: seconds(others),
            added: seconds(added),
            library_threads: seconds(cpu_since(&self.library)),
            children: seconds(children_cpu().saturating_sub(self.children)),
            calling_elapsed: seconds(used.elapsed),
            waiting: self.counter.notices_waiting.then_some(seconds(waited)),
            stolen: self.ticks.and_then(|earlier| Some(Ticks::now()?.stolen_since(earlier))),
            involuntary_switches: Some(involuntary_switches().saturating_sub(self.involuntary_switches)),
            run_queue: queued(this_thread()).map(|_| seconds(used.queued)),
        })
    }
}

impl Callers {
    /// The time that the threads that call MPI have used since their first calls.
    fn used(&mut self) -> Usage {
        self.live.iter_mut().map(Caller::used).fold(self.ended, Usage::plus)
    }
}

impl Caller {
    fn used(&mut self) -> Usage {
        self.cpu = thread_cpu(self.thread).unwrap_or(self.cpu);
        let queued = queued(self.thread).zip(self.queued_at_first_call);
        Usage {
            elapsed: self.begun.elapsed().as_nanos() as u64,
            cpu: self.cpu.saturating_sub(self.cpu_at_first_call),
            queued: queued.map_or(0, |(now, first)| now.saturating_sub(first)),
        }
    }
}

impl Usage {
    fn plus(self, other: Self) -> Self {
        Self { elapsed: self.elapsed + other.elapsed, cpu: self.cpu + other.cpu, queued: self.queued + other.queued }
    }
}

/// A thread outside of MPI calls has had no CPU time for this many nanoseconds.
pub(crate) fn waited(nanoseconds: f64) {
    WAITED.fetch_add(nanoseconds.max(0.0) as u64, Ordering::Relaxed);
}

/// CPU time of some threads since the listed values. Threads that have ended are not counted.
fn cpu_since(threads: &FxHashMap<ThreadNumber, u64>) -> u64 {
    threads.iter().filter_map(|(&thread, first)| thread_cpu(thread)?.checked_sub(*first)).sum()
}

fn this_thread() -> ThreadNumber {
    // SAFETY: takes nothing, returns a number.
    unsafe { libc::gettid() }
}

/// The threads of this process; none if the system does not list them.
fn threads() -> Vec<ThreadNumber> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// CPU time of this process, in nanoseconds.
fn process_cpu() -> u64 {
    nanoseconds(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or_default()
}

/// CPU time of a thread of this process, in nanoseconds; `None` if it has ended.
fn thread_cpu(thread: ThreadNumber) -> Option<u64> {
    /// `CPUCLOCK_SCHED` of `CPUCLOCK_PERTHREAD_MASK`: the result of `pthread_getcpuclockid` for a thread, which needs
    /// its handle.
    const OF_A_THREAD: libc::clockid_t = 0b110;
    nanoseconds(!thread << 3 | OF_A_THREAD)
}

/// CPU time of child processes that were waited for, in nanoseconds.
fn children_cpu() -> u64 {
    let usage = usage(libc::RUSAGE_CHILDREN);
    let nanoseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
}

/// Nanoseconds for which a thread was runnable and waited for a core; `None` if the kernel does not count them.
fn queued(thread: ThreadNumber) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Time of all processors of the host since it was started, in ticks of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    all: u64,
    /// The part that the host of a virtual machine gave to others.
    stolen: u64,
}

impl Ticks {
    /// The ticks until now; `None` if the system does not report them.
    pub(crate) fn now() -> Option<Self> {
        Self::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// The ticks in the first line of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal; and
    /// the time of guests, which user and nice include.
    fn read(text: &str) -> Option<Self> {
        let mut words = text.lines().next()?.split_whitespace();
        let ticks: Vec<u64> =
            words.next().filter(|&word| word == "cpu").map(|_| words.map_while(|word| word.parse().ok()))?.collect();
        let stolen = *ticks.get(7)?;
        Some(Self { all: ticks.iter().take(8).sum(), stolen })
    }

    /// The stolen part of the time since `earlier`.
    pub(crate) fn stolen_since(self, earlier: Self) -> f64 {
        let all = self.all.saturating_sub(earlier.all);
        if all > 0 { self.stolen.saturating_sub(earlier.stolen) as f64 / all as f64 } else { 0.0 }
    }
}

/// The number of times that a thread of this process lost its core to another thread.
pub(crate) fn involuntary_switches() -> u64 {
    usage(libc::RUSAGE_SELF).ru_nivcsw.max(0) as u64
}

/// What a process, or its children that were waited for, have used.
pub(crate) fn usage(whose: libc::c_int) -> libc::rusage {
    // SAFETY: an all-zero `rusage` is a valid object to be filled in.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a live local.
    unsafe { libc::getrusage(whose, &mut usage) };
    usage
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    const FACTS: CounterFacts = CounterFacts { per_second: Some(2e9), notices_waiting: false, is_own: |_| false };
    const BURST: u64 = 30_000_000;

    fn spend(nanoseconds: u64) {
        let me = this_thread();
        let until = thread_cpu(me).unwrap() + nanoseconds;
        while thread_cpu(me).unwrap() < until {}
    }

    #[test]
    fn the_clock_of_a_thread_is_its_own() {
        let (tell, told) = channel();
        let (end, ended) = channel::<()>();
        let busy = thread::spawn(move || {
            spend(BURST);
            tell.send(this_thread()).unwrap();
            let _ = ended.recv();
        });
        let number = told.recv().unwrap();
        let measured = thread_cpu(number).unwrap();
        assert!((BURST..10 * BURST).contains(&measured), "{measured}");
        assert!(threads().contains(&number) && threads().contains(&this_thread()));
        drop(end);
        busy.join().unwrap();
    }

    /// Others are the threads that do not call MPI, and those that do before their first call. Tests of this file run
    /// in one process, so only a lower bound is certain.
    #[test]
    fn computation_of_other_threads_is_what_is_left() {
        let clock = BeforeInit::now().after().begin(FACTS).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| spend(BURST));
            scope.spawn(|| {
                spend(BURST);
                clock.enter();
                spend(BURST);
                clock.leave();
            });
        });
        let time = clock.measure(0.0, 0.0).unwrap();
        assert!(time.other_threads >= 2.0 * BURST as f64 / 1e9, "{time:?}");
        assert!(time.calling_threads >= BURST as f64 / 1e9, "{time:?}");
        let sum = time.calling_threads + time.other_threads + time.library_threads;
        assert!((sum - time.cpu).abs() < 0.01, "{time:?}");
        let volume = clock.take_others();
        assert!(volume >= 4.0 * BURST as f64, "{volume}");
        assert!(clock.measure(0.0, 0.0).unwrap().uncounted_threads() < time.other_threads);
    }

    #[test]
    fn the_stolen_part_is_of_the_time_of_all_processors() {
        let ticks = |text| Ticks::read(text).unwrap();
        let before = ticks("cpu  10 0 10 80 0 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        let after = ticks("cpu  40 0 20 110 5 0 0 25 30 0\n");
        assert_eq!(after.stolen_since(before), 0.25);
        assert_eq!((before.stolen_since(before), before.stolen_since(after)), (0.0, 0.0));
    }

    #[test]
    fn a_system_that_reports_less_has_no_ticks() {
        assert_eq!(["", "intr 1 2", "cpu 1 2 3"].map(Ticks::read), [None; 3]);
    }
}

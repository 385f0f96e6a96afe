//! A profile of titr itself: the processor time of each kind of work, and the memory of the ranks.
//!
//! Each thread stores the kind of work it does, at the cost of one store. Every few milliseconds, the profiler reads
//! these values and each thread's processor time, and charges the time since the last sample to the current kind of
//! work. The times of all kinds therefore add up to the time of the process, and a waiting thread adds nothing.
//!
//! A waiting thread has often worked since the last sample, so its last value has to stay: only the main thread returns
//! to [`OwnWork::Other`]. Threads that store nothing belong to a network model.
//!
//! A process has at most one profile. Without one, event sources and networks are not wrapped, and no clock is read.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use titr_common::time::Time;
use titr_common::trace::{EventSource, LocatedEvents, Passed, Passing, Trace, TraceError};
use titr_common::units::Bytes;
use titr_network::{LinkLoad, Met, Network, Transfer, TransferId, Unloaded, Unreachable};

/// A kind of work that titr does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OwnWork {
    /// Anything else: the command line, the platform, the manifest of the trace.
    Other,
    /// Unpacking and parsing traces, and in other formats translating them.
    Reading,
    /// The ranks, their MPI library, and the observers.
    Ranks,
    /// The network model.
    Network,
    /// Making results of observations, and writing them.
    Results,
}

impl OwnWork {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Other, Self::Reading, Self::Ranks, Self::Network, Self::Results];
}

/// The time of each kind of work, by its number.
type Times = [Duration; OwnWork::ALL.len()];

/// Interval between two samples. Linux counts processor time in steps of up to 4 ms.
const SLEEP: Duration = Duration::from_millis(2);

/// A finished profile.
#[derive(Clone, Debug)]
pub struct OwnProfile {
    /// Time on the wall since the profiler was started.
    pub wall: Duration,
    /// Processor time by kind of work.
    pub times: Vec<(OwnWork, Duration)>,
    /// Processor time of the profiler.
    pub profiling: Duration,
    /// Time that the main thread was runnable and waited for a processor, if the system reports it.
    pub waiting: Option<Duration>,
    /// The memory of the process, if the system says.
    pub memory: Option<OwnMemory>,
}

impl OwnProfile {
    /// Processor time of all work.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.times.iter().map(|&(_, time)| time).sum::<Duration>() + self.profiling
    }
}

/// The memory of the process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnMemory {
    /// The most that was resident at any time.
    pub peak: Bytes,
    /// The number of replayed ranks, and the resident memory before the first of them was opened.
    pub before_ranks: Option<(u32, Bytes)>,
}

impl OwnMemory {
    /// The bytes that each rank added to the peak, in the mean.
    #[must_use]
    pub fn per_rank(&self) -> Option<f64> {
        let (ranks, before) = self.before_ranks?;
        Some(self.peak.0.saturating_sub(before.0) as f64 / f64::from(ranks.max(1)))
    }
}

/// The profile that is being taken.
static TAKEN: OnceLock<TakenProfile> = OnceLock::new();

#[derive(Default)]
struct TakenProfile {
    threads: Mutex<Vec<Arc<ProfiledThread>>>,
    before_ranks: OnceLock<Option<(u32, Bytes)>>,
    is_over: AtomicBool,
}

impl TakenProfile {
    fn threads(&self) -> Vec<Arc<ProfiledThread>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A thread that is profiled.
struct ProfiledThread {
    /// Whether the thread has started the profiler.
    is_main: bool,
    /// The number of the kind of work that the thread does.
    work: AtomicU8,
    account: Mutex<Account>,
}

struct Account {
    clock: ThreadClock,
    /// The thread's time at the last look.
    seen: Duration,
    times: Times,
}

impl ProfiledThread {
    /// Adds the thread's time since the last look to the kind of work that it does.
    fn look(&self) {
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        let Some([cpu, _]) = account.clock.read() else { return };
        let passed = cpu.saturating_sub(account.seen);
        account.seen = cpu;
        account.times[usize::from(self.work.load(Ordering::Relaxed))] += passed;
    }

    /// Records that the calling thread begins `work`; returns its previous kind of work.
    fn begin(&self, work: OwnWork) -> u8 {
        // No other thread writes it.
        let before = self.work.load(Ordering::Relaxed);
        self.work.store(work as u8, Ordering::Relaxed);
        before
    }

    /// Records that the thread returns to its previous kind of work.
    fn end(&self, before: u8) {
        if before != OwnWork::Other as u8 || self.is_main {
            self.work.store(before, Ordering::Relaxed);
        }
    }

    fn during<T>(&self, work: OwnWork, act: impl FnOnce() -> T) -> T {
        let before = self.begin(work);
        let result = act();
        self.end(before);
        result
    }
}

/// The time that a thread has run on a processor and waited for one; time on the wall where the system does not say.
enum ThreadClock {
    Cpu(File),
    Wall(Instant),
}

impl ThreadClock {
    /// The clock of the calling thread, which other threads can read.
    fn new() -> Self {
        File::open("/proc/thread-self/schedstat").map_or_else(|_| Self::Wall(Instant::now()), Self::Cpu)
    }

    /// The times now; `None` if the thread has ended.
    fn read(&mut self) -> Option<[Duration; 2]> {
        let file = match self {
            Self::Cpu(file) => file,
            Self::Wall(start) => return Some([start.elapsed(), Duration::ZERO]),
        };
        let mut text = [0; 64];
        file.rewind().ok()?;
        let length = file.read(&mut text).ok()?;
        let mut numbers = str::from_utf8(&text[..length]).ok()?.split_whitespace();
        let mut next = || numbers.next()?.parse().ok().map(Duration::from_nanos);
        Some([next()?, next()?])
    }
}

thread_local! {
    static THIS_THREAD: ThisThread = ThisThread::new();
}

/// The calling thread; `None` if no profile is taken.
struct ThisThread(Option<Arc<ProfiledThread>>);

impl ThisThread {
    fn new() -> Self {
        Self(TAKEN.get().map(|taken| {
            let account = Account { clock: ThreadClock::new(), seen: Duration::ZERO, times: Times::default() };
            let mut threads = taken.threads.lock().unwrap_or_else(PoisonError::into_inner);
            let (is_main, work) = (threads.is_empty(), AtomicU8::new(OwnWork::Other as u8));
            let thread = Arc::new(ProfiledThread { is_main, work, account: account.into() });
            threads.push(Arc::clone(&thread));
            thread
        }))
    }
}

impl Drop for ThisThread {
    fn drop(&mut self) {
        self.0.iter().for_each(|thread| thread.look());
    }
}

fn this_thread() -> Option<Arc<ProfiledThread>> {
    TAKEN.get()?;
    THIS_THREAD.with(|thread| thread.0.clone())
}

/// Takes the profile of the process.
pub struct Profiler {
    taken: &'static TakenProfile,
    start: Instant,
    looking: Option<JoinHandle<Duration>>,
}

impl Profiler {
    /// Starts to take the profile, on the main thread.
    #[must_use]
    pub fn start() -> Self {
        let start = Instant::now();
        let taken = TAKEN.get_or_init(TakenProfile::default);
        drop(this_thread());
        let look = move || {
            let mut clock = ThreadClock::new();
            while !taken.is_over.load(Ordering::Relaxed) {
                thread::sleep(SLEEP);
                taken.threads().iter().for_each(|thread| thread.look());
            }
            clock.read().map_or(Duration::ZERO, |[cpu, _]| cpu)
        };
        Self { taken, start, looking: thread::Builder::new().name("profiler".into()).spawn(look).ok() }
    }

    /// The profile of the process so far.
    #[must_use]
    pub fn finish(self) -> OwnProfile {
        let taken = self.taken;
        taken.is_over.store(true, Ordering::Relaxed);
        let profiling = self.looking.and_then(|thread| thread.join().ok()).unwrap_or_default();
        let mut times = Times::default();
        for thread in taken.threads() {
            thread.look();
            let account = thread.account.lock().unwrap_or_else(PoisonError::into_inner);
            times.iter_mut().zip(&account.times).for_each(|(sum, &time)| *sum += time);
        }
        let noted = times.iter().sum::<Duration>() + profiling;
        times[OwnWork::Network as usize] += process_time().saturating_sub(noted);
        let before_ranks = taken.before_ranks.get().copied().flatten();
        OwnProfile {
            wall: self.start.elapsed(),
            times: OwnWork::ALL.into_iter().zip(times).collect(),
            profiling,
            waiting: match ThreadClock::new() {
                ThreadClock::Wall(_) => None,
                mut clock @ ThreadClock::Cpu(_) => clock.read().map(|[_, waiting]| waiting),
            },
            memory: memory("VmHWM:").map(|peak| OwnMemory { peak, before_ranks }),
        }
    }
}

/// The processor time of the process, of threads that have ended too.
fn process_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// The line of the process's memory that begins so (the kernel's Documentation/filesystems/proc.rst).
fn memory(line: &str) -> Option<Bytes> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let rest = status.lines().find_map(|text| text.strip_prefix(line))?;
    let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes(kibibytes << 10))
}

/// Records the memory in use before this many ranks are opened for the first time.
pub(crate) fn before_ranks(ranks: u32) {
    if let Some(taken) = TAKEN.get() {
        taken.before_ranks.get_or_init(|| Some(ranks).zip(memory("VmRSS:")));
    }
}

/// The calling thread does `work` until the value that is returned is dropped.
pub fn enter(work: OwnWork) -> Entered {
    Entered(this_thread().map(|thread| {
        let before = thread.begin(work);
        (thread, before)
    }))
}

/// A thread that does a kind of work, and the kind that it did before.
#[must_use]
pub struct Entered(Option<(Arc<ProfiledThread>, u8)>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.iter().for_each(|(thread, before)| thread.end(*before));
    }
}

/// A trace, with its reading noted where a profile is taken.
pub(crate) fn profiled_trace(trace: &Trace) -> Trace {
    let trace = trace.clone();
    if TAKEN.get().is_some() { trace.map_sources(|_, source| ProfiledSource(source)) } else { trace }
}

/// A rank's events, whose reading is noted.
struct ProfiledSource(Box<dyn EventSource + Send>);

impl EventSource for ProfiledSource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let _reading = enter(OwnWork::Reading);
        self.0.read(events)
    }

    fn goes_round(&mut self, most: usize) -> bool {
        let _reading = enter(OwnWork::Reading);
        self.0.goes_round(most)
    }

    fn read_round(&mut self, events: &mut LocatedEvents, most: usize) -> Result<u64, TraceError> {
        let _reading = enter(OwnWork::Reading);
        self.0.read_round(events, most)
    }

    fn pass(&mut self, passed: &mut Passed, most: usize) -> Result<Passing, TraceError> {
        self.0.pass(passed, most)
    }

    fn path(&self) -> Option<PathBuf> {
        self.0.path()
    }

    fn torn(&self) -> Option<String> {
        self.0.torn()
    }
}

/// Lets `drive` drive a network, whose time is noted where a profile is taken.
pub(crate) fn profiled_network<T>(
    mut network: Box<dyn Network>,
    drive: impl FnOnce(&mut dyn Network) -> T,
) -> (T, Box<dyn Network>) {
    let Some(thread) = this_thread() else {
        let result = drive(&mut *network);
        return (result, network);
    };
    let mut profiled = ProfiledNetwork { network, thread };
    let result = drive(&mut profiled);
    (result, profiled.network)
}

/// A network, and the thread that drives it.
struct ProfiledNetwork {
    network: Box<dyn Network>,
    thread: Arc<ProfiledThread>,
}

impl Network for ProfiledNetwork {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        self.thread.during(OwnWork::Network, || self.network.inject(now, transfer));
    }

    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        self.thread.during(OwnWork::Network, || self.network.unloaded(transfer))
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        self.network.unreachable(now, transfer)
    }

    fn first_unreachable(&self) -> Unreachable {
        self.network.first_unreachable()
    }

    fn next_event(&mut self) -> Option<Time> {
        self.thread.during(OwnWork::Network, || self.network.next_event())
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.thread.during(OwnWork::Network, || self.network.advance(now, delivered));
    }

    fn met(&mut self, id: TransferId) -> Vec<Met> {
        self.network.met(id)
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.network.link_loads()
    }
}

//! The ends of a process without `atexit` handlers: signals, `_exit`, `exec`, and errors for which the MPI library ends
//! the process.
//!
//! ```text
//!   a thread that ends the process          the flush thread
//!     order ───────────────────────────►      takes the recorder, hands over what is recorded,
//!     waits a while  ◄───────────────────     writes the end record and the rank's entry
//!     ends the process
//! ```
//!
//! A thread may be anywhere when a signal arrives: in the allocator, in the MPI library, in the recorder. It therefore
//! only gives an order and waits, which is safe in a signal handler, and the flush thread does the work. If the flush
//! thread cannot continue because the interrupted thread holds a lock that it needs, the handler of a signal returns,
//! and the flush thread ends the process as soon as it has done its work.
//!
//! If the process continues, because `exec` failed for example, the written end is revoked.

mod exits;
mod signals;

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

use titr_common::event::ThreadId;
use titr_common::trace::manifest::{Ended, Signal};
use titr_common::units::Instructions;
use titr_wrappers::library_function;

use crate::clock::nanoseconds;

/// Time that a thread that ends the process waits for the flush thread to run.
const TO_BEGIN: Duration = Duration::from_secs(2);
/// Time that it then waits for the flush thread to take the recorder; shorter in a signal handler, because the
/// interrupted thread may hold it.
const TO_TAKE: Duration = Duration::from_secs(1);
const TO_TAKE_IN_HANDLER: Duration = Duration::from_millis(100);
/// Time that it then waits for the disk.
const TO_WRITE: Duration = Duration::from_secs(10);
const NAP: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 100_000 };

/// The recorder of the process, as the flush thread and a thread that ends the process see it.
pub(crate) trait Recording: Sync {
    /// Hands over the recorded events to the flush thread; false if the recorder is in use. Never waits.
    fn hand_over(&self) -> bool;

    /// Hands over the recorded events and the rank's entry to the flush thread; false if the recorder is in use. Never
    /// waits.
    fn close(&self, order: Order) -> bool;

    /// The volume that the calling thread has computed since its last call. Safe in a signal handler.
    fn computed(&self) -> Option<(ThreadId, Instructions)>;
}

/// An order to end the trace, as the process is about to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub ended: Ended,
    /// The volume that the thread which ends the process has computed since its last call.
    pub computed: Option<(ThreadId, Instructions)>,
}

/// The end of an order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OrderOutcome {
    /// There is no trace to end.
    Untraced,
    Written,
    /// The flush thread has not got that far.
    Unfinished,
}

struct Watched {
    recording: &'static dyn Recording,
    flush_thread: Thread,
    pid: u32,
}

static WATCHED: OnceLock<Watched> = OnceLock::new();
static ARMED: AtomicBool = AtomicBool::new(false);
/// The end of the process, as a number; [`NONE`], or [`BEING_GIVEN`].
static ENDED: AtomicU32 = AtomicU32::new(NONE);
/// The number of the thread that gave the order and one, or 0; the bits of its volume.
static THREAD: AtomicU32 = AtomicU32::new(0);
static VOLUME: AtomicU64 = AtomicU64::new(0);
/// The stage of the flush thread: [`ORDERED`], [`BEGUN`] or [`TAKEN`].
static STAGE: AtomicU32 = AtomicU32::new(ORDERED);
static DONE: AtomicU32 = AtomicU32::new(0);
/// The signal that the flush thread is to end the process with, or 0.
static LEFT: AtomicI32 = AtomicI32::new(0);

const ORDERED: u32 = 0;
const BEGUN: u32 = 1;
/// The recorded events are taken, and only the disk remains to be waited for.
const TAKEN: u32 = 2;

const NONE: u32 = 0;
const BEING_GIVEN: u32 = 1;
const IMMEDIATE_EXIT: u32 = 2;
const EXEC: u32 = 3;
const ERROR: u32 = 4;
const SIGNAL: u32 = 1 << 8;

thread_local! {
    static IS_FLUSH_THREAD: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// To be called when the library is loaded: symbols needed in a signal handler or in a child of `vfork` must not be
/// looked up there.
pub(crate) fn prepare() {
    exits::find_all();
    signals::find_all();
}

/// Ends the trace at the end of the process from now on.
pub(crate) fn arm(recording: &'static dyn Recording, flush_thread: Thread) {
    let watched = Watched { recording, flush_thread, pid: std::process::id() };
    if WATCHED.set(watched).is_ok() {
        ARMED.store(true, Ordering::Release);
        signals::cover();
    }
}

/// The trace is complete, and has no more to do with the end of the process.
pub(crate) fn disarm() {
    if ARMED.swap(false, Ordering::AcqRel) {
        signals::uncover();
        let left = LEFT.swap(0, Ordering::AcqRel);
        if left != 0 {
            signals::end_process(left);
        }
    }
}

/// The calling thread is the flush thread, which gives no orders.
pub(crate) fn enter_flush_thread() {
    IS_FLUSH_THREAD.set(true);
}

/// The recorder of the process, while there is one.
pub(crate) fn recording() -> Option<&'static dyn Recording> {
    WATCHED.get().filter(|_| ARMED.load(Ordering::Acquire)).map(|watched| watched.recording)
}

pub(crate) fn pending() -> Option<Order> {
    let ended = decoded(ENDED.load(Ordering::Acquire))?;
    STAGE.store(BEGUN, Ordering::Release);
    let thread = THREAD.load(Ordering::Relaxed).checked_sub(1).map(ThreadId);
    let computed = thread.map(|thread| (thread, Instructions(f64::from_bits(VOLUME.load(Ordering::Relaxed)))));
    Some(Order { ended, computed })
}

/// Records that the recorded events are taken, and only the disk remains to be waited for.
pub(crate) fn taken() {
    STAGE.store(TAKEN, Ordering::Release);
}

pub(crate) fn done() {
    STAGE.store(ORDERED, Ordering::Relaxed);
    ENDED.store(NONE, Ordering::Release);
    DONE.fetch_add(1, Ordering::AcqRel);
    let left = LEFT.swap(0, Ordering::AcqRel);
    if left != 0 {
        signals::end_process(left);
    }
}

/// Has the trace ended by the flush thread, and waits for that. Safe in a signal handler, and in a child of `fork` or
/// `vfork`, where it does nothing.
fn order(ended: Ended, to_take: Duration) -> OrderOutcome {
    let Some(watched) = WATCHED
        .get()
        .filter(|watched| ARMED.load(Ordering::Acquire) && watched.pid == std::process::id() && !IS_FLUSH_THREAD.get())
    else {
        return OrderOutcome::Untraced;
    };
    let before = DONE.load(Ordering::Acquire);
    if ENDED.compare_exchange(NONE, BEING_GIVEN, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        let (thread, volume) = match watched.recording.computed() {
            Some((ThreadId(thread), Instructions(volume))) => (thread + 1, volume),
            None => (0, 0.0),
        };
        THREAD.store(thread, Ordering::Relaxed);
        VOLUME.store(volume.to_bits(), Ordering::Relaxed);
        ENDED.store(encoded(ended), Ordering::Release);
    }
    watched.flush_thread.unpark();
    let (mut stage, mut since) = (ORDERED, Instant::now());
    loop {
        if DONE.load(Ordering::Acquire) != before || !ARMED.load(Ordering::Acquire) {
            return OrderOutcome::Written;
        }
        let now = STAGE.load(Ordering::Acquire);
        if now != stage {
            (stage, since) = (now, Instant::now());
        }
        let patience = match stage {
            ORDERED => TO_BEGIN,
            BEGUN => to_take,
            _ => TO_WRITE,
        };
        if since.elapsed() > patience {
            return OrderOutcome::Unfinished;
        }
        // SAFETY: a live constant; the remaining time of the nap is not needed.
        unsafe { libc::nanosleep(&NAP, std::ptr::null_mut()) };
    }
}

fn encoded(ended: Ended) -> u32 {
    match ended {
        Ended::ImmediateExit => IMMEDIATE_EXIT,
        Ended::Exec => EXEC,
        Ended::Error => ERROR,
        Ended::Signal(Signal(signal)) => SIGNAL + signal.unsigned_abs(),
        // These end in calls of the program's or of `exit`, which end the trace themselves.
        Ended::Running | Ended::Finalize | Ended::Exit | Ended::Abort => NONE,
    }
}

fn decoded(number: u32) -> Option<Ended> {
    match number {
        IMMEDIATE_EXIT => Some(Ended::ImmediateExit),
        EXEC => Some(Ended::Exec),
        ERROR => Some(Ended::Error),
        SIGNAL.. => Some(Ended::Signal(Signal((number - SIGNAL) as i32))),
        _ => None,
    }
}

/// Minimum time in milliseconds between two errors that are treated as the end: if the program's error handler returns,
/// errors may be frequent.
const BETWEEN: u64 = 100;

/// Whether the MPI library ends the process because of an error, which the program cannot handle.
static ABORTS: AtomicBool = AtomicBool::new(false);

/// Whether the process ends because of an error, whatever the program does.
pub(crate) fn is_aborting() -> bool {
    ABORTS.load(Ordering::Acquire)
}

/// Open MPI's way to end all processes.
///
/// # Safety
/// As the library's function of this name.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ompi_mpi_abort(comm: *mut c_void, code: c_int) -> c_int {
    ABORTS.store(true, Ordering::Release);
    order(Ended::Error, TO_TAKE);
    let Some(real) = library_function(c"ompi_mpi_abort") else { return code };
    // SAFETY: the library's function of this name and type.
    let real: unsafe extern "C-unwind" fn(*mut c_void, c_int) -> c_int = unsafe { std::mem::transmute(real) };
    // SAFETY: the caller's promise.
    unsafe { real(comm, code) }
}

/// MPICH's functions that call the error handler of a communicator or of a window.
macro_rules! mpich {
    ($($name:ident $text:literal)*) => {$(
        /// # Safety
        /// As the library's function of this name.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the library's name")]
        unsafe extern "C-unwind" fn $name(object: *mut c_void, function: *const c_char, code: c_int) -> c_int {
            end_unless_repeated();
            IS_HANDLING.set(true);
            let Some(real) = library_function($text) else { return code };
            // SAFETY: the library's function of this name and type.
            let real: unsafe extern "C-unwind" fn(*mut c_void, *const c_char, c_int) -> c_int =
                unsafe { std::mem::transmute(real) };
            // SAFETY: the caller's promise.
            let code = unsafe { real(object, function, code) };
            IS_HANDLING.set(false);
            code
        }
    )*};
}

mpich! {
    MPIR_Err_return_comm c"MPIR_Err_return_comm"
    MPIR_Err_return_win c"MPIR_Err_return_win"
}

thread_local! {
    /// Whether MPICH handles an error of this thread. Where it ends the process by `exit`, it does not come back.
    static IS_HANDLING: Cell<bool> = const { Cell::new(false) };
}

/// The status that the process exits with, and whether it does.
static STATUS: AtomicI32 = AtomicI32::new(0);
static EXITS: AtomicBool = AtomicBool::new(false);

/// The status that the process exits with, if it does and the status is known.
pub(crate) fn exit_status() -> Option<i32> {
    EXITS.load(Ordering::Acquire).then(|| STATUS.load(Ordering::Relaxed))
}

fn exits_with(status: c_int) {
    STATUS.store(status, Ordering::Relaxed);
    EXITS.store(true, Ordering::Release);
}

/// Registers with `exit` that its status is kept. Of all that is registered, what came last runs first.
pub(crate) fn keep_status() {
    extern "C" fn keep(status: c_int, _: *mut c_void) {
        exits_with(status);
    }
    type Handler = extern "C" fn(c_int, *mut c_void);
    // Not in every C library.
    let Some(register) = library_function(c"on_exit") else { return };
    // SAFETY: the C library's function of this name and type.
    let register: unsafe extern "C" fn(Handler, *mut c_void) -> c_int = unsafe { std::mem::transmute(register) };
    // SAFETY: the handler is a function of this library, which is never unloaded, and takes what it is given.
    unsafe { register(keep, std::ptr::null_mut()) };
}

/// The end of a process whose thread calls `exit`.
pub(crate) fn at_exit() -> Ended {
    if IS_HANDLING.get() { Ended::Error } else { Ended::Exit }
}

fn end_unless_repeated() {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = 1 + nanoseconds(libc::CLOCK_MONOTONIC).unwrap_or_default() / 1_000_000;
    let last = LAST.load(Ordering::Relaxed);
    if last == 0 || now.saturating_sub(last) > BETWEEN {
        LAST.store(now, Ordering::Relaxed);
        order(Ended::Error, TO_TAKE);
    }
}

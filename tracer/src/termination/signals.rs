//! Signals that end a process: the trace is ended first, and the process then dies of the signal as it would have.
//!
//! A signal is covered if the program leaves it at its default, or if an MPI library handles it, as Open MPI and UCX do
//! to print the places of faults. This is invisible to the program: the functions that query or set a disposition,
//! which this module defines, behave as without the tracer. A handler of the program replaces the tracer's.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use libc::{sigaction as Action, sighandler_t, siginfo_t};
use titr_common::trace::manifest::{Ended, Signal};
use titr_wrappers::file_of;

use super::exits::Next;
use super::{ARMED, DONE, LEFT, OrderOutcome, TO_TAKE, TO_TAKE_IN_HANDLER, order};
use crate::clock::nanoseconds;

/// Signals that users and batch systems send, or that the system sends at a limit.
const SENT: [c_int; 10] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGXCPU,
    libc::SIGXFSZ,
];
/// Signals of faults: the thread cannot continue.
const FAULTS: [c_int; 7] =
    [libc::SIGILL, libc::SIGTRAP, libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV, libc::SIGSYS];

const SIGNALS: usize = 32;

/// For each signal, whether it is covered, and the program's view of its disposition.
static COVERS: [Cover; SIGNALS] = [const { Cover::new() }; SIGNALS];

struct Cover {
    is_on: AtomicBool,
    /// Written once, before `is_on` is set.
    beneath: UnsafeCell<Option<Action>>,
}

// SAFETY: written before `is_on` is set, and never after; read only if it is.
unsafe impl Sync for Cover {}

impl Cover {
    const fn new() -> Self {
        Self { is_on: AtomicBool::new(false), beneath: UnsafeCell::new(None) }
    }

    /// The library's action, or the default.
    fn beneath(&self) -> Action {
        // SAFETY: an all-zero action is `SIG_DFL` without flags.
        let default = unsafe { std::mem::zeroed() };
        if !self.is_on.load(Ordering::Acquire) {
            return default;
        }
        // SAFETY: written before `is_on` was set.
        unsafe { *self.beneath.get() }.unwrap_or(default)
    }
}

static SIGACTION: Next = Next::new("sigaction\0");

pub(super) fn find_all() {
    let others = [&SIGNAL, &BSD_SIGNAL, &SSIGNAL, &SYSV_SIGNAL, &SYSV_SIGNAL_OLD];
    [&SIGACTION].into_iter().chain(others).for_each(|function| {
        function.find();
    });
}

/// Covers the signals that the program does not handle.
pub(super) fn cover() {
    for signal in SENT.into_iter().chain(FAULTS) {
        let Some(action) = action(signal) else { continue };
        let is_default = action.sa_sigaction == libc::SIG_DFL;
        if is_default || FAULTS.contains(&signal) && is_of_mpi(action.sa_sigaction) {
            let cover = &COVERS[signal as usize];
            // SAFETY: it is not on yet, so there is no reader.
            unsafe { *cover.beneath.get() = (!is_default).then_some(action) };
            cover.is_on.store(true, Ordering::Release);
            install(signal);
        }
    }
}

/// Whether a handler is a function of a library of MPI.
fn is_of_mpi(handler: sighandler_t) -> bool {
    const LIBRARIES: [&str; 5] = ["libopen-pal", "libopen-rte", "libmpi", "libucs", "libpmix"];
    let file = file_of(handler as *mut c_void).unwrap_or_default();
    let name = file.rsplit('/').next().unwrap_or_default();
    handler != libc::SIG_IGN && LIBRARIES.iter().any(|library| name.starts_with(library))
}

/// Gives the signals back.
pub(super) fn uncover() {
    for (signal, cover) in (0..).zip(&COVERS) {
        if cover.is_on.load(Ordering::Acquire) && is_ours(signal) {
            set(signal, &cover.beneath());
        }
    }
}

/// Ends the process by this signal, whose default that is; to be called on a thread that is in no handler.
pub(super) fn end_process(signal: c_int) {
    // SAFETY: live locals that the calls fill in; the thread unblocks the signal for itself.
    unsafe {
        COVERS[signal as usize].is_on.store(false, Ordering::Release);
        set(signal, &std::mem::zeroed());
        let mut one: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut one);
        libc::sigaddset(&mut one, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &one, ptr::null_mut());
        libc::raise(signal);
    }
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // SAFETY: the thread's own error number, which the interrupted code may be about to read.
    let errno = unsafe { *libc::__errno_location() };
    // A program that has saved the disposition by other means than a function may call it from a handler of its own.
    let is_called = !is_ours(signal);
    let is_fault = FAULTS.contains(&signal);
    let before = DONE.load(Ordering::Acquire);
    let outcome = order(Ended::Signal(Signal(signal)), if is_fault { TO_TAKE } else { TO_TAKE_IN_HANDLER });
    let is_left = || {
        // The flush thread ends the process, unless it is done since, or was left another signal that has been sent
        // again since.
        outcome == OrderOutcome::Unfinished
            && !is_fault
            && leave(signal)
            && (DONE.load(Ordering::Acquire) == before || LEFT.swap(0, Ordering::AcqRel) == 0)
    };
    if !is_called && !is_left() {
        let cover = &COVERS[signal as usize];
        let beneath = cover.beneath();
        // A handler of the library sets the default, which is not to be covered again.
        cover.is_on.store(false, Ordering::Release);
        set(signal, &beneath);
        // SAFETY: the kernel gives a live object.
        let is_kernels = unsafe { (*info).si_code } > 0;
        if !is_fault || !is_kernels {
            // Blocked until this handler returns.
            // SAFETY: takes a number.
            unsafe { libc::raise(signal) };
        }
        // The faulting instruction is executed again, now without this handler.
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Leaves the end of the process to the flush thread; false if it was left long ago.
fn leave(signal: c_int) -> bool {
    const LONG: u64 = 2;
    static SINCE: AtomicU64 = AtomicU64::new(0);
    let now = nanoseconds(libc::CLOCK_MONOTONIC).unwrap_or_default() / 1_000_000_000;
    if LEFT.compare_exchange(0, signal, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        SINCE.store(now, Ordering::Relaxed);
        return true;
    }
    // Launchers may send a signal twice, to different threads.
    now.saturating_sub(SINCE.load(Ordering::Relaxed)) < LONG
}

/// The tracer's handler as a number.
fn handler() -> sighandler_t {
    on_signal as *const () as sighandler_t
}

fn install(signal: c_int) {
    // SAFETY: an all-zero action is one without flags and with an empty mask.
    let mut ours: Action = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = handler();
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    set(signal, &ours);
}

fn is_ours(signal: c_int) -> bool {
    action(signal).is_some_and(|action| action.sa_sigaction == handler())
}

/// The disposition of a signal, as the kernel has it.
fn action(signal: c_int) -> Option<Action> {
    // SAFETY: an all-zero action is a valid object to be filled in.
    let mut now: Action = unsafe { std::mem::zeroed() };
    // SAFETY: a live local.
    (unsafe { real(signal, ptr::null(), &mut now) } == 0).then_some(now)
}

fn set(signal: c_int, to: &Action) {
    // SAFETY: a live action.
    unsafe { real(signal, to, ptr::null_mut()) };
}

unsafe fn real(signal: c_int, to: *const Action, from: *mut Action) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;
    // SAFETY: the C library's function of this name and type.
    let function: Function = unsafe { std::mem::transmute(SIGACTION.find()) };
    // SAFETY: the caller's promise.
    unsafe { function(signal, to, from) }
}

fn cover_of(signal: c_int) -> Option<&'static Cover> {
    let cover = COVERS.get(usize::try_from(signal).ok()?)?;
    cover.is_on.load(Ordering::Acquire).then_some(cover)
}

/// The program has set a disposition: the default is covered again.
fn program_has_set(signal: c_int, disposition: sighandler_t) {
    if disposition == libc::SIG_DFL && ARMED.load(Ordering::Acquire) {
        install(signal);
    }
}

/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(signal: c_int, to: *const Action, from: *mut Action) -> c_int {
    // The same object may be behind both.
    // SAFETY: the caller's promise.
    let wanted = unsafe { to.as_ref() }.map(|to| to.sa_sigaction);
    // SAFETY: the caller's promise.
    let result = unsafe { real(signal, to, from) };
    if let (0, Some(cover)) = (result, cover_of(signal)) {
        // SAFETY: the caller's promise.
        if let Some(from) = unsafe { from.as_mut() }
            && from.sa_sigaction == handler()
        {
            *from = cover.beneath();
        }
        if let Some(wanted) = wanted {
            program_has_set(signal, wanted);
        }
    }
    result
}

/// Functions that set a handler and return the one before.
macro_rules! simple {
    ($($next:ident $name:ident)*) => {$(
        static $next: Next = Next::new(concat!(stringify!($name), "\0"));

        /// # Safety
        /// As the C library's function of this name.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(signal: c_int, handler: sighandler_t) -> sighandler_t {
            // SAFETY: the caller's promise.
            unsafe { set_simply(&$next, signal, handler) }
        }
    )*};
}

simple! {
    SIGNAL signal
    BSD_SIGNAL bsd_signal
    SSIGNAL ssignal
    SYSV_SIGNAL __sysv_signal
    SYSV_SIGNAL_OLD sysv_signal
}

unsafe fn set_simply(function: &Next, signal: c_int, to: sighandler_t) -> sighandler_t {
    let real = function.find();
    if real.is_null() {
        return libc::SIG_ERR;
    }
    // SAFETY: the C library's function of this name and type.
    let real: unsafe extern "C" fn(c_int, sighandler_t) -> sighandler_t = unsafe { std::mem::transmute(real) };
    // SAFETY: the caller's promise.
    let before = unsafe { real(signal, to) };
    match cover_of(signal) {
        Some(cover) if before != libc::SIG_ERR => {
            program_has_set(signal, to);
            if before == handler() { cover.beneath().sa_sigaction } else { before }
        }
        _ => before,
    }
}

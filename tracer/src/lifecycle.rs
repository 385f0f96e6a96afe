//! The lifecycle of a traced process: inert until `MPI_Init` has succeeded, recording until `MPI_Finalize`, inert again.
//!
//! The library is also preloaded into shells, launchers and children of the program. As they call no function of MPI,
//! nothing happens in them: no file, no thread, and no message except for a rank that is [not seen](never_called).
//!
//! | the process | the trace |
//! | --- | --- |
//! | calls `MPI_Finalize` | complete, and gathered if requested, in that call: after the program's callbacks, before MPI is finalized |
//! | exits without | closed by the last handler of `exit`, as unfinished |
//! | calls `MPI_Abort` | closed before the library ends the process |
//! | ends otherwise: `_exit`, `exec`, an MPI error, a signal | closed by the [flush thread](termination), as unfinished |
//! | forks | the child records nothing |
//! | is killed | as it was at the last flush |
//!
//! Tracing errors are reported once, and the program continues untraced. Only an invalid configuration ends the
//! program, before `MPI_Init`: a run without the requested trace would be useless.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use titr_common::collectives::{Selection, UnknownAlgorithm};
use titr_common::event::ThreadId;
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::units::Instructions;
use titr_config::{Config, CountedThreads, Mode};
use titr_wrappers::functions::process::{MPI_Abort, MPI_Finalize, MPI_Session_finalize, Process};
use titr_wrappers::{
    Abi, Call, Effect, Function, Real, Tool, as_program, bypasses, functions_in_progress, install, is_in_call,
    tool_word,
};

use crate::call_sites::CallSites;
use crate::counter::{Calibration, Source, hook_overhead};
use crate::extended::{self, Engine};
use crate::gather::Gather;
use crate::hook;
use crate::launched;
use crate::never_called;
use crate::open::{Opened, open};
use crate::pmpi;
use crate::process_time::{BeforeInit, ProcessClock};
use crate::record::{Recorder, RecorderOptions};
use crate::stderr::{self, log};
use crate::termination::{self, Order, Recording};
use crate::threads::{SharedRecorder, Thread};

/// The exit status of a program that an error of the tracer ends.
const FAILURE: i32 = 1;

static TRACER: Tracer = Tracer {
    begun: AtomicBool::new(false),
    recording: AtomicBool::new(false),
    ends_in_finalize: AtomicBool::new(false),
    recorder: SharedRecorder::empty(),
    gather: Mutex::new(None),
    counters: OnceLock::new(),
    engine: OnceLock::new(),
    call_sites: OnceLock::new(),
    process: OnceLock::new(),
};

thread_local! {
    static END: ThreadEnd = const { ThreadEnd };
}

/// Ends the state of a thread when the thread ends.
struct ThreadEnd;

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        if tool_word().get().is_null() || is_main_thread() {
            return;
        }
        let mut thread = take_own_thread();
        if TRACER.recording.load(Ordering::Relaxed) {
            thread.stop();
            TRACER.recorder.leave(&mut thread);
            TRACER.process.get().into_iter().for_each(ProcessClock::leave);
        }
    }
}

/// Whether this is the thread whose values are destroyed in `exit`, after which it continues.
fn is_main_thread() -> bool {
    // SAFETY: both only query a number.
    unsafe { libc::getpid() == libc::gettid() }
}

/// The state of the calling thread, from `Box`; `None` before its first call. It remains if a call does not return, and
/// has no destructor: `exit` destroys a thread's values before it runs handlers and destructors, which may call MPI.
#[inline]
fn own_thread() -> Option<&'static mut Thread> {
    // SAFETY: of `Box`, and destroyed by this thread alone. The thread is in no other call that uses it: it has left those
    // calls, or does not return to them before recording ends.
    unsafe { tool_word().get().cast::<Thread>().as_mut() }
}

/// The state of the calling thread, which has one, and finds none from now on.
fn take_own_thread() -> Box<Thread> {
    // SAFETY: of `Box` (see `own_thread`); the thread has left its calls.
    unsafe { Box::from_raw(tool_word().replace(ptr::null_mut()).cast()) }
}

unsafe extern "C" {
    /// Has `exit` call a function with an argument, before those that were registered earlier (Itanium C++ ABI §3.3.6).
    fn __cxa_atexit(function: extern "C" fn(), argument: *mut c_void, object: *mut c_void) -> c_int;
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
}

/// Runs when the process exits.
extern "C" fn at_exit() {
    TRACER.end(termination::at_exit());
}

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = {
    extern "C" fn on_load() {
        stderr::remember();
        termination::prepare();
        install(&TRACER);
        // SAFETY: the handler is a function of this library, which is never unloaded, and may run at any time. As it belongs to
        // no object and is registered before the program starts, it runs when the destructors of all objects have run.
        unsafe { __cxa_atexit(at_exit, ptr::null_mut(), ptr::null_mut()) };
        termination::keep_status();
        launched::loaded();
        never_called::watch();
    }
    on_load
};

struct Tracer {
    /// Whether `MPI_Init` was called.
    begun: AtomicBool,
    recording: AtomicBool,
    /// Whether the library tells when `MPI_Finalize` has called the program's callbacks.
    ends_in_finalize: AtomicBool,
    recorder: SharedRecorder,
    /// The way to gather the trace once it is complete.
    gather: Mutex<Option<Gather>>,
    counters: OnceLock<Source>,
    /// The extended mode, if the trace is extended.
    engine: OnceLock<Engine>,
    /// The call sites of the process, if they are recorded.
    call_sites: OnceLock<CallSites>,
    /// The clocks of the process, if they are known.
    process: OnceLock<ProcessClock>,
}

impl Tool for Tracer {
    fn call(&self, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        match call {
            Call::Process(Process::MPI_Init(..) | Process::MPI_Init_thread(..)) if self.is_first() => {
                self.init(function, real);
            }
            Call::Process(Process::MPI_Finalize()) => self.finalize(call, real),
            Call::Process(Process::MPI_Abort(..)) => self.end(Ended::Abort),
            // Relaxed: the data needed for recording is behind the recorder's lock.
            _ if self.recording.load(Ordering::Relaxed) => match own_thread() {
                Some(thread) => hook::call(&self.recorder, function, call, real, thread),
                None => self.first_call(function, call, real),
            },
            _ if ptr::eq(function, &MPI_Session_finalize) && !self.begun.load(Ordering::Relaxed) => {
                never_called::forget();
                log(format_args!(
                    "not tracing: the program uses sessions alone, and without MPI_Init there is no world"
                ));
            }
            _ => {}
        }
    }

    fn nested_call(&self, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        match call {
            Call::Process(Process::MPI_Finalize()) => self.finalize(call, real),
            Call::Process(Process::MPI_Abort(..)) => self.end(Ended::Abort),
            _ if self.recording.load(Ordering::Relaxed) => {
                let mut around = functions_in_progress();
                around.pop();
                let mut thread = inside(&around);
                hook::call(&self.recorder, function, call, real, &mut thread);
            }
            _ => {}
        }
    }

    fn left(&self, function: &'static Function, is_nested: bool) {
        if !self.recording.load(Ordering::Relaxed) {
            return;
        }
        let mut nested = is_nested.then(|| inside(&functions_in_progress()));
        if let Some(thread) = nested.as_mut().or_else(|| own_thread()) {
            if function.effect == Effect::Local {
                thread.stop();
            }
            self.recorder.abandon(thread, function);
            thread.start();
        }
    }

    fn unknown_library(&self, library: &str) {
        never_called::forget();
        log(format_args!("not tracing: this is no MPI library that titr knows ({library})"));
    }

    fn panicked(&self) {
        log(format_args!("an error in titr itself, please report it; the trace ends here and the program goes on"));
        if self.recording.swap(false, Ordering::AcqRel)
            && let Some(recorder) = self.recorder.take(None)
        {
            let _ = recorder.end(Ended::Exit, None);
            termination::disarm();
        }
    }
}

impl Tracer {
    fn is_first(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed)
    }

    /// The first call of a thread. The volume that the thread computed before is not known.
    #[cold]
    fn first_call(&self, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        self.process.get().into_iter().for_each(ProcessClock::enter);
        if let Some(counters) = self.counters.get() {
            let thread = adopt(Thread::new(counters, TRACER.engine.get(), TRACER.call_sites.get()));
            hook::call(&self.recorder, function, call, real, thread);
        }
    }

    // Apart from the calls between, which have little room on a coroutine's stack.
    #[inline(never)]
    fn init(&self, function: &Function, real: Real<'_>) {
        never_called::forget();
        let config = Config::from_env().unwrap_or_else(|error| refuse(&error));
        config.check_directory().unwrap_or_else(|error| refuse(&error));
        let counters =
            Source::choose(config.counter, config.rate, Calibration::begin()).unwrap_or_else(|error| refuse(&error));
        let selection = selection(&config).unwrap_or_else(|error| refuse(&error));
        let before = BeforeInit::now();
        if let (true, Ok(abi)) = (real.run(), Abi::current()) {
            let after = before.after();
            let counters = self.measure_hook_overhead(counters, abi).with_reference();
            let call_sites =
                (config.call_sites > 0).then(|| TRACER.call_sites.get_or_init(|| CallSites::new(config.call_sites)));
            if let Some(opened) = open(&config, &counters, abi) {
                let engine = selection.and_then(|selection| Engine::start(abi, selection));
                let process = after.begin(counters.facts()).map(|process| TRACER.process.get_or_init(|| process));
                let opened = Opened { options: RecorderOptions { process, call_sites, ..opened.options }, ..opened };
                let counters = match (config.threads, process) {
                    (CountedThreads::All, Some(process)) => counters.with_others(process),
                    _ => counters,
                };
                self.begin(function, opened, counters, engine);
            }
        }
    }

    /// Measures the overhead of a hook, by sends to `MPI_PROC_NULL`. There is no recorder yet, but everything outside
    /// of the two readings of the counter is in place.
    fn measure_hook_overhead(&self, counters: Source, abi: &Abi) -> Source {
        adopt(Thread::new(&counters, None, None)).start();
        self.recording.store(true, Ordering::Relaxed);
        let counted = || own_thread().map_or(0.0, |thread| thread.take_computed().0);
        let added = as_program(|| hook_overhead::measure(|| hook_overhead::send_to_nobody(abi), counted));
        self.recording.store(false, Ordering::Relaxed);
        drop(take_own_thread());
        counters.with_hook(Instructions(added))
    }

    fn begin(&self, function: &Function, opened: Opened, counters: Source, engine: Option<Engine>) {
        extern "C-unwind" fn last_in_finalize() {
            TRACER.end(Ended::Finalize);
        }
        extern "C" fn in_child() {
            TRACER.recording.store(false, Ordering::Relaxed);
            stderr::close_copy();
        }
        // SAFETY: the handlers are functions of this library, which is never unloaded, and may run at any time.
        unsafe {
            at_quick_exit(at_exit);
            libc::pthread_atfork(None, None, Some(in_child));
        }
        let Opened { abi, sink, world_size, options, gather } = opened;
        *self.gather.lock().unwrap_or_else(PoisonError::into_inner) = gather;
        let engine = engine.map(|engine| TRACER.engine.get_or_init(|| engine));
        let call_sites = options.call_sites;
        let flush_thread = sink.flush_thread();
        stderr::keep_copy();
        let thread = adopt(Thread::new(self.counters.get_or_init(|| counters), engine, call_sites));
        self.recorder.fill(Recorder::new(abi, sink, world_size, options, engine));
        self.recorder.admit(thread);
        let moment = thread.moment();
        self.recorder.with(thread, |recorder, _| recorder.begin(function, moment));
        self.ends_in_finalize.store(pmpi::at_finalize(abi, last_in_finalize).is_ok(), Ordering::Relaxed);
        self.recording.store(true, Ordering::Release);
        termination::arm(&TRACER, flush_thread);
        thread.start();
    }

    /// Ends the trace in the real call, once the program's callbacks have run.
    #[inline(never)]
    fn finalize(&self, call: &Call<'_>, real: Real<'_>) {
        if self.recording.load(Ordering::Relaxed) {
            if let Some(thread) = own_thread() {
                if goes_on_in(calls_left()) {
                    thread.stop();
                }
                thread.locate(call, real);
            }
            if self.ends_in_finalize.load(Ordering::Relaxed) {
                real.run();
                // The library has called `last_in_finalize`, unless it has failed.
                self.end(Ended::Exit);
            } else {
                self.end(Ended::Finalize);
            }
        }
    }

    #[inline(never)]
    fn end(&self, ended: Ended) {
        if self.recording.swap(false, Ordering::AcqRel) {
            let entry = self.end_trace(own_thread(), ended);
            if entry.is_none() {
                log(format_args!("the trace is not complete: the program ends while it is being written"));
            }
            termination::disarm();
            let gather = self.gather.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let (Ended::Finalize, Some(gather), Ok(abi)) = (ended, gather, Abi::current()) {
                gather.run(abi, entry);
            }
        }
    }

    fn end_trace(&self, mut thread: Option<&mut Thread>, ended: Ended) -> Option<RankEntry> {
        if let Some(thread) = thread.as_mut().filter(|_| ended != Ended::Finalize && goes_on_in(calls_left())) {
            thread.stop();
        }
        let moment = thread.as_ref().and_then(|thread| thread.moment());
        let site = thread.as_ref().and_then(|thread| thread.site());
        let mut recorder = self.recorder.take(thread)?;
        calls_left().for_each(|function| recorder.abandon(function));
        recorder.stream().unseen(bypasses());
        if let Some(site) = site {
            recorder.stream().begin_call(site);
        }
        recorder.stream().begin_annotations(moment);
        recorder.end(ended, (ended == Ended::Finalize).then_some(&MPI_Finalize))
    }
}

/// The calls that the calling thread is in and that are not recorded if the trace ends now: all but the one that ends it.
fn calls_left() -> impl Iterator<Item = &'static Function> {
    let is_end = |function: &Function| [&MPI_Finalize, &MPI_Abort].into_iter().any(|end| ptr::eq(end, function));
    functions_in_progress().into_iter().filter(move |function| !is_end(function))
}

/// Whether the counter of a thread goes on inside these calls: if they concern the caller only, the computation of their
/// callbacks is the program's, and otherwise a part of the call.
fn goes_on_in(calls: impl IntoIterator<Item = &'static Function>) -> bool {
    calls.into_iter().all(|function| function.effect == Effect::Local)
}

/// The calling thread inside these calls, for a call of a callback.
fn inside(calls: &[&'static Function]) -> Thread {
    let goes_on = goes_on_in(calls.iter().copied());
    Thread::inside_call(goes_on, TRACER.engine.get(), TRACER.call_sites.get())
}

/// Keeps the state of the calling thread until it ends.
fn adopt(thread: Thread) -> &'static mut Thread {
    // If the thread is ending, its state is kept until the end and never freed.
    let _ = END.try_with(|_| ());
    let thread = Box::into_raw(Box::new(thread));
    tool_word().set(thread.cast());
    // SAFETY: of `Box`; freed by this thread alone when it ends.
    unsafe { &mut *thread }
}

impl Recording for Tracer {
    fn hand_over(&self) -> bool {
        self.recorder.try_with(false, |recorder| recorder.stream().hand_over()).unwrap_or(false)
    }

    fn close(&self, order: Order) -> bool {
        self.recorder.try_with(true, |recorder| recorder.close(order)).unwrap_or(false)
    }

    fn computed(&self) -> Option<(ThreadId, Instructions)> {
        // In a call, its state is in use, and the computation before the call is about to be recorded.
        if is_in_call() { None } else { own_thread().and_then(Thread::interrupt) }
    }
}

/// Prints the error and ends the program: the requested tracing is impossible.
fn refuse<T>(error: &dyn std::error::Error) -> T {
    stderr::log_last(format_args!("{error}"));
    std::process::exit(FAILURE)
}

/// The algorithms of the extended mode, if the trace is extended.
fn selection(config: &Config) -> Result<Option<Selection>, UnknownAlgorithm> {
    match (config.mode, Abi::current()) {
        (Mode::Extended, Ok(abi)) if config.collectives.trim() == "observe" => {
            stderr::log(format_args!(
                "TITRACE_COLLECTIVES=observe is gone: titr carries out blocking collectives by the library's algorithms"
            ));
            extended::selection(abi, "").map(Some)
        }
        (Mode::Extended, Ok(abi)) => extended::selection(abi, &config.collectives).map(Some),
        // A program with a library of no known family is not traced.
        (Mode::Extended, Err(_)) | (Mode::Ti, _) => Ok(None),
    }
}

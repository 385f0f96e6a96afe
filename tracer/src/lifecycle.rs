//! The lifecycle of a traced process: inert until `MPI_Init` has succeeded, recording until `MPI_Finalize`, inert again.
//!
//! The library is preloaded into shells, launchers and children of the program as well. There no function of MPI is
//! called, and nothing happens: no file, no thread, and no word but for a rank that is [not seen](never_called).
//!
//! | the process | the trace |
//! | --- | --- |
//! | calls `MPI_Finalize` | complete, and gathered if that was asked for, before MPI is gone |
//! | exits without | closed by an `atexit` handler, as unfinished |
//! | calls `MPI_Abort` | closed before the library ends the process |
//! | forks | the child records nothing, whatever it does |
//! | is killed | as it was at the last flush |
//!
//! Whatever goes wrong in tracing is said once, and the program goes on untraced. Only a wrong configuration ends the
//! program, before `MPI_Init`: nobody wants the result of a run that was not traced as it was asked to be.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use titr_common::collectives::UnknownAlgorithm;
use titr_common::event::{Annotation, Span};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::units::Instructions;
use titr_config::{Config, CountedThreads, Mode};
use titr_wrappers::functions::process::{MPI_Session_finalize, Process};
use titr_wrappers::{Abi, Call, Function, Real, Tool, as_program, install};

use crate::call_sites::CallSites;
use crate::counter::{self, Calibration, Source};
use crate::extended::{self, Engine, Settings};
use crate::gather::Gather;
use crate::hook;
use crate::never_called;
use crate::open::{Opened, open};
use crate::process_time::{BeforeInit, ProcessClock};
use crate::record::{Recorder, RecorderOptions};
use crate::stderr::log;
use crate::threads::{SharedRecorder, Thread};

/// The exit status of a program that an error of the tracer ends.
const FAILURE: i32 = 1;

static TRACER: Tracer = Tracer {
    begun: AtomicBool::new(false),
    recording: AtomicBool::new(false),
    recorder: SharedRecorder::empty(),
    gather: Mutex::new(None),
    counters: OnceLock::new(),
    engine: OnceLock::new(),
    call_sites: OnceLock::new(),
    process: OnceLock::new(),
};

thread_local! {
    /// The counter of this thread and what goes with it; taken out while a call is recorded.
    static THREAD: Cell<Option<Own>> = const { Cell::new(None) };
}

/// A thread of the program, until it ends.
struct Own(Box<Thread>);

impl Drop for Own {
    fn drop(&mut self) {
        if TRACER.recording.load(Ordering::Relaxed) {
            self.0.stop();
            TRACER.recorder.leave(&mut self.0);
            TRACER.process.get().into_iter().for_each(ProcessClock::leave);
        }
    }
}

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = {
    extern "C" fn on_load() {
        install(&TRACER);
        never_called::watch();
    }
    on_load
};

struct Tracer {
    /// Whether `MPI_Init` was called.
    begun: AtomicBool,
    recording: AtomicBool,
    recorder: SharedRecorder,
    /// The way to gather the trace once it is complete.
    gather: Mutex<Option<Gather>>,
    /// The source of the threads' counters.
    counters: OnceLock<Source>,
    /// The extended mode, if that is what is recorded.
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
            Call::Process(Process::MPI_Finalize()) => self.end(Ended::Finalize, Some((function, call, real))),
            Call::Process(Process::MPI_Abort(..)) => self.end(Ended::Abort, None),
            // Relaxed: what recording needs is behind the recorder's lock.
            _ if self.recording.load(Ordering::Relaxed) => self.record(function, call, real),
            _ if ptr::eq(function, &MPI_Session_finalize) && !self.begun.load(Ordering::Relaxed) => {
                never_called::forget();
                log(format_args!(
                    "not tracing: the program uses sessions alone, and without MPI_Init there is no world"
                ));
            }
            _ => {}
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
        }
    }
}

impl Tracer {
    fn is_first(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed)
    }

    fn record(&self, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        // A thread that ends has no counter any more; its calls are not recorded.
        let _ = THREAD.try_with(|own| {
            if let Some(mut thread) = own.take().or_else(|| self.new_thread()) {
                hook::call(&self.recorder, &mut thread.0, function, call, real);
                own.set(Some(thread));
            }
        });
    }

    /// The state of a thread at its first call. The volume that it computed before is not known.
    #[cold]
    fn new_thread(&self) -> Option<Own> {
        self.process.get().into_iter().for_each(ProcessClock::enter);
        self.counters
            .get()
            .map(|counters| Own(Box::new(Thread::new(counters, TRACER.engine.get(), TRACER.call_sites.get()))))
    }

    // Apart from the calls between, which have little room on a coroutine's stack.
    #[inline(never)]
    fn init(&self, function: &Function, real: Real<'_>) {
        never_called::forget();
        let config = Config::from_env().unwrap_or_else(|error| refuse(&error));
        config.check_directory().unwrap_or_else(|error| refuse(&error));
        let counters =
            Source::choose(config.counter, config.rate, Calibration::begin()).unwrap_or_else(|error| refuse(&error));
        let settings = settings(&config).unwrap_or_else(|error| refuse(&error));
        let before = BeforeInit::now();
        if let (true, Ok(abi)) = (real.run(), Abi::current()) {
            let after = before.after();
            let counters = self.measure_hook_overhead(counters, abi).with_reference();
            let call_sites =
                (config.call_sites > 0).then(|| TRACER.call_sites.get_or_init(|| CallSites::new(config.call_sites)));
            if let Some(opened) = open(&config, &counters, abi, call_sites) {
                let engine = settings.and_then(|settings| Engine::start(abi, settings));
                let process = after.begin(counters.facts()).map(|process| &*TRACER.process.get_or_init(|| process));
                let opened = Opened { options: RecorderOptions { process, ..opened.options }, ..opened };
                let counters = match (config.threads, process) {
                    (CountedThreads::All, Some(process)) => counters.with_others(process),
                    _ => counters,
                };
                self.begin(function, opened, counters, engine);
            }
        }
    }

    /// Finds out what a hook adds to a volume, by sends to nobody. There is no recorder yet, but all that lies outside of the
    /// two readings of the counter is there.
    fn measure_hook_overhead(&self, counters: Source, abi: &Abi) -> Source {
        unsafe extern "C" {
            fn PMPI_Send(buf: usize, count: usize, datatype: usize, dest: usize, tag: usize, comm: usize) -> usize;
        }
        let (datatype, dest, comm) = (abi.byte.raw(), abi.proc_null as usize, abi.comm_self.raw());
        let send = || {
            // SAFETY: our own function of this name (`MPI_Send` may be another tool's), which takes its arguments as words; no data is moved.
            unsafe { PMPI_Send(0, 0, datatype, dest, 0, comm) };
        };
        let mut thread = Thread::new(&counters, None, None);
        thread.start();
        THREAD.set(Some(Own(Box::new(thread))));
        self.recording.store(true, Ordering::Relaxed);
        let added = as_program(|| counter::hook_overhead::measure(send, || discard().0));
        self.recording.store(false, Ordering::Relaxed);
        THREAD.take();
        counters.with_hook(Instructions(added))
    }

    fn begin(&self, function: &Function, opened: Opened, counters: Source, engine: Option<Engine>) {
        extern "C" fn at_exit() {
            TRACER.end(Ended::Exit, None);
        }
        extern "C" fn in_child() {
            TRACER.recording.store(false, Ordering::Relaxed);
        }
        // SAFETY: both handlers are functions of this library, which is never unloaded, and may run at any time.
        unsafe {
            libc::atexit(at_exit);
            libc::pthread_atfork(None, None, Some(in_child));
        }
        let Opened { abi, sink, world_size, options, gather } = opened;
        *self.gather.lock().unwrap_or_else(PoisonError::into_inner) = gather;
        let engine = engine.map(|engine| TRACER.engine.get_or_init(|| engine));
        let call_sites = options.call_sites;
        let mut thread = Box::new(Thread::new(self.counters.get_or_init(|| counters), engine, call_sites));
        self.recorder.fill(Recorder::new(abi, sink, world_size, options, engine));
        self.recorder.with(&mut thread, |recorder, _| recorder.begin(function));
        self.recording.store(true, Ordering::Release);
        thread.start();
        THREAD.set(Some(Own(thread)));
    }

    /// Ends the trace, by a call of the program if it is one.
    #[inline(never)]
    fn end(&self, ended: Ended, call: Option<(&Function, &Call<'_>, Real<'_>)>) {
        if self.recording.swap(false, Ordering::AcqRel) {
            let mut thread = THREAD.try_with(Cell::take).ok().flatten();
            if let (Some(own), Some((_, call, real))) = (&mut thread, call) {
                own.0.locate(call, real);
            }
            let function = call.map(|(function, ..)| function);
            let entry = self.end_trace(thread.as_mut().map(|own| &mut *own.0), ended, function);
            if entry.is_none() {
                log(format_args!("the trace is not complete: the program ends while it is being written"));
            }
            let gather = self.gather.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let (Ended::Finalize, Some(gather), Ok(abi)) = (ended, gather, Abi::current()) {
                gather.run(abi, entry);
            }
        }
    }

    fn end_trace(
        &self,
        mut thread: Option<&mut Thread>,
        ended: Ended,
        function: Option<&Function>,
    ) -> Option<RankEntry> {
        if let Some(thread) = &mut thread {
            thread.stop();
        }
        let now = thread.as_ref().and_then(|thread| thread.now());
        let site = thread.as_ref().and_then(|thread| thread.site());
        let mut recorder = self.recorder.take(thread)?;
        if let Some(site) = site {
            recorder.begin_call(site);
        }
        if let Some(now) = now {
            recorder.begin_annotations(Annotation::Call(Span { begin: now, end: now }));
        }
        recorder.end(ended, function)
    }
}

/// Forgets the volume that this thread has computed and not recorded, and returns it.
fn discard() -> Instructions {
    let mut thread = THREAD.take();
    let volume = thread.as_mut().map_or(Instructions(0.0), |thread| thread.0.take_computed());
    THREAD.set(thread);
    volume
}

/// The program asked for something that cannot be done.
fn refuse<T>(error: &dyn std::error::Error) -> T {
    log(format_args!("{error}"));
    std::process::exit(FAILURE)
}

/// The settings of the extended mode, if that is what is recorded.
fn settings(config: &Config) -> Result<Option<Settings>, UnknownAlgorithm> {
    match (config.mode, Abi::current()) {
        (Mode::Extended, Ok(abi)) => extended::settings(abi, &config.collectives).map(Some),
        // A program with a library of no known family is not traced.
        (Mode::Extended, Err(_)) | (Mode::TimeIndependent, _) => Ok(None),
    }
}

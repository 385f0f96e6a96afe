//! The life of a traced process: inert until `MPI_Init` has succeeded, recording until `MPI_Finalize`, inert again.
//!
//! The library is preloaded into shells, launchers and children of the program as well. There no function of MPI is
//! called, and nothing happens: no file, no thread, no word.
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
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use titr_common::collectives::{Selection, UnknownAlgorithm};
use titr_common::event::Rank;
use titr_common::trace::Manifest;
use titr_common::trace::manifest::{self, Ended};
use titr_common::units::Instructions;
use titr_wrappers::functions::process::{MPI_Session_finalize, Process};
use titr_wrappers::{Abi, Call, Function, Real, Tool, as_program, install, pmpi};

use crate::config::{Config, Mode};
use crate::counter::{self, Calibration, Source};
use crate::directory::{self, Claim, DirectoryError};
use crate::extended::{self, Clock, Extended};
use crate::gather::Gather;
use crate::notice::tell;
use crate::record::{Recorder, Slot, Thread};
use crate::sink::{self, Sink};

/// What an error that ends the program ends it with.
const FAILURE: i32 = 1;

static TRACER: Tracer = Tracer {
    begun: AtomicBool::new(false),
    recording: AtomicBool::new(false),
    recorder: Slot::empty(),
    gather: Mutex::new(None),
    counters: OnceLock::new(),
    clock: OnceLock::new(),
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
            TRACER.recorder.leave(&mut self.0);
        }
    }
}

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = {
    extern "C" fn on_load() {
        install(&TRACER);
    }
    on_load
};

struct Tracer {
    /// Whether `MPI_Init` was called.
    begun: AtomicBool,
    recording: AtomicBool,
    recorder: Slot<Recorder>,
    /// What is to be done with the trace once it is complete.
    gather: Mutex<Option<Gather>>,
    /// What threads measure computation with, from the beginning on.
    counters: OnceLock<Source>,
    /// What extended traces time calls by.
    clock: OnceLock<Clock>,
}

impl Tool for Tracer {
    fn call(&self, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        match call {
            Call::Process(Process::MPI_Init(..) | Process::MPI_Init_thread(..)) if self.is_first() => self.init(real),
            Call::Process(Process::MPI_Finalize()) => self.end(Ended::Finalize),
            Call::Process(Process::MPI_Abort(..)) => self.end(Ended::Abort),
            // Relaxed: what recording needs is behind the recorder's lock.
            _ if self.recording.load(Ordering::Relaxed) => self.record(function, call, real),
            _ if ptr::eq(function, &MPI_Session_finalize) && !self.begun.load(Ordering::Relaxed) => {
                tell(format_args!(
                    "not tracing: the program uses sessions alone, and without MPI_Init there is no world"
                ));
            }
            _ => {}
        }
    }

    fn unknown_library(&self, library: &str) {
        tell(format_args!("not tracing: this is no MPI library that titr knows ({library})"));
    }

    fn panicked(&self) {
        tell(format_args!("an error in titr itself, please report it; the trace ends here and the program goes on"));
        if self.recording.swap(false, Ordering::AcqRel) {
            let _ = self.recorder.end(None, Ended::Exit);
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
                self.recorder.record(&mut thread.0, function, call, real);
                own.set(Some(thread));
            }
        });
    }

    /// What a thread computed before its first call is not known.
    #[cold]
    fn new_thread(&self) -> Option<Own> {
        self.counters.get().map(|counters| Own(Box::new(Thread::new(counters, self.clock.get().copied()))))
    }

    fn init(&self, real: Real<'_>) {
        let config = Config::from_env().unwrap_or_else(|error| refuse(&error));
        let counters = Source::choose(&config, Calibration::begin()).unwrap_or_else(|error| refuse(&error));
        let selection = selection(&config).unwrap_or_else(|error| refuse(&error));
        if let (true, Ok(abi)) = (real.run(), Abi::current()) {
            let counters = self.rehearse(counters, abi).with_yardstick();
            let opened =
                open(&config, &counters, abi, selection.map(|(selection, observe)| Extended::new(selection, observe)));
            if let Some((recorder, gather)) = all_or_none(&config, abi, opened) {
                *self.gather.lock().unwrap_or_else(PoisonError::into_inner) = gather;
                self.begin(recorder, counters);
            }
        }
    }

    /// Finds out what a hook adds to a volume, by sends to nobody. There is no recorder yet, but all that lies outside of the
    /// two readings of the counter is there.
    fn rehearse(&self, counters: Source, abi: &Abi) -> Source {
        unsafe extern "C" {
            fn MPI_Send(buf: usize, count: usize, datatype: usize, dest: usize, tag: usize, comm: usize) -> usize;
        }
        let (datatype, dest, comm) = (abi.byte.raw(), abi.proc_null as usize, abi.comm_self.raw());
        let send = || {
            // SAFETY: our own function of this name, which takes its arguments as words; no data is moved.
            unsafe { MPI_Send(0, 0, datatype, dest, 0, comm) };
        };
        let mut thread = Thread::new(&counters, None);
        thread.start();
        THREAD.set(Some(Own(Box::new(thread))));
        self.recording.store(true, Ordering::Relaxed);
        let added = as_program(|| counter::hook::measure(send, || discard().0));
        self.recording.store(false, Ordering::Relaxed);
        THREAD.take();
        counters.with_hook(Instructions(added))
    }

    fn begin(&self, mut recorder: Recorder, counters: Source) {
        extern "C" fn at_exit() {
            TRACER.end(Ended::Exit);
        }
        extern "C" fn in_child() {
            TRACER.recording.store(false, Ordering::Relaxed);
        }
        // SAFETY: both handlers are functions of this library, which is never unloaded, and may run at any time.
        unsafe {
            libc::atexit(at_exit);
            libc::pthread_atfork(None, None, Some(in_child));
        }
        if let Some(clock) = recorder.set_out() {
            self.clock.get_or_init(|| clock);
        }
        let mut thread = Box::new(Thread::new(self.counters.get_or_init(|| counters), self.clock.get().copied()));
        self.recorder.fill(recorder, &mut thread);
        self.recording.store(true, Ordering::Release);
        thread.start();
        THREAD.set(Some(Own(thread)));
    }

    fn end(&self, ended: Ended) {
        if self.recording.swap(false, Ordering::AcqRel) {
            let mut thread = THREAD.try_with(Cell::take).ok().flatten();
            let entry = self.recorder.end(thread.as_mut().map(|own| &mut *own.0), ended);
            if entry.is_none() {
                tell(format_args!("the trace is not complete: the program ends while it is being written"));
            }
            let gather = self.gather.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let (Ended::Finalize, Some(gather), Ok(abi)) = (ended, gather, Abi::current()) {
                gather.run(abi, entry);
            }
        }
    }
}

/// What this thread has computed and not recorded is forgotten.
fn discard() -> Instructions {
    let mut thread = THREAD.take();
    let volume = thread.as_mut().map_or(Instructions(0.0), |thread| thread.0.discard());
    THREAD.set(thread);
    volume
}

/// The program asked for something that cannot be done.
fn refuse<T>(error: &dyn std::error::Error) -> T {
    tell(format_args!("{error}"));
    std::process::exit(FAILURE)
}

/// The algorithms of an extended trace, and whether the library is watched instead.
fn selection(config: &Config) -> Result<Option<(Selection, bool)>, UnknownAlgorithm> {
    match (config.mode, Abi::current()) {
        (Mode::Extended, Ok(abi)) => extended::selection(abi, &config.collectives).map(Some),
        // What is no library of a known family is not traced.
        (Mode::Extended, Err(_)) | (Mode::TimeIndependent, _) => Ok(None),
    }
}

/// In an extended trace every member of a collective has to take part in what the tracer makes of it.
fn all_or_none<T>(config: &Config, abi: &Abi, opened: Option<T>) -> Option<T> {
    match config.mode {
        Mode::TimeIndependent => opened,
        Mode::Extended => {
            let everybody = pmpi::allreduce(abi, i64::from(opened.is_some()), abi.min, abi.comm_world) == Some(1);
            if !everybody && opened.is_some() {
                tell(format_args!("this rank is not traced: another one cannot be, and the trace was to be extended"));
            }
            opened.filter(|_| everybody)
        }
    }
}

/// Opens the trace of this rank. Collective, and all ranks agree whether there is a directory, and whether to gather.
fn open(
    config: &Config,
    counters: &Source,
    abi: &'static Abi,
    extended: Option<Extended>,
) -> Option<(Recorder, Option<Gather>)> {
    let world = abi.comm_world;
    let rank = Rank(u32::try_from(pmpi::comm_rank(world)).ok()?);
    let size = u32::try_from(pmpi::comm_size(world)).ok()?;
    // Without agreement nothing is written: the largest number says so to `claim`.
    let agree = |value| pmpi::allreduce(abi, value, abi.max, world).unwrap_or(i64::MAX);
    let Claim { path: directory, place } = match directory::claim(config, rank, agree) {
        Ok(claim) => claim,
        // The rank where it failed says why.
        Err(DirectoryError::Elsewhere) => return None,
        Err(error) => {
            tell(format_args!("not tracing: {error}"));
            return None;
        }
    };
    let counter = counters.describe();
    if config.verbose && rank == Rank(0) {
        tell(format_args!("tracing to {}, computation is {}", directory.display(), counter.unit));
    }
    let run = (rank == Rank(0)).then(|| run(config, size, &abi.library));
    let sink = Sink::open(config, &directory, run.clone(), sink::begin(place.run.clone(), rank, counter), size);
    let gather = Gather::plan(config, &place, &directory, sink.is_ok(), run, agree);
    match sink {
        Ok(sink) => Some((Recorder::new(abi, sink, size, counters.precision(), extended), gather)),
        Err(error) => {
            not_written(&directory, &error);
            None
        }
    }
}

fn not_written(directory: &Path, error: &std::io::Error) {
    tell(format_args!("this rank is not traced: {}: {error}", directory.display()));
}

/// What rank 0 knows of the whole run.
fn run(config: &Config, ranks: u32, mpi: &str) -> Manifest {
    // The arguments as the kernel has them: a library is told nothing.
    let arguments = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let arguments = arguments.split(|&byte| byte == 0).filter(|argument| !argument.is_empty());
    Manifest {
        titr: manifest::VERSION,
        mode: match config.mode {
            Mode::TimeIndependent => manifest::Mode::Ti,
            Mode::Extended => manifest::Mode::Extended,
        },
        ranks,
        command: arguments.map(|argument| String::from_utf8_lossy(argument).into_owned()).collect(),
        mpi: mpi.to_owned(),
        config: config.effective(),
        per_rank: Vec::new(),
    }
}

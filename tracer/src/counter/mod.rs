//! Measures the computation of a thread between two MPI calls.
//!
//! The volume in a trace should be a number of *instructions*: it depends on the program and its data, not on the
//! machine's clock or load, or on the number of ranks that share a core. Processors count them, and two libraries give
//! access: [PAPI](papi) and the kernel's [perf events](perf). Many virtual machines and containers have no such
//! counter. An [emulator](emulated) counts them anywhere, but slows the program down. The usual substitute is the
//! thread's [CPU time](cpu), times a given rate: it also excludes other programs on the same core, but it depends on
//! this machine. Elapsed time is never used: several ranks on a core would change it.
//!
//! Readings cost time, and a part of each hook is between two of them: on the way out after [`Counter::start`], on the
//! way in before [`Counter::stop`]. This overhead is [measured](hook_overhead) once and subtracted from every volume.
//!
//! A counter belongs to one thread. The program's computation is between [`Counter::start`], on the way out of an MPI
//! call, and [`Counter::stop`], on the way into the next. Other threads, including the flush thread, have counters of
//! their own.

mod cpu;
mod emulated;
mod extrapolation;
pub(crate) mod hook_overhead;
#[cfg(feature = "papi")]
mod papi;
mod perf;
mod preemption_flag;
mod reference_kernel;
mod rounding;
#[cfg(test)]
mod tests;
mod tsc;

use thiserror::Error;
use titr_common::trace::manifest;
use titr_common::units::Instructions;
use titr_config::CounterChoice;

use crate::process_time::{CounterFacts, ProcessClock};
use crate::stderr::log;
use cpu::CpuTime;
use emulated::Emulated;
use perf::{Event, Perf};

pub(crate) use rounding::{Precision, Rounding};
pub(crate) use tsc::Calibration;

/// The largest disturbance of a volume by the hook before it, as a multiple of the time that the hook adds to the
/// volume. A hook changes caches and branch predictors, which may lengthen or shorten the following computation by as
/// much as the whole hook takes. Only a part of the hook is between two readings: by the time-stamp counter some 20 of
/// 250 ns among other work, by the thread's clock one of two system calls.
const DISTURBANCE: f64 = 12.0;
const DISTURBANCE_BY_CLOCK: f64 = 2.0;

/// The repeatability of CPU time at best.
const REPEATABLE: f64 = 0.01;

/// A requested counter that does not work here.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("TITRACE_COUNTER={choice}: {reason}")]
pub(crate) struct CounterError {
    choice: CounterChoice,
    reason: String,
}

/// The source of counters for all threads of this process.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    kind: Kind,
    /// In instructions.
    resolution: f64,
    /// The volume that a hook adds to each volume, in instructions.
    hook: f64,
    /// The reference kernel as the counter counts it.
    reference: Option<manifest::ReferenceCount>,
    /// The process whose other threads are counted too.
    others: Option<&'static ProcessClock>,
}

#[derive(Clone, Copy)]
enum Kind {
    #[cfg(feature = "papi")]
    Papi,
    Perf,
    Emulated,
    Cpu {
        /// Instructions per second.
        rate: f64,
        /// If CPU time can be extrapolated.
        calibration: Option<Calibration>,
    },
}

/// A counter of one thread. It cannot be sent to another.
pub(crate) struct Counter {
    meter: Meter,
    hook: f64,
    /// The count when it was stopped last.
    stopped: f64,
    of_this_thread: std::marker::PhantomData<*const ()>,
}

enum Meter {
    #[cfg(feature = "papi")]
    Papi(papi::EventSet),
    Perf(Perf),
    Emulated(Emulated),
    Cpu {
        time: CpuTime,
        instructions_per_ns: f64,
    },
    /// Also counts the computation of threads that do not call MPI. The number is the thread's own count when it was stopped last.
    WithOthers(Box<Meter>, &'static ProcessClock, f64),
    /// Nothing is counted: the counter that works elsewhere does not work in this thread.
    None,
}

impl Source {
    /// Chooses a counter; if it measures CPU time, `rate` is the number of instructions per second. `begun` is a moment
    /// some time ago, such as the beginning of `MPI_Init`, which serves to calibrate the time-stamp counter without
    /// waiting.
    ///
    /// # Errors
    /// If the requested counter does not work here; `auto` always finds one.
    pub(crate) fn choose(choice: CounterChoice, rate: f64, begun: Calibration) -> Result<Self, CounterError> {
        let refused = |reason| CounterError { choice, reason };
        match choice {
            CounterChoice::Auto => {
                // A program that uses PAPI itself would be in our way, and we in its.
                let papi = if papi_is_taken() { None } else { Self::papi().ok() };
                Ok(papi.or_else(|| Self::perf().ok()).unwrap_or_else(|| Self::cpu(rate, begun)))
            }
            CounterChoice::Papi => Self::papi().map_err(refused),
            CounterChoice::Perf => Self::perf().map_err(refused),
            CounterChoice::Cpu => Ok(Self::cpu(rate, begun)),
            CounterChoice::Emulated => Self::emulated().map_err(refused),
        }
    }

    #[cfg(feature = "papi")]
    fn papi() -> Result<Self, String> {
        papi::EventSet::of_this_thread(papi::INSTRUCTIONS).map(|_| Self::of(Kind::Papi, 1.0))
    }

    #[cfg(not(feature = "papi"))]
    fn papi() -> Result<Self, String> {
        Err("this libtitrace.so was built without PAPI".into())
    }

    fn perf() -> Result<Self, String> {
        let works = Perf::of_this_thread(Event::INSTRUCTIONS);
        works.map(|_| Self::of(Kind::Perf, 1.0)).map_err(|error| format!("perf_event_open: {error}"))
    }

    fn emulated() -> Result<Self, String> {
        Emulated::of_this_thread().map(|_| Self::of(Kind::Emulated, 1.0))
    }

    fn cpu(rate: f64, begun: Calibration) -> Self {
        let calibration = CpuTime::can_extrapolate().then_some(begun);
        let resolution = CpuTime::of_this_thread(calibration).resolution() * rate / 1e9;
        Self::of(Kind::Cpu { rate, calibration }, resolution)
    }

    fn of(kind: Kind, resolution: f64) -> Self {
        Self { kind, resolution, hook: 0.0, reference: None, others: None }
    }

    /// A counter of the calling thread, started. A thread has one at a time: two would watch over each other's preemption flag.
    pub(crate) fn open(&self) -> Counter {
        let meter = match self.kind {
            #[cfg(feature = "papi")]
            Kind::Papi => papi::EventSet::of_this_thread(papi::INSTRUCTIONS).map(Meter::Papi),
            Kind::Perf => Perf::of_this_thread(Event::INSTRUCTIONS).map(Meter::Perf).map_err(|error| error.to_string()),
            Kind::Emulated => Emulated::of_this_thread().map(Meter::Emulated),
            Kind::Cpu { rate, calibration } => {
                Ok(Meter::Cpu { time: CpuTime::of_this_thread(calibration), instructions_per_ns: rate / 1e9 })
            }
        };
        let meter = meter.unwrap_or_else(|reason| {
            log(format_args!("a thread's computation is recorded as none, as it cannot be counted: {reason}"));
            Meter::None
        });
        let meter = match self.others {
            Some(process) => Meter::WithOthers(Box::new(meter), process, 0.0),
            None => meter,
        };
        Counter { meter, hook: self.hook, stopped: 0.0, of_this_thread: std::marker::PhantomData }
    }

    /// This source with the volume that a hook adds to each volume.
    pub(crate) fn with_hook(self, added: Instructions) -> Self {
        Self { hook: added.0, ..self }
    }

    /// This source with its count of the reference kernel. Not to be called while the thread has a counter.
    pub(crate) fn with_reference(self) -> Self {
        Self { reference: reference_kernel::measure(&self), ..self }
    }

    /// This source, with counters that also count the computation of other threads of the process.
    pub(crate) fn with_others(self, process: &'static ProcessClock) -> Self {
        Self { others: Some(process), ..self }
    }

    /// The relation of its volumes to CPU time. An instruction takes as long as one of the reference kernel.
    pub(crate) fn facts(&self) -> CounterFacts {
        let of_reference = self.reference.map(|reference| reference.volume / reference.seconds);
        let (per_second, notices_waiting) = match self.kind {
            Kind::Cpu { rate, calibration } => (Some(rate), calibration.is_some()),
            #[cfg(feature = "papi")]
            Kind::Papi => (of_reference, false),
            Kind::Perf | Kind::Emulated => (of_reference, false),
        };
        CounterFacts { per_second, notices_waiting, is_own: emulated::is_emulators }
    }

    /// The precision of a volume: if CPU time is converted to instructions, no better than the overhead of measuring.
    pub(crate) fn precision(&self) -> Precision {
        match self.kind {
            Kind::Cpu { calibration, .. } => {
                let disturbance = if calibration.is_some() { DISTURBANCE } else { DISTURBANCE_BY_CLOCK };
                Precision { absolute: self.resolution.max(disturbance * self.hook), relative: REPEATABLE }
            }
            _ => Precision::EXACT,
        }
    }

    pub(crate) fn describe(&self) -> manifest::Counter {
        let (kind, unit, rate) = match self.kind {
            #[cfg(feature = "papi")]
            Kind::Papi => ("papi", "instructions (PAPI_TOT_INS)", None),
            Kind::Perf => ("perf", "instructions (perf instructions:u)", None),
            Kind::Emulated => ("emulated", "instructions (QEMU plug-in)", None),
            Kind::Cpu { rate, calibration: None } => ("cpu", "CPU time × rate (thread clock)", Some(rate)),
            Kind::Cpu { rate, calibration: Some(_) } => {
                ("cpu", "CPU time × rate (thread clock, extrapolated by time-stamp counter)", Some(rate))
            }
        };
        // To a thousandth: otherwise the calibration's noise would make equal counters look different.
        let thousandth = |number: f64| (number * 1e3).round() / 1e3;
        let (resolution, precision, hook) =
            (thousandth(self.resolution), self.precision().relative, thousandth(self.hook));
        manifest::Counter {
            kind: kind.into(),
            unit: unit.into(),
            rate,
            resolution,
            precision,
            hook,
            reference: self.reference,
        }
    }
}

impl Counter {
    /// Starts measuring: the program continues.
    #[inline]
    pub(crate) fn start(&mut self) {
        self.meter.start();
    }

    /// The volume since [`start`](Self::start), which may be a little less than nothing if nothing was computed.
    #[inline]
    pub(crate) fn stop(&mut self) -> Instructions {
        match self.meter.stop() {
            Some(counted) => {
                self.stopped = counted;
                Instructions(counted - self.hook)
            }
            None => Instructions(0.0),
        }
    }

    /// The volume of this thread since [`stop`](Self::stop), without about as much as a hook takes.
    #[cold]
    pub(crate) fn since_stop(&mut self) -> Instructions {
        let (meter, stopped) = match &mut self.meter {
            Meter::WithOthers(own, _, stopped) => (&mut **own, *stopped),
            meter => (meter, self.stopped),
        };
        Instructions(meter.stop().map_or(0.0, |counted| (counted - stopped - self.hook).max(0.0)))
    }
}

impl Meter {
    #[inline]
    fn start(&mut self) {
        match self {
            #[cfg(feature = "papi")]
            Self::Papi(set) => set.start(),
            Self::Perf(perf) => perf.start(),
            Self::Emulated(emulated) => emulated.start(),
            Self::Cpu { time, .. } => time.start(),
            Self::WithOthers(own, ..) => own.start_with_others(),
            Self::None => {}
        }
    }

    /// The count since [`start`](Self::start); `None` if nothing can be counted.
    #[inline]
    fn stop(&mut self) -> Option<f64> {
        Some(match self {
            #[cfg(feature = "papi")]
            Self::Papi(set) => set.stop() as f64,
            Self::Perf(perf) => perf.stop() as f64,
            Self::Emulated(emulated) => emulated.stop() as f64,
            Self::Cpu { time, instructions_per_ns } => time.stop() * *instructions_per_ns,
            Self::WithOthers(own, process, stopped) => own.stop_with_others(process, stopped),
            Self::None => return None,
        })
    }

    #[cold]
    fn start_with_others(&mut self) {
        self.start();
    }

    #[cold]
    fn stop_with_others(&mut self, process: &ProcessClock, stopped: &mut f64) -> f64 {
        *stopped = self.stop().unwrap_or_default();
        *stopped + process.take_others()
    }
}

#[cfg(feature = "papi")]
fn papi_is_taken() -> bool {
    papi_sys::Papi::is_loaded()
}

#[cfg(not(feature = "papi"))]
fn papi_is_taken() -> bool {
    false
}

//! Instructions of the calling thread, counted through PAPI.

use std::ffi::{CStr, c_int};
use std::sync::OnceLock;

use papi_sys::{PAPI_NULL, PAPI_OK, PAPI_VER_CURRENT, Papi};

/// PAPI's preset for completed instructions, in user mode as all its presets.
pub(super) const INSTRUCTIONS: &CStr = c"PAPI_TOT_INS";

/// The library, once it is loaded and initialised.
static LIBRARY: OnceLock<Result<Papi, String>> = OnceLock::new();

/// An event set of the calling thread, running.
pub(super) struct EventSet {
    papi: Papi,
    set: c_int,
    started: i64,
}

impl EventSet {
    /// Starts counting `event`.
    pub(super) fn of_this_thread(event: &CStr) -> Result<Self, String> {
        let papi = LIBRARY.get_or_init(initialise).clone()?;
        let check = |doing: &str, code: c_int| match code {
            PAPI_OK => Ok(()),
            error => Err(format!("{doing}: {}", papi.message(error))),
        };
        // Dropped, and so undone, if a later step fails.
        let mut this = Self { papi, set: PAPI_NULL, started: 0 };
        // SAFETY: PAPI is initialised for threads; the pointers are to a live local and to a string.
        unsafe {
            check("PAPI_register_thread", (papi.PAPI_register_thread)())?;
            check("PAPI_create_eventset", (papi.PAPI_create_eventset)(&mut this.set))?;
            check(&event.to_string_lossy(), (papi.PAPI_add_named_event)(this.set, event.as_ptr()))?;
            check("PAPI_start", (papi.PAPI_start)(this.set))?;
        }
        this.start();
        Ok(this)
    }

    pub(super) fn start(&mut self) {
        self.started = self.count();
    }

    /// The count since [`start`](Self::start).
    pub(super) fn stop(&mut self) -> u64 {
        u64::try_from(self.count().saturating_sub(self.started)).unwrap_or(0)
    }

    /// The count. If the program has shut PAPI down in the meantime, it does not change.
    fn count(&self) -> i64 {
        let mut count = self.started;
        // SAFETY: the set holds one event, so one value is written.
        match unsafe { (self.papi.PAPI_read)(self.set, &mut count) } {
            PAPI_OK => count,
            _ => self.started,
        }
    }
}

impl Drop for EventSet {
    fn drop(&mut self) {
        if self.set == PAPI_NULL {
            return;
        }
        let mut count = 0;
        // SAFETY: the set is this thread's, as `self` was made on it and cannot leave it. What cannot be undone is left.
        unsafe {
            (self.papi.PAPI_stop)(self.set, &mut count);
            (self.papi.PAPI_cleanup_eventset)(self.set);
            (self.papi.PAPI_destroy_eventset)(&mut self.set);
            (self.papi.PAPI_unregister_thread)();
        }
    }
}

fn initialise() -> Result<Papi, String> {
    let papi = Papi::load().map_err(|error| error.to_string())?;
    // SAFETY: the library is loaded, and repeated initialisation is harmless.
    unsafe {
        match (papi.PAPI_library_init)(PAPI_VER_CURRENT) {
            version if version > 0 => {}
            error => return Err(format!("PAPI_library_init: {}", papi.message(error))),
        }
        match (papi.PAPI_thread_init)(Some(libc::pthread_self)) {
            PAPI_OK => Ok(papi),
            error => Err(format!("PAPI_thread_init: {}", papi.message(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use titr_test_support::{cannot_run, no_such_hardware};

    use super::super::tests;
    use super::*;

    /// Counts CPU time by the same code as instructions. PAPI has this event where it knows the processor's counters.
    fn cpu_time() -> Result<EventSet, String> {
        EventSet::of_this_thread(c"perf::TASK-CLOCK")
    }

    /// Says why there is no such counter.
    fn cannot_count(reason: &str) {
        if reason.contains("Event does not exist") {
            no_such_hardware(format_args!("PAPI knows no counter of this processor: {reason}"));
        } else {
            cannot_run(reason);
        }
    }

    /// Fails if a start does not forget the count before it, or a stop does not count.
    #[test]
    fn an_event_counts_between_start_and_stop_only() {
        let mut set = match cpu_time() {
            Ok(set) => set,
            Err(reason) => return cannot_count(&reason),
        };
        let (counted, bounds) = tests::measure(&mut set, EventSet::start, |set| set.stop() as f64);
        assert!(bounds.allow(counted), "{counted} {bounds:?}");
    }

    #[test]
    fn threads_count_apart() {
        let counts: Vec<_> = (0..3)
            .map(|_| {
                std::thread::spawn(|| {
                    let mut set = cpu_time()?;
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    Ok::<u64, String>(set.stop())
                })
            })
            .collect();
        for count in counts.into_iter().map(|thread| thread.join().unwrap()) {
            match count {
                Ok(count) => assert!(count < 10_000_000, "{count} ns of CPU time in a sleep of 20 ms"),
                Err(reason) => return cannot_count(&reason),
            }
        }
    }

    #[test]
    fn an_event_that_does_not_exist_is_named() {
        let Err(reason) = EventSet::of_this_thread(c"NO_SUCH_EVENT") else { panic!("counted") };
        if reason.contains("libpapi") {
            return cannot_run(reason);
        }
        assert!(reason.contains("NO_SUCH_EVENT"), "{reason}");
    }
}

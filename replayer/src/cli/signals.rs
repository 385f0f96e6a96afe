//! Signals that end a command: nothing unfinished is left behind.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use titr_common::output::remove_unfinished;

/// Removes unfinished files when the user or the system ends this process, and makes a file that grows beyond its limit an
/// error of writing. Best effort: without, the process ends as any other does.
pub(super) fn watch() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_unfinished();
            let _ = emulate_default_handler(signal);
        }
    });
}

//! A place for what is written before the output itself.

use std::env;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The path of a new directory in the directory for temporary files.
pub(super) fn temporary(format: &str) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!(".titr-{format}-{}-{number}", process::id()))
}

//! Two tools for the tests of every crate: reporting that this machine lacks something that a test needs, and a reader of
//! [`perfetto`]'s format.

pub mod perfetto;

use std::env;
use std::fmt::Display;
use std::io::{self, Write as _};
use std::thread;

/// Reports that the calling test cannot run because something is missing that can be provided: a package, a permission.
/// The caller returns at once.
///
/// # Panics
/// If the environment variable `CI` is set (to something other than nothing, `0` or `false`): a machine that verifies
/// a change has to run every test.
pub fn cannot_run(reason: impl Display) {
    let ci = env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()));
    assert!(!ci, "this test cannot run here, and CI is set: {reason}");
    report(reason);
}

/// Reports that the calling test cannot run because the processor lacks what it tests. No installation provides that, so
/// the test passes under `CI`, too. The caller returns at once.
pub fn no_such_hardware(reason: impl Display) {
    report(reason);
}

/// Writes to standard error directly: the test harness hides the output of a test that passes.
fn report(reason: impl Display) {
    let _ = writeln!(io::stderr(), "not run: {}: {reason}", thread::current().name().unwrap_or("a test"));
}

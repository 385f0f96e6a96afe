//! Every reader of a file of unknown origin, as a function of bytes: the fuzz targets run it, and a test runs it on the
//! inputs that fuzzing found. For any bytes, a reader terminates, with a result or with an error that can be displayed,
//! and its results survive a round trip.

mod foreign;
mod graphs;
mod hypotheses;
mod lines;
mod manifest;
mod network_trace;
mod otf2;
mod platform;
mod trace;

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

pub use foreign::{dumpi, foreign_text, liballprof};
pub use graphs::{chakra, goal};
pub use hypotheses::hypotheses;
pub use lines::lines;
pub use manifest::manifest;
pub use network_trace::{network_trace, trigger_rules};
pub use otf2::otf2;
pub use platform::{platform, simgrid};
pub use trace::{archive, stream};

/// Reads whatever it is given.
pub type Reader = fn(&[u8]);

/// The readers, each by the name of its fuzz target and of the folder with its seeds.
pub const ALL: [(&str, Reader); 15] = [
    ("lines", lines),
    ("stream", stream),
    ("manifest", manifest),
    ("archive", archive),
    ("platform", platform),
    ("simgrid", simgrid),
    ("hypotheses", hypotheses),
    ("network_trace", network_trace),
    ("trigger_rules", trigger_rules),
    ("otf2", otf2),
    ("dumpi", dumpi),
    ("liballprof", liballprof),
    ("foreign_text", foreign_text),
    ("goal", goal),
    ("chakra", chakra),
];

/// Whether there might be a list of millions, `0-4000000`, which rightly takes its time: how long it may be is tested where
/// lists are read.
fn has_wide_range(data: &[u8]) -> bool {
    let mut ends = data.split(|&byte| byte == b'-').skip(1);
    ends.any(|end| end.iter().take_while(|byte| byte.is_ascii_digit()).count() > 4)
}

/// The directory of this thread's files. It is created once, because millions of inputs are tried.
fn folder() -> PathBuf {
    thread_local! {
        static FOLDER: TempDir = {
            let folder = TempDir::new().unwrap();
            fs::create_dir(folder.path().join("one")).unwrap();
            fs::create_dir(folder.path().join("other")).unwrap();
            folder
        };
    }
    FOLDER.with(|folder| folder.path().to_owned())
}

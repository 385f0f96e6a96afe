//! `titr symbolize`.

use std::path::PathBuf;

use clap::Args;
use titr_common::format::{count, counted};
use titr_common::terminal::say;
use titr_common::trace::manifest::Manifest;
use titr_common::trace::{self, TraceError};

use super::Failure;
use crate::call_sites::look_up;

const NOTES: &str = "\
A trace with call sites (TITRACE_CALLSITES) has addresses in the program and its libraries. Their names are in these files, \
which another machine does not have. After this command, the trace has the names itself.

Exit status: 0 done; 1 the trace is at fault, or nothing has a name; 2 wrong usage.";

/// Looks up the names of a trace's call sites, and keeps them in the trace.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct SymbolizeArgs {
    /// A trace directory, or an archive of one, on the machine that has the program.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
}

pub(super) fn symbolize(args: &SymbolizeArgs) -> Result<(), Failure> {
    let path = &args.trace;
    let wrong = |what: &str| TraceError::Directory { path: path.clone(), what: what.to_owned() };
    let source = titr_formats::input::open_one(&[path])?;
    let entries = source.manifest().map(|manifest| manifest.per_rank.as_slice()).unwrap_or_default();
    if entries.iter().all(|entry| entry.modules.is_empty()) {
        return Err(wrong("it has no call sites: TITRACE_CALLSITES=1 records them").into());
    }
    let (names, unnamed) = look_up(&source.clone().partial(true))?;
    unnamed.iter().for_each(|reason| say(format_args!("{reason}")));
    let places: u64 = names.iter().map(|code| code.places.len() as u64).sum();
    if places == 0 {
        return Err(wrong("none of its call sites has a name here").into());
    }
    let files = counted(names.len(), "file", "files");
    if path.is_dir() {
        let mut manifest = Manifest::read(path)?;
        manifest.names = names;
        manifest.write(path).map_err(TraceError::io(path))?;
    } else {
        trace::name_call_sites(path, names)?;
    }
    say(format_args!("{}: {} call sites in {files} have names", path.display(), count(places)));
    Ok(())
}

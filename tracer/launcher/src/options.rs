//! The command line, and the variables that it sets.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use titr_common::trace::combined::CombinedBy;

/// Traces one rank of an MPI program: mpirun -np 64 titrace [OPTIONS] ./lu.B.64
///
/// Each option stands for a TITRACE_ variable, and overrides the variable in the environment.
#[derive(Debug, Parser)]
#[command(name = "titrace", version)]
pub(crate) struct Options {
    /// The directory that the trace is written to; %h is the host, %r the rank, %j the job. If it exists, the trace goes to
    /// the next free name, such as traces-2 [TITRACE_DIR, default: traces].
    #[arg(long, value_name = "DIRECTORY")]
    pub dir: Option<OsString>,
    /// The archive into which rank 0 gathers the trace when the program ends, such as traces.tar [TITRACE_GATHER].
    #[arg(long, value_name = "ARCHIVE")]
    pub gather: Option<OsString>,
    /// The mode of recording: ti or extended [TITRACE_MODE].
    #[arg(long)]
    pub mode: Option<OsString>,
    /// The part of the program that is traced: all, region=NAME, region=NAME,FIRST-LAST, regions=FROM,TO, pcontrol, seconds=FROM-TO or
    /// calls=FIRST-LAST [TITRACE_PART].
    #[arg(long)]
    pub part: Option<OsString>,
    /// The counter that measures computation: auto, papi, perf, cpu or emulated [TITRACE_COUNTER].
    #[arg(long)]
    pub counter: Option<OsString>,
    /// Instructions per second of CPU time, if CPU time is measured, such as 2.5Ginstr/s [TITRACE_RATE].
    #[arg(long)]
    pub rate: Option<OsString>,
    /// The threads whose computation is counted: calling, threads that call MPI; or sum, all threads of the rank
    /// [TITRACE_THREADS].
    #[arg(long, value_name = "WHICH")]
    pub threads: Option<OsString>,
    /// Size of a rank's text buffer, which is written when it is full, such as 256KiB [TITRACE_BUFFER].
    #[arg(long, value_name = "SIZE")]
    pub buffer: Option<OsString>,
    /// Longest time between two writes, such as 500ms, or never; a killed rank loses at most this much [TITRACE_FLUSH, default: 5 s].
    #[arg(long, value_name = "TIME")]
    pub flush: Option<OsString>,
    /// Compression level, from 1 (fast) to 9 (small) [TITRACE_LEVEL].
    #[arg(long)]
    pub level: Option<OsString>,
    /// Stack frames of the program to record for each call; 1 is the place of the call itself [TITRACE_CALLSITES].
    #[arg(long, value_name = "DEPTH")]
    pub call_sites: Option<OsString>,
    /// Prints the settings and the actions of the tracer [TITRACE_VERBOSE].
    #[arg(long, short)]
    pub verbose: bool,
    /// The tracer library [default: libtitrace.so beside titrace, or in ../lib from there].
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// Runs the program this number of times, and combines the recordings into one trace. Put it before mpirun:
    /// `titrace --repeat 3 mpirun -np 64 ./lu.B.64`. The recordings of the runs stay in DIRECTORY-runs.
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(2..))]
    pub repeat: Option<u32>,
    /// The choice of each volume of computation: least, the smallest of all runs; or median [default: least].
    #[arg(long, value_name = "CHOICE", requires = "repeat", value_parser = CombinedBy::ALL.map(CombinedBy::name))]
    pub by: Option<String>,
    /// Marks a run that `--repeat` starts.
    #[arg(long, hide = true)]
    pub repeated: bool,
    /// The MPI program, found as a shell finds it, and its arguments.
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

impl Options {
    /// The variables that the options set.
    pub(crate) fn settings(&self) -> Vec<(OsString, OsString)> {
        let given = [
            ("TITRACE_DIR", &self.dir),
            ("TITRACE_GATHER", &self.gather),
            ("TITRACE_MODE", &self.mode),
            ("TITRACE_PART", &self.part),
            ("TITRACE_COUNTER", &self.counter),
            ("TITRACE_RATE", &self.rate),
            ("TITRACE_THREADS", &self.threads),
            ("TITRACE_BUFFER", &self.buffer),
            ("TITRACE_FLUSH", &self.flush),
            ("TITRACE_LEVEL", &self.level),
            ("TITRACE_CALLSITES", &self.call_sites),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name.into(), value.clone()?)));
        given.chain(self.verbose.then(|| ("TITRACE_VERBOSE".into(), "1".into()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory as _;
        Options::command().debug_assert();
    }

    #[test]
    fn options_after_the_program_are_its_own() {
        let options = Options::parse_from(["titrace", "--dir", "t", "./lu", "--dir", "u", "-v"]);
        assert_eq!(options.settings(), [("TITRACE_DIR".into(), "t".into())]);
        assert_eq!(options.command, ["./lu", "--dir", "u", "-v"]);
        assert!(Options::try_parse_from(["titrace", "--dri", "t", "./lu"]).is_err(), "a mistake is no program");
    }
}

//! Several seeds that one `mpirun` executes in sequence, and the settings of the tracer.

use std::fmt::{Display, Formatter};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use titr_tests::{Family, run};

/// Programs of successive seeds, and all that is chosen beside them.
#[derive(Clone, Debug)]
pub struct Batch {
    pub family: Family,
    pub ranks: u32,
    pub threads: u32,
    pub seeds: Range<u64>,
    /// The most steps of each program; 0 if the seed decides.
    steps: u32,
    /// Whether the programs have only what can be reenacted.
    pub plain: bool,
    /// How the tracer is asked for its trace.
    buffer: &'static str,
    call_sites: &'static str,
    gather: bool,
    /// Which replays are tried.
    pub choice: u64,
}

/// How a batch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Untraced,
    TimeIndependent,
    Extended,
}

/// What went wrong in a batch, and with which of its seeds if that is known.
#[derive(Debug)]
pub struct Fault {
    pub what: String,
    pub seed: Option<u64>,
}

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Self { what, seed: None }
    }
}

/// A batch that was carried out.
pub struct Execution {
    directory: TempDir,
    /// What each rank has received, a line for each seed.
    pub sums: Vec<String>,
    /// How often each rank called each function.
    pub counts: Vec<String>,
}

impl Execution {
    /// Its trace: a directory or an archive.
    pub fn trace(&self) -> PathBuf {
        let archive = self.directory.path().join("gathered.tar");
        if archive.exists() { archive } else { self.directory.path().join("traces") }
    }

    /// The first seed that received something else in `other`.
    pub fn differs(&self, other: &Self, seeds: &Range<u64>) -> Option<u64> {
        let ranks = || self.sums.iter().zip(&other.sums);
        let differs = |at| ranks().any(|(ours, theirs)| ours.lines().nth(at) != theirs.lines().nth(at));
        seeds.clone().enumerate().find(|&(at, _)| differs(at)).map(|(_, seed)| seed)
    }

    /// A file that does not exist yet.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

impl Batch {
    /// The batch of at most so many seeds that begins with `first`, and ends at `end` at the latest; `None` if `first` is not
    /// before it. Its seeds share an `mpirun` and the replays of its trace, which take longer to start than a program takes
    /// to run.
    pub fn of(first: u64, end: u64, seeds: u64) -> Option<Self> {
        if first >= end {
            return None;
        }
        let choice = mixed(first);
        let pick = |what: u64, most: u64| mixed(choice + what) % most;
        let threads = if pick(3, 4) == 0 { 2 } else { 1 };
        Some(Self {
            family: Family::ALL[pick(1, 2) as usize],
            ranks: 2 + pick(2, 5) as u32,
            threads,
            seeds: first..(first + seeds).min(end),
            steps: 0,
            plain: threads == 1 && pick(7, 2) == 0,
            buffer: ["4096", "65536", "1048576"][pick(4, 3) as usize],
            call_sites: ["0", "0", "1", "3"][pick(5, 4) as usize],
            gather: pick(6, 4) == 0,
            choice,
        })
    }

    /// What is left to try of a batch in which `seed` is at fault: that seed alone, and those on both sides; its halves if no
    /// seed is known; nothing of a single seed.
    pub fn parts(&self, seed: Option<u64>) -> Vec<Self> {
        let Range { start, end } = self.seeds;
        let cuts = match seed {
            _ if end - start < 2 => Vec::new(),
            Some(seed) => vec![start..seed, seed..seed + 1, seed + 1..end],
            None => vec![start..start.midpoint(end), start.midpoint(end)..end],
        };
        cuts.into_iter().filter(|seeds| !seeds.is_empty()).map(|seeds| Self { seeds, ..self.clone() }).collect()
    }

    /// The same programs, ended after so many steps.
    pub fn of_steps(&self, steps: u32) -> Self {
        Self { steps, ..self.clone() }
    }

    /// Carries the programs out.
    ///
    /// # Errors
    /// With what the run has said, if it fails.
    pub fn execute(&self, mode: Mode) -> Result<Execution, Fault> {
        let program = self.family.build("random.c", &["-pthread"]);
        let directory = TempDir::new().unwrap();
        let mut command = self.family.mpirun_within(60 + 2 * (self.seeds.end - self.seeds.start) as u32);
        command.arg("-np").arg(self.ranks.to_string()).arg(program);
        command.args([self.seeds.start, self.seeds.end - 1].map(|seed| seed.to_string()));
        command.args([self.steps, self.threads, u32::from(self.plain)].map(|number| number.to_string()));
        command.current_dir(directory.path()).env("TMPDIR", directory.path());
        if mode != Mode::Untraced {
            command.env("LD_PRELOAD", self.family.preload());
            command.envs([("TITRACE_BUFFER", self.buffer), ("TITRACE_CALLSITES", self.call_sites)]);
            command.env("TITRACE_MODE", if mode == Mode::Extended { "extended" } else { "ti" });
            if self.gather {
                command.env("TITRACE_GATHER", "gathered.tar");
            }
        }
        let run = run(&mut command);
        let read = |what: &str, rank| fs::read_to_string(directory.path().join(format!("{what}-{rank}")));
        if run.status != Some(0) {
            let said: Vec<&str> = run.stderr.lines().filter(|line| !line.trim().is_empty()).take(12).collect();
            // A rank writes a line when it is done with a seed.
            let done = (0..self.ranks).map(|rank| read("sums", rank).unwrap_or_default().lines().count() as u64).min();
            let seed = done.map(|done| self.seeds.start + done).filter(|seed| self.seeds.contains(seed));
            return Err(Fault { what: format!("{mode:?}: exit status {:?}: {}", run.status, said.join(" | ")), seed });
        }
        let of_each = |what: &str| {
            let read = (0..self.ranks).map(|rank| read(what, rank)).collect::<Result<Vec<_>, _>>();
            read.map_err(|error| format!("{mode:?}: {what}: {error}"))
        };
        let (sums, counts) = (of_each("sums")?, of_each("counts")?);
        Ok(Execution { sums, counts, directory })
    }
}

impl Display for Batch {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { family, ranks, threads, seeds, steps, plain, buffer, call_sites, gather, .. } = self;
        write!(
            f,
            "{family:?}, {ranks} ranks, {threads} threads, seeds {} to {}, steps {steps}, plain {}",
            seeds.start,
            seeds.end - 1,
            u32::from(*plain)
        )?;
        write!(f, " (buffer {buffer}, call sites {call_sites}, {})", if *gather { "gathered" } else { "not gathered" })
    }
}

/// A number that follows from `x` and looks random.
pub fn mixed(x: u64) -> u64 {
    let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The platform `examples/NAME`.
pub fn platform(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

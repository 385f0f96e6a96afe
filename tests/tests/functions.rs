//! `functions.txt` agrees with the traces of real programs. `UPDATE=1 cargo test --package titr-tests --test
//! functions` writes it again.
//!
//! The programs of `programs/` are traced with `TITRACE_VERBOSE=2`, with which the tracer prints the words that the
//! calls of each function were recorded as. Every function whose arguments the tracer reads has to be called by one of
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use tempfile::TempDir;
use titr_common::event::{Activity, Event, Other};
use titr_common::trace::Trace;
use titr_common::units::Bytes;
use titr_tests::{Family, library, replay, run};
use titr_wrappers::{Effect, Function, functions};

const MPICH: Family = Family::Mpich;
const OPEN_MPI: Family = Family::OpenMpi;
/// Programs that call every function between them, each with its number of ranks. MPICH 4.0 has them all, but Debian's cannot
/// spawn; Open MPI 4.1 has persistent collectives under other names, and lacks what MPI 4.0 added.
const PROGRAMS: [(&str, Family, u32); 26] = [
    ("send_modes", MPICH, 2),
    ("nonblocking", MPICH, 2),
    ("completion", MPICH, 2),
    ("persistent", MPICH, 2),
    ("probe", MPICH, 2),
    ("matched", MPICH, 3),
    ("sendrecv", MPICH, 4),
    ("wildcards", MPICH, 3),
    ("collectives", MPICH, 4),
    ("vector_collectives", MPICH, 4),
    ("nonblocking_collectives", MPICH, 4),
    ("persistent_collectives", MPICH, 4),
    ("communicators", MPICH, 4),
    ("groups", MPICH, 2),
    ("neighbors", MPICH, 4),
    ("one_sided", MPICH, 4),
    ("files", MPICH, 2),
    ("mpi_4", MPICH, 2),
    ("threads", MPICH, 2),
    ("null_peers", MPICH, 4),
    ("in_place", MPICH, 4),
    ("rare", MPICH, 2),
    ("dynamic", OPEN_MPI, 2),
    ("ports", OPEN_MPI, 2),
    ("spawns", OPEN_MPI, 2),
    ("regions", MPICH, 2),
];

const HEAD: &str = "\
# Every MPI function: how it is recorded and replayed

Made from traces of the programs in `tests/programs`: `UPDATE=1 cargo test --package titr-tests --test functions`.

**Recorded as** gives the words of the trace's grammar (`common/src/grammar`) for the calls of a function. A call of a function
without a word of its own is recorded as `call FUNCTION SENT RECEIVED` if the function communicates, and counted in the manifest
if it does not. There are two exceptions:

* A call whose peer is `MPI_PROC_NULL`, or whose requests do nothing, is counted in the manifest as `null_peer`.
* A call that fails is counted in the manifest as `untraced`.

A message that a matched probe has found is received by an `irecv` of its own if other messages are sent or received before its
`MPI_Mrecv`, which then is a `wait`, or `MPI_Imrecv`, which then is counted.

**Replayed** gives the row of the replay's summary that includes the time of the call.

A function whose name ends in `_c` (large counts) or begins with `MPIX_` is recorded like the function without. Conversions
(`MPI_Comm_f2c`, `MPI_Comm_fromint` and the like) are left to the library, and so are `MPI_Get_version`,
`MPI_Get_library_version` and `MPI_Abi_get_version`, which programs use to detect whether a library is loaded.

With `TITRACE_VERBOSE=2` the tracer prints the words of each function that a program has called.

| function | recorded as | replayed |
| --- | --- | --- |
";

/// The observations in the traces of all programs.
#[derive(Default)]
struct Observed {
    /// The words that calls of each function were recorded as.
    words: BTreeMap<String, BTreeSet<String>>,
    /// The replay of the events of each word.
    replayed: BTreeMap<&'static str, &'static str>,
}

impl Observed {
    fn all() -> Self {
        let mut observed = Self::default();
        for (name, family, ranks) in PROGRAMS {
            observed.add(name, family, ranks);
        }
        observed
    }

    fn add(&mut self, name: &str, family: Family, ranks: u32) {
        let program = family.build(&format!("{name}.c"), &["-pthread"]);
        let directory = TempDir::new().unwrap();
        let mut command = family.mpirun();
        command.arg("-np").arg(ranks.to_string()).arg(program).current_dir(directory.path());
        let run = run(command.env("LD_PRELOAD", library()).env("TITRACE_VERBOSE", "2"));
        assert_eq!(run.status, Some(0), "{name}: {}", run.stderr);
        for line in run.stderr.lines() {
            let Some((_, said)) = line.split_once("titrace: rank ") else { continue };
            let Some((function, words)) = said.split_once(" is recorded as ") else { continue };
            let (_, function) = function.split_once(": ").unwrap();
            let known = self.words.entry(plain(function)).or_default();
            known.extend(words.split(", ").filter(|word| *word != "call").map(str::to_owned));
        }
        let trace = directory.path().join("traces");
        let mut passed_over = 0;
        // Each world leaves a trace.
        let worlds = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
        for world in worlds.filter(|path| path.join("manifest.json").exists()) {
            for mut stream in Trace::open(&world).unwrap().streams().unwrap() {
                while let Some(event) = stream.next_event().unwrap() {
                    self.replayed.insert(event.word(), replayed(&event));
                    passed_over += u64::from(replayed(&event) == PASSED_OVER);
                }
            }
        }
        // The replay itself says how many calls it has passed over.
        let report = replay("torus.toml", &trace);
        let warnings = report["warnings"].as_array().unwrap().iter().filter_map(|warning| warning.as_str());
        let said = warnings.filter_map(|warning| warning.strip_prefix("not simulated: "));
        assert_eq!(said.map(number).sum::<u64>(), passed_over, "{name}: {report}");
    }

    fn row(&self, function: &Function) -> String {
        let words = self.words.get(&plain(function.name)).filter(|words| !words.is_empty());
        // The tracer asks what a function does of those alone whose arguments it does not read.
        let is_read = !function.types().is_empty();
        let (recorded, replayed) = match (words, function.effect) {
            (Some(words), _) => {
                let recorded: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                // `matched` and `cancel` go with the completion that tells the match, or that there is none.
                let own = words.iter().filter(|word| !["matched", "cancel"].contains(&word.as_str()));
                let replayed: BTreeSet<&str> = own.map(|word| self.replayed[word.as_str()]).collect();
                (recorded.join(", "), Vec::from_iter(replayed).join(", "))
            }
            (None, _) if function.name == "MPI_Abort" => ("the end of the trace".to_owned(), String::new()),
            (None, _) if function.name == "MPI_Cancel" => {
                ("`cancel` when the request completes, if it was cancelled".to_owned(), "waiting".to_owned())
            }
            (None, _) if is_read => panic!("no program calls {}: add a call to one of them", function.name),
            (None, Effect::Communicates) => {
                let call = Other { function: function.name.into(), sent: Bytes(0), received: Bytes(0) };
                ("`call`".to_owned(), replayed(&Event::Other(call)).to_owned())
            }
            (None, Effect::Local) => ("counted".to_owned(), String::new()),
        };
        format!("| `{}` | {recorded} | {replayed} |", function.name)
    }
}

/// Of a call that the replay passes over.
const PASSED_OVER: &str = "not simulated, counted in a warning";

/// The row of a replay's summary that includes the time of an event, or the note that the event is not simulated.
fn replayed(event: &Event) -> &'static str {
    if let Event::Other(call) = event {
        return if call.awaits_buffered() { "waiting" } else { PASSED_OVER };
    }
    match event.activity() {
        Some(Activity::Compute) | None => "takes no time",
        Some(Activity::Send) => "sending",
        Some(Activity::Recv) => "receiving",
        Some(Activity::Wait) => "waiting",
        Some(Activity::File) => "files",
        Some(Activity::Collective) => "collective",
    }
}

/// The number that a warning begins with.
fn number(warning: &str) -> u64 {
    let digits: String = warning.split(' ').next().unwrap().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// The name of the function that a function is recorded like: without large counts, of one request, and as part of the standard.
fn plain(name: &str) -> String {
    let small = name.strip_suffix("_c").unwrap_or(name);
    if small.starts_with("MPI_Request_get_status") {
        return "MPI_Request_get_status".to_owned();
    }
    match small.strip_prefix("MPIX_") {
        Some(rest) => format!("MPI_{rest}"),
        None => small.to_owned(),
    }
}

#[test]
fn the_table_says_what_programs_are_recorded_as() {
    let observed = Observed::all();
    let mut rows: Vec<String> = functions::all().map(|function| observed.row(function)).collect();
    rows.sort_unstable();
    let mut table = HEAD.to_owned();
    rows.iter().for_each(|row| writeln!(table, "{row}").unwrap());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap();
    for (written, found) in written.lines().zip(table.lines()) {
        assert_eq!(written, found, "{} is not what programs are recorded as: set UPDATE=1", file.display());
    }
    assert_eq!(written.len(), table.len());
}

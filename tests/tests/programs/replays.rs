//! Replays of all forms of a trace, in which nothing is lost and no effect precedes its cause.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use titr_tests::{binary, built, run};

use crate::batch::{Batch, Execution, Mode, mixed, platform};

/// Platforms, what is changed of them, and the least time of a message between two hosts, in picoseconds.
const PLATFORMS: [(&str, &str, i64); 6] = [
    ("torus.toml", "network.model=flow", 1_000_000),
    ("torus.toml", "network.model=ideal", 1_000_000),
    ("torus.toml", "mpi.progress=thread", 1_000_000),
    ("fat-tree.toml", "network.model=flow", 1_000_000),
    ("cluster16.toml", "hosts.count=16", 15_000_000),
    ("packet.toml", "network.packet.virtual_channels=1", 0),
];
const COLLECTIVES: [&str; 4] = ["mpich", "openmpi", "simgrid", "simgrid-openmpi"];
const THRESHOLDS: [&str; 3] = ["0 B", "64 KiB", "1 GiB"];

/// Replays on two platforms, and all forms of the trace on another.
///
/// # Errors
/// With the first contradiction.
pub fn check(batch: &Batch, mode: Mode, traced: &Execution) -> Result<(), String> {
    let trace = traced.trace();
    succeed("titr", &["check"], &trace)?;
    let pick = |what: u64, most: usize| mixed(batch.choice + what) as usize % most;
    for nth in 0..2 {
        let at = (pick(20, PLATFORMS.len()) + nth * 3) % PLATFORMS.len();
        let collectives = match mode {
            Mode::Extended if pick(21, 3) == 0 => "recorded",
            _ => COLLECTIVES[(pick(22, COLLECTIVES.len()) + nth) % COLLECTIVES.len()],
        };
        let threshold = THRESHOLDS[(pick(23, THRESHOLDS.len()) + nth) % THRESHOLDS.len()];
        conserves(batch, traced, at, collectives, threshold)
            .map_err(|what| format!("{:?}, {collectives}, {threshold}: {what}", PLATFORMS[at]))?;
    }
    same_in_all_forms(mode, traced)
}

/// A reenactment, traced in its turn, sends what the program sent.
///
/// # Errors
/// With what it says if it fails, or what it sends instead.
pub fn reenact(batch: &Batch, traced: &Execution, sent: [u64; 2]) -> Result<(), String> {
    let again = traced.file("again");
    let mut command = batch.family.mpirun_within(120);
    command.arg("-np").arg(batch.ranks.to_string()).arg(built("titrace")).arg("--dir").arg(&again);
    let said = run(command.arg(built("titr-reenact")).args(["--compute", "none"]).arg(traced.trace()));
    if said.status != Some(0) {
        return Err(format!("reenacted: exit status {:?}: {}", said.status, said.stderr));
    }
    let info: Value = serde_json::from_str(&succeed("titr", &["info", "--json"], &again)?).unwrap_or_default();
    let repeated = ["messages", "bytes"].map(|what| info[what].as_u64().unwrap_or(0));
    if repeated == sent { Ok(()) } else { Err(format!("reenacted: {repeated:?} messages and bytes, not {sent:?}")) }
}

/// The output of a command that has to succeed.
fn succeed(command: &str, arguments: &[&str], trace: &Path) -> Result<String, String> {
    let said = run(binary(command).args(arguments).arg(trace));
    if said.status == Some(0) {
        return Ok(said.stdout);
    }
    let (stdout, stderr) = (said.stdout, said.stderr);
    Err(format!("{command} {}: exit status {:?}: {stdout}{stderr}", arguments.join(" "), said.status))
}

/// The JSON object of a replay, but for what differs from run to run.
fn replay(arguments: &[&str], trace: &Path) -> Result<Value, String> {
    let printed = succeed("titr-replay", &[&["--json"], arguments].concat(), trace)?;
    let mut result: Value = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
    if let Some(result) = result.as_object_mut() {
        OF_THE_RECORDING.iter().for_each(|key| _ = result.remove(*key));
        if let Some(Value::Array(warnings)) = result.get_mut("warnings") {
            let is_of_counts = |warning: &Value| COUNTS.iter().any(|beginning| warning.to_string().contains(beginning));
            warnings.retain(|warning| !is_of_counts(warning));
        }
    }
    Ok(result)
}

/// The parts of a result that differ from run to run, or that only a trace with a manifest has.
const OF_THE_RECORDING: [&str; 3] = ["replay", "recording", "uncertainty"];

/// Beginnings of warnings about how computation was counted, which only a manifest says.
const COUNTS: [&str; 3] =
    ["computation was counted in CPU time", "the trace does not say how fast", "time was counted in place"];

/// All that is sent arrives, after the time that it takes, and no receive ends before its message has arrived.
fn conserves(batch: &Batch, traced: &Execution, at: usize, collectives: &str, threshold: &str) -> Result<(), String> {
    let (name, change, latency) = PLATFORMS[at];
    let (file, timeline) = (platform(name), traced.file("timeline.csv"));
    let (on, drawn_to) = (file.to_string_lossy(), timeline.to_string_lossy());
    let threshold = format!("mpi.eager_threshold={threshold}");
    let arguments = [
        &["--platform", &on, "--set", change, "--set", &threshold, "--set", "hosts.cores=1"][..],
        &["--collectives", collectives, "--analyse", "matrix", "--timeline-csv", &drawn_to],
    ];
    let result = replay(&arguments.concat(), &traced.trace())?;
    // Calls that fail are not in the trace.
    let is_told = |warning: &&Value| !warning.to_string().contains("as it is not in the trace");
    for warning in result["warnings"].as_array().into_iter().flatten().filter(is_told) {
        if ["not simulated", "received", "never"].iter().any(|word| warning.to_string().contains(word)) {
            return Err(format!("{warning}"));
        }
    }
    let mut sums = [0, 0];
    for pair in result["analyses"]["matrix"].as_array().into_iter().flatten() {
        sums = [sums[0] + pair["messages"].as_u64().unwrap_or(0), sums[1] + pair["bytes"].as_u64().unwrap_or(0)];
    }
    let all = [&result["messages"], &result["bytes"]].map(|sum| sum.as_u64().unwrap_or(0));
    let text = fs::read_to_string(&timeline).map_err(|error| error.to_string())?;
    let (drawn, arrivals, receives) = read_timeline(&text, latency)?;
    if all != sums || all != drawn {
        return Err(format!("{all:?} messages and bytes, {sums:?} in the matrix, {drawn:?} in the timeline"));
    }
    for (rank, mut receives) in receives.into_iter().filter(|_| batch.threads == 1) {
        let mut arrived = arrivals.get(&rank).cloned().unwrap_or_default();
        receives.sort_unstable();
        arrived.sort_unstable();
        for (nth, received) in receives.iter().enumerate() {
            if arrived.get(nth).is_none_or(|arrived| arrived > received) {
                return Err(format!(
                    "rank {rank} has received {} messages at {received} ps, before they arrived",
                    nth + 1
                ));
            }
        }
    }
    Ok(())
}

/// Messages and bytes, then for each rank when messages outside of collectives arrived, and when blocking receives ended.
type Timeline = ([u64; 2], BTreeMap<u32, Vec<i64>>, BTreeMap<u32, Vec<i64>>);

fn read_timeline(text: &str, latency: i64) -> Result<Timeline, String> {
    let (mut sums, mut arrivals, mut receives) = ([0, 0], BTreeMap::new(), BTreeMap::new());
    // The names of counters may hold commas.
    for line in text.lines().skip(1).filter(|line| !line.starts_with("counter")) {
        let fields: Vec<&str> = line.split(',').collect();
        let [kind, rank, to, begin, end, name, _, value] = fields[..] else { return Err(line.to_owned()) };
        let picoseconds = |text: &str| text.replace('.', "").parse::<i64>().unwrap_or(-1);
        let (begin, end) = (picoseconds(begin), picoseconds(end));
        match kind {
            "message" => {
                sums = [sums[0] + 1, sums[1] + value.parse::<u64>().unwrap_or(0)];
                if end < begin || rank != to && end < begin + latency {
                    return Err(format!("arrives too early: {line}"));
                }
                if name == "message" {
                    arrivals.entry(to.parse().unwrap_or(0)).or_insert_with(Vec::new).push(end);
                }
            }
            "state" if end < begin => return Err(format!("ends before it begins: {line}")),
            "state" if ["MPI_Recv", "MPI_Mrecv"].contains(&name) => {
                receives.entry(rank.parse().unwrap_or(0)).or_insert_with(Vec::new).push(end);
            }
            _ => {}
        }
    }
    Ok((sums, arrivals, receives))
}

/// The result is the same for a trace in a directory, in an archive, as one text and converted, and for any number of jobs.
fn same_in_all_forms(mode: Mode, traced: &Execution) -> Result<(), String> {
    let trace = traced.trace();
    let file = platform("torus.toml");
    let file = file.to_string_lossy();
    let on = ["--platform", &*file];
    let first = replay(&on, &trace)?;
    let same = |what: &str, arguments: &[&str], trace: &Path| match replay(&[&on[..], arguments].concat(), trace)? {
        result if result == first => Ok(()),
        result => Err(format!("{what}: {}", difference(&first, &result))),
    };
    same("one job", &["--jobs", "1"], &trace)?;
    same("two jobs", &["--jobs", "2"], &trace)?;
    let [archive, converted, text] = ["form.tar", "form-ti", "form.txt"].map(|name| traced.file(name));
    succeed("titr", &["gather", "--output", &archive.to_string_lossy()], &trace)?;
    same("gathered", &[], &archive)?;
    succeed("titr", &["convert", "--to", "ti", "--output", &converted.to_string_lossy()], &trace)?;
    same("converted", &[], &converted)?;
    if mode == Mode::TimeIndependent {
        fs::write(&text, succeed("titr", &["cat"], &trace)?).map_err(|error| error.to_string())?;
        // What the manifest makes a replay warn of is not in a text.
        let without_warnings = |mut result: Value| {
            result["warnings"].take();
            result
        };
        let (spelled, first) = (without_warnings(replay(&on, &text)?), without_warnings(first.clone()));
        if spelled != first {
            return Err(format!("as text: {}", difference(&first, &spelled)));
        }
    }
    Ok(())
}

/// The first keys whose values differ.
fn difference(one: &Value, other: &Value) -> String {
    let keys = one.as_object().into_iter().flatten();
    let differing = keys.filter(|(key, value)| other[key.as_str()] != **value);
    differing.take(3).map(|(key, value)| format!("{key}: {value} and {}; ", other[key.as_str()])).collect()
}

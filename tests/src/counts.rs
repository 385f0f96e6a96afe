//! A program's counts of its own calls, compared with its trace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::{binary, run};

/// How every function is recorded.
const FUNCTIONS: &str = include_str!("../tests/functions.txt");

/// Words of events that are recorded beside those of a call.
const BESIDE: [&str; 5] = ["compute", "matched", "cancel", "at", "call_site"];

/// The calls of all ranks.
#[derive(Debug, Default)]
pub struct Counts {
    calls: BTreeMap<String, u64>,
    /// Calls from callbacks, while MPI itself was called.
    within: BTreeMap<String, u64>,
    /// Messages that a matched probe has found, each with a receive of its own where other calls came before its receive; and
    /// those of which it is known that some did.
    found: u64,
    posted: u64,
    /// Messages outside of collectives.
    pub messages: u64,
    /// The bytes of these messages.
    pub bytes: u64,
}

impl Counts {
    /// Adds up what the ranks wrote: a line for each function.
    ///
    /// # Panics
    /// If a line has no number.
    pub fn read(ranks: &[String]) -> Self {
        let mut counts = Self::default();
        for (name, number) in ranks.iter().flat_map(|text| text.lines()).filter_map(|line| line.rsplit_once(' ')) {
            let number: u64 = number.parse().unwrap();
            if let Some(function) = name.strip_prefix("within ") {
                *counts.within.entry(function.to_owned()).or_default() += number;
                continue;
            }
            match name {
                "messages" => counts.messages += number,
                "bytes" => counts.bytes += number,
                "found" => counts.found += number,
                "posted" => counts.posted += number,
                function => *counts.calls.entry(function.to_owned()).or_default() += number,
            }
        }
        counts
    }

    /// Compares with `trace`, of which `titr info` tells.
    ///
    /// # Errors
    /// With the functions whose calls are not all there.
    pub fn compare(&self, trace: &Path, threads: u32) -> Result<(), String> {
        let said = run(binary("titr").args(["info", "--json"]).arg(trace));
        let info: Value =
            serde_json::from_str(&said.stdout).map_err(|error| format!("info: {error}: {}", said.stderr))?;
        for (what, counted) in [("messages", self.messages), ("bytes", self.bytes)] {
            if info[what] != counted {
                return Err(format!("the trace has {} {what}, the program sent {counted}", info[what]));
            }
        }
        let omitted = omitted(&info);
        for Group { functions, words } in groups(self.calls.keys().chain(self.within.keys())) {
            let sum =
                |of: &BTreeMap<String, u64>| functions.iter().filter_map(|function| of.get(function)).sum::<u64>();
            let (called, within, counted) = (sum(&self.calls), sum(&self.within), sum(&omitted));
            // A duplicate that is made in the background has a second event, which says when it is complete.
            let duplicates = if functions.contains("MPI_Comm_idup") { self.calls.get("MPI_Comm_idup") } else { None };
            let twice = duplicates.copied().unwrap_or_default();
            let recorded: u64 = words.iter().filter_map(|word| info["kinds"][word].as_u64()).sum();
            // Where threads contend, the calls of one come between those of another.
            let beside = match (words.contains("irecv"), threads) {
                (false, _) => 0..=0,
                (true, 1) => self.posted..=self.posted,
                (true, _) => self.posted..=self.posted + self.found,
            };
            if !beside.contains(&(counted + recorded).wrapping_sub(called + twice + within)) {
                return Err(format!(
                    "{functions:?} were called {called} times, and {within} in callbacks: the trace has {recorded} events, the manifest {counted} calls"
                ));
            }
        }
        Ok(())
    }
}

/// The calls of each function that the manifest counts, as they have no events.
fn omitted(info: &Value) -> BTreeMap<String, u64> {
    let mut omitted = BTreeMap::new();
    let ranks = info["manifest"]["per_rank"].as_array().into_iter().flatten();
    for row in ranks.flat_map(|rank| ["local", "null_peer", "untraced"].map(|row| &rank[row])) {
        for (function, calls) in row.as_object().into_iter().flatten() {
            *omitted.entry(function.clone()).or_default() += calls.as_u64().unwrap_or(0);
        }
    }
    omitted
}

/// Functions, and the words that their calls are recorded as, which no others are.
#[derive(Debug, Default)]
struct Group {
    functions: BTreeSet<String>,
    words: BTreeSet<String>,
}

/// The functions in groups that share words.
fn groups<'a>(functions: impl Iterator<Item = &'a String>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for function in functions {
        let mut group = Group { functions: [function.clone()].into(), words: words(function) };
        groups.retain_mut(|other| {
            let shares = !other.words.is_disjoint(&group.words);
            if shares {
                group.functions.append(&mut other.functions);
                group.words.append(&mut other.words);
            }
            !shares
        });
        groups.push(group);
    }
    groups
}

/// The words of a function: none if its calls are only counted.
fn words(function: &str) -> BTreeSet<String> {
    let row = FUNCTIONS.lines().find(|line| line.starts_with(&format!("| `{function}` |")));
    let row = row.unwrap_or_else(|| panic!("functions.txt has no {function}"));
    let recorded = row.split('|').nth(2).unwrap_or_default();
    let words = recorded.split('`').skip(1).step_by(2).map(str::to_owned);
    words.filter(|word| !BESIDE.contains(&word.as_str())).collect()
}

//! Chakra execution traces of MLCommons: a graph for each rank, of computations, messages and collectives (S. Sridharan
//! et al., "Chakra: Advancing Performance Benchmarking and Co-design using Standardized Execution Traces", 2023).
//!
//! A trace is a directory with a file `NAME.RANK.et` for each rank. Nodes become [tasks](titr_common::event::Task). The
//! nodes of the host's processor take it in turns, and so do those of the accelerator. The size of a collective is the
//! number of bytes that each member gives, as ASTRA-sim takes it. The members of a process group are the ranks whose
//! files have collectives of a group of this name.

mod graph;
mod node;
mod protobuf;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use titr_common::event::Rank;
use titr_common::trace::manifest::Mode;
use titr_common::trace::{Candidate, EventSource, Manifest, RankSources, Trace, TraceError, TraceFormat};

use graph::GraphSource;
use node::{COLLECTIVE, Nodes};

/// The end of the name of a rank's file.
const ENDING: &str = "et";
/// A world has no more ranks.
const MOST_RANKS: u32 = 1 << 24;

/// Execution traces of MLCommons' Chakra.
pub(super) struct Chakra;

impl TraceFormat for Chakra {
    fn name(&self) -> &'static str {
        "Chakra"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        let has_name = |path: &Path| rank_of(path).is_some();
        let is_one = |path: &Path| has_name(path) && Nodes::open(path).is_ok();
        match (candidate.directory(), candidate.file()) {
            (Some(directory), _) => files(directory).is_ok_and(|files| files.iter().any(|path| is_one(path))),
            (None, Some(file)) => is_one(file),
            (None, None) => false,
        }
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or_else(|| Path::new(""));
        if !path.is_dir() {
            let what = "one rank of a Chakra trace: name the directory with the files of all ranks".to_owned();
            return Err(TraceError::Directory { path: path.to_owned(), what });
        }
        let files = of_ranks(path)?;
        let ranks = files.len() as u32;
        let survey = ChakraSurvey::of(&files)?;
        let manifest = Manifest { mode: Mode::Ti, ..Manifest::of_foreign(ranks, "Chakra", "") };
        Ok(Trace::new(ranks, ChakraSources { files, survey }).with_manifest(manifest))
    }
}

/// The files of a directory that have the name of a rank's file.
fn files(directory: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let failed = |error| TraceError::io(directory)(error);
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if rank_of(&path).is_some() {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}

/// The name and the rank of `NAME.RANK.et`. Files that macOS adds to others have names that begin with `._`.
fn rank_of(path: &Path) -> Option<(&str, u32)> {
    let name = path.file_name()?.to_str()?;
    let (name, rank) = name.strip_suffix(ENDING)?.strip_suffix('.')?.rsplit_once('.')?;
    if name.starts_with("._") || !rank.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    Some((name, rank.parse().ok().filter(|&rank| rank < MOST_RANKS)?))
}

/// The file of each rank, of which none may be missing.
fn of_ranks(directory: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let fault = |what: String| TraceError::Directory { path: directory.to_owned(), what };
    let mut names = BTreeSet::new();
    let mut by_rank = BTreeMap::new();
    for path in files(directory)? {
        if let Some((name, rank)) = rank_of(&path) {
            names.insert(name.to_owned());
            by_rank.insert(rank, path);
        }
    }
    if names.len() > 1 {
        let names: Vec<String> = names.into_iter().take(4).collect();
        return Err(fault(format!("files of several Chakra traces: {}: keep one in the directory", names.join(", "))));
    }
    let missing = (0..).zip(by_rank.keys()).find(|(expected, rank)| expected != *rank);
    if let Some((missing, _)) = missing {
        return Err(fault(format!("no file of rank {missing}, where there are files of later ranks")));
    }
    Ok(by_rank.into_values().collect())
}

/// What the first reading finds.
#[derive(Debug, Default)]
struct ChakraSurvey {
    /// The members of each process group, in the order of the names.
    groups: BTreeMap<String, Vec<Rank>>,
    /// The number of nodes that compute, or read or write memory, and have no duration.
    without_time: u64,
    /// The number of dependences on nodes that are in no file.
    missing: u64,
    /// The number of collectives that have a size and do not say which they are; wrappers of others have none.
    untyped: u64,
    /// The number of collectives with a root, which Chakra does not name.
    rooted: u64,
    /// The attributes of communication that titr does not know, with the number of their nodes.
    unknown: BTreeMap<String, u64>,
}

impl ChakraSurvey {
    fn of(files: &[PathBuf]) -> Result<Self, TraceError> {
        let mut survey = Self::default();
        for (rank, path) in (0..).map(Rank).zip(files) {
            let mut nodes = Nodes::open(path)?;
            let (mut ids, mut after) = (rustc_hash::FxHashSet::default(), Vec::new());
            while let Some((mut node, at)) = nodes.next()? {
                if !ids.insert(node.id) {
                    return Err(nodes.error(at, format!("another node has the id {}, too", node.id)));
                }
                after.append(&mut node.after);
                for name in std::mem::take(&mut node.unknown) {
                    *survey.unknown.entry(name).or_default() += 1;
                }
                survey.without_time += u64::from(matches!(node.kind, 2..=4) && node.duration == 0);
                survey.untyped += u64::from(node.kind == COLLECTIVE && node.collective.is_none() && node.bytes > 0);
                if let (COLLECTIVE, Some(kind)) = (node.kind, node.collective) {
                    survey.rooted += u64::from(matches!(kind, 1 | 3 | 4 | 5));
                    if !node.group.is_empty() {
                        let members = survey.groups.entry(node.group).or_default();
                        if members.last() != Some(&rank) {
                            members.push(rank);
                        }
                    }
                }
            }
            survey.missing += after.iter().filter(|id| !ids.contains(id)).count() as u64;
        }
        Ok(survey)
    }
}

struct ChakraSources {
    files: Vec<PathBuf>,
    survey: ChakraSurvey,
}

impl RankSources for ChakraSources {
    fn source(&self, rank: Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let path = self.files.get(rank.0 as usize).map_or(Path::new(""), PathBuf::as_path);
        Ok(Box::new(GraphSource::new(path, rank, self.files.len() as u32, &self.survey.groups)?))
    }

    fn untranslated(&self) -> Vec<String> {
        use titr_common::format::counted;
        let ChakraSurvey { groups, without_time, missing, untyped, rooted, unknown } = &self.survey;
        let mut all = Vec::new();
        let mut say = |number: u64, one: &str, many: &str, what: &str| {
            if number > 0 {
                all.push(format!("{}{what}", counted(number, one, many)));
            }
        };
        let (one, many) = ("computation or access of memory has", "computations and accesses of memory have");
        say(*without_time, one, many, " no duration, and take no time");
        say(*missing, "dependence is", "dependences are", " on nodes that are in no file, and left out");
        let (one, many) = ("collective has", "collectives have");
        say(*untyped, one, many, " a comm_size and no comm_type, and take no time");
        say(*rooted, one, many, " a root: the first member, unless the node names another");
        for (name, nodes) in unknown {
            let what = format!(" the attribute {name}, whose meaning is left out: the members or the time may differ");
            say(*nodes, "node has", "nodes have", &what);
        }
        let what = ": the members are the ranks that have collectives of a group of its name";
        say(groups.len() as u64, "process group", "process groups", what);
        all
    }
}

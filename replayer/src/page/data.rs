//! The data that a page is drawn from, as one object.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use titr_analyses::AnalysedResult;
use titr_common::time::Time;
use titr_common::timeline::Series;
use titr_network::topology::{HostId, LinkId, Topology};
use titr_platform::Platform;
use titr_simulation::result::LinkUse;

use super::detail::ACTIVITY_NAMES;
use super::findings::shorten;
use super::overview::{ActivityMap, PairMap};
use super::units::Unit;
use super::{Detail, Overview};
use crate::diff::Difference;
use crate::machine::FailureOfMachine;
use crate::report::main_cause;

/// The program, the machine and the command that a page is about.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Origin {
    /// The words of the command line.
    pub command: Vec<String>,
    /// The name of the program, or of its trace if the trace does not name the program.
    pub program: String,
    /// The path of the trace.
    pub trace: String,
    /// The path of the platform file.
    pub platform: String,
    /// The text of the platform file.
    pub platform_text: String,
    /// The bandwidth of most links of the network, in bytes a second; 0 if there are none.
    pub bandwidth: f64,
    /// The host of each rank.
    pub hosts: Vec<u32>,
    /// The names of all hosts; empty if they are `node-0`, `node-1` ….
    pub names: Vec<String>,
    /// What fails, in words.
    pub failures: Vec<String>,
    /// The links that have failed at the start.
    pub failed: Vec<String>,
}

impl Origin {
    /// The bandwidth that most links of `platform` have.
    pub(crate) fn bandwidth(platform: &Platform) -> f64 {
        let mut links = BTreeMap::<u64, u64>::new();
        platform.topology.links().iter().for_each(|link| *links.entry(link.bandwidth as u64).or_default() += 1);
        // Of equally frequent bandwidths, the lowest one.
        links.into_iter().rev().max_by_key(|&(_, links)| links).map_or(0.0, |(bandwidth, _)| bandwidth as f64)
    }

    /// The names of all hosts, if they have names of their own.
    pub(crate) fn names(topology: &dyn Topology) -> Vec<String> {
        let name = |host| topology.host_name(HostId(host));
        match name(0).as_str() {
            "node-0" | "host 0" => Vec::new(),
            _ => (0..topology.hosts()).map(name).collect(),
        }
    }

    /// What fails on a machine, in words.
    pub(crate) fn failures(topology: &dyn Topology) -> Vec<String> {
        topology.failures().iter().map(|failure| FailureOfMachine::of(failure).in_words()).collect()
    }

    /// The names of the links that have failed at the start.
    pub(crate) fn failed(topology: &dyn Topology) -> Vec<String> {
        failed_at_start(topology).into_iter().map(|link| topology.link_name(link)).collect()
    }
}

/// The links that have failed at the start.
pub(super) fn failed_at_start(topology: &dyn Topology) -> BTreeSet<LinkId> {
    let failures = topology.failures().iter().filter(|failure| failure.at == Time::ZERO);
    failures.flat_map(|failure| failure.links.iter().copied()).collect()
}

/// The data of a page.
#[derive(Serialize, JsonSchema)]
pub struct PageData<'a> {
    /// The version of titr.
    version: &'static str,
    /// The names of the activities, by their numbers.
    activities: [&'static str; 6],
    /// The program, the machine and the command.
    origin: &'a Origin,
    /// The result.
    result: Cow<'a, AnalysedResult>,
    /// Whether findings have more rows than the page has room for: those of other ranks are joined or left out.
    is_shortened: bool,
    /// The main cause of the predicted time; `None` if no time passes.
    cause: Option<String>,
    /// The units of the numbers in the findings of analyses, by their keys.
    units: BTreeMap<String, Unit>,
    /// All links that carried anything: the busiest of the network first, then the busiest inside hosts.
    links: Vec<LinkUse>,
    /// The load of the busiest links over time.
    loads: Vec<LinkLoad<'a>>,
    /// The shares of activities in cells of ranks and time.
    map: ActivityMap,
    /// The communication matrix.
    matrix: PairMap,
    /// The states and messages that are shown one by one.
    detail: &'a Detail,
    /// The result compared with an earlier one; `None` if there is none.
    comparison: Option<&'a Difference>,
}

/// The load of a link over time.
#[derive(Serialize, JsonSchema)]
struct LinkLoad<'a> {
    /// The name of the link.
    name: &'a str,
    /// Pairs of a time in nanoseconds and the load from that time on, in percent of the link's bandwidth: at most 100, though a
    /// message, which is taken to cross its route at an even pace, can seem to exceed it for a moment.
    samples: Vec<(u64, f64)>,
}

impl<'a> PageData<'a> {
    /// The page of a result, with the recorder's findings, the load of links over time, and a result to compare with.
    #[must_use]
    pub fn new(
        origin: &'a Origin,
        result: &'a AnalysedResult,
        (overview, detail): (&Overview, &'a Detail),
        loads: &'a [Series],
        comparison: Option<&'a Difference>,
    ) -> Self {
        let load = |series: &'a Series| {
            let samples =
                series.samples.iter().map(|&(at, percent)| (at.0 / 1000, (percent * 10.0).round().min(1000.0) / 10.0));
            LinkLoad {
                name: series.name.strip_suffix(", % of bandwidth").unwrap_or(&series.name),
                samples: samples.collect(),
            }
        };
        let mut shown = Cow::Borrowed(result);
        let mut shortened = result.analyses.clone();
        let is_shortened = shortened.as_mut().is_some_and(shorten);
        if is_shortened {
            shown.to_mut().analyses = shortened;
        }
        // A millionth of the bandwidth is as fine as a picture can be.
        let link = |link: &LinkUse| LinkUse { utilization: (link.utilization * 1e6).round() / 1e6, ..link.clone() };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            activities: ACTIVITY_NAMES,
            origin,
            result: shown,
            is_shortened,
            cause: main_cause(result).filter(|_| result.jobs.is_empty()),
            units: Unit::of_findings(),
            links: result.all_links.iter().map(link).collect(),
            loads: loads.iter().map(load).collect(),
            map: overview.activities(),
            matrix: overview.matrix(),
            detail,
            comparison,
        }
    }
}

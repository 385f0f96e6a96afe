//! Derives hypotheses from a result: one for each large cause of waiting, and bounds on the possible savings.

use std::collections::BTreeMap;

use titr_common::collectives::Algorithm;
use titr_common::event::CollectiveKind;
use titr_common::format::uncertain;
use titr_common::units::{Bytes, Seconds};
use titr_hypotheses::{Change, Network, Scope};

use crate::{AnalysedResult, Pattern, ProgramPlace, SegmentKind, WaitFindings};

/// A hypothesis to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The hypothesis in words.
    pub title: String,
    /// The cause that suggests it; `None` of a bound.
    pub because: Option<String>,
    /// The change of the program or the machine.
    pub change: Change,
    /// The waiting of all ranks that the cause explains, in seconds: the change that may save most comes first.
    pub concerns: f64,
}

/// Causes of less than this part of all ranks' time suggest nothing.
const LEAST: f64 = 0.005;

/// The most places of the program whose computation is balanced.
const PLACES: usize = 3;

/// The most algorithms of a collective that are tried.
const ALGORITHMS: usize = 3;

/// The hypotheses that a result with these wait states suggests, the most promising first; `kinds` are the collectives that
/// the program calls.
pub(crate) fn candidates(result: &AnalysedResult, waits: &WaitFindings, kinds: &[CollectiveKind]) -> Vec<Candidate> {
    let whole = result.simulated_time.0 * result.ranks as f64;
    let is_large = |seconds: &f64| *seconds > 0.0 && *seconds >= LEAST * whole;
    let in_collectives = result.per_rank.iter().map(|shares| shares.collective.0).sum();
    let mut all = Vec::new();
    all.extend(imbalances(waits, is_large));
    all.extend(messages(waits, is_large));
    if is_large(&in_collectives) {
        all.extend(kinds.iter().flat_map(|kind| algorithms(*kind, in_collectives)));
    }
    // Stable: of hypotheses with one cause, the simpler one comes first.
    all.sort_by(|one, other| other.concerns.total_cmp(&one.concerns));
    all
}

/// Computation that makes ranks wait is balanced, at the places that make them wait most.
fn imbalances(waits: &WaitFindings, is_large: impl Fn(&f64) -> bool) -> Vec<Candidate> {
    let mut computing: BTreeMap<(Option<&str>, Option<&str>), f64> = BTreeMap::new();
    for cause in waits.causes.iter().filter(|cause| cause.kind == SegmentKind::Compute) {
        *computing.entry(innermost(&cause.place)).or_default() += cause.seconds.0;
    }
    let mut computing: Vec<_> = computing.into_iter().filter(|(_, time)| is_large(time)).collect();
    computing.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut all = Vec::new();
    for ((region, call_site), seconds) in computing.into_iter().take(PLACES) {
        let place = match (region, call_site) {
            (Some(region), _) => format!(" in region {region}"),
            (None, Some(site)) => format!(" before {site}"),
            (None, None) => String::new(),
        };
        let mut balanced = |over, how| {
            let (region, call_site) = (region.map(str::to_owned), call_site.map(str::to_owned));
            all.push(Candidate {
                title: format!("all ranks compute the same{place}{how}"),
                because: Some(format!("computation{place} makes ranks wait {}", of_ranks(seconds))),
                change: Change::BalanceCompute { region, call_site, over },
                concerns: seconds,
            });
        };
        balanced(Scope::Totals, "");
        if !place.is_empty() {
            balanced(Scope::Instances, ", each time");
        }
    }
    all
}

/// Messages that make ranks wait are sent in the background, are fewer, or are smaller.
fn messages(waits: &WaitFindings, is_large: impl Fn(&f64) -> bool) -> Vec<Candidate> {
    let in_patterns = |patterns: &[Pattern]| -> f64 {
        waits.patterns.iter().filter(|time| patterns.contains(&time.pattern)).map(|time| time.seconds.0).sum()
    };
    let because_of = |kinds: &[SegmentKind]| -> f64 {
        waits.causes.iter().filter(|cause| kinds.contains(&cause.kind)).map(|cause| cause.seconds.0).sum()
    };
    let point_to_point = in_patterns(&[
        Pattern::LateSender,
        Pattern::LateReceiver,
        Pattern::LateProgress,
        Pattern::WrongOrder,
        Pattern::Transfer,
    ]);
    let small = because_of(&[SegmentKind::Latency, SegmentKind::Overhead]);
    let large = because_of(&[SegmentKind::Transfer, SegmentKind::Contention]);
    let contention = because_of(&[SegmentKind::Contention]);
    let of_small = format!("latencies and overheads of messages make ranks wait {}", of_ranks(small));
    let suggested = [
        (
            point_to_point,
            "messages go while ranks compute",
            format!("ranks wait {} in sends and receives", of_ranks(point_to_point)),
            Change::Nonblocking,
        ),
        (
            small,
            "messages without content are not sent",
            of_small.clone(),
            Change::RemoveMessages { max_bytes: Bytes(0) },
        ),
        (small, "two messages in a row are one", of_small, Change::MergeMessages { count: 2 }),
        (
            large,
            "messages have half the bytes",
            format!("the bytes of messages make ranks wait {}", of_ranks(large)),
            Change::ScaleMessages { factor: 0.5 },
        ),
        (
            contention,
            "no message slows down another (other placement, more links)",
            format!("messages that share links make ranks wait {}", of_ranks(contention)),
            Change::IdealNetwork { messages: Network::Uncontended },
        ),
    ];
    let candidate = |(concerns, title, because, change): (f64, &str, String, Change)| Candidate {
        title: title.to_owned(),
        because: Some(because),
        change,
        concerns,
    };
    suggested.into_iter().filter(|(seconds, ..)| is_large(seconds)).map(candidate).collect()
}

/// A collective by each of its algorithms.
fn algorithms(kind: CollectiveKind, in_collectives: f64) -> impl Iterator<Item = Candidate> {
    Algorithm::all(kind).into_iter().take(ALGORITHMS).map(move |algorithm| Candidate {
        title: format!("{kind} by {algorithm}"),
        because: Some(format!("ranks spend {} in collectives", of_ranks(in_collectives))),
        change: Change::Collective { collective: kind.to_string(), algorithm: algorithm.to_string() },
        concerns: in_collectives,
    })
}

/// Hypotheses that cannot come true.
pub(crate) fn bounds() -> [Candidate; 2] {
    let bound =
        |title: &str, change| Candidate { title: title.to_owned(), because: None, change, concerns: f64::INFINITY };
    [
        bound("the network takes no time", Change::IdealNetwork { messages: Network::Instant }),
        bound("computation takes no time", Change::InfiniteCpu),
    ]
}

/// The region of a place, or the innermost of its call sites where it is in none.
fn innermost(ProgramPlace { region, call_site }: &ProgramPlace) -> (Option<&str>, Option<&str>) {
    match region {
        Some(region) => (Some(region), None),
        None => (None, call_site.as_ref().and_then(|site| site.split(" < ").next())),
    }
}

/// Seconds of all ranks together.
fn of_ranks(seconds: f64) -> String {
    format!("{} (all ranks)", uncertain(Seconds(seconds), None))
}

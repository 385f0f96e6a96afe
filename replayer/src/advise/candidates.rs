//! The hypotheses that a result suggests: one for each large cause of waiting, and bounds on what can be saved.

use std::collections::BTreeMap;

use serde_json::Value;
use titr_common::collectives::Algorithm;
use titr_common::event::CollectiveKind;
use titr_simulation::SimulationResult;

/// A hypothesis to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The hypothesis in words.
    pub title: String,
    /// The cause that suggests it; `None` of a bound.
    pub because: Option<String>,
    /// The hypothesis as a file of hypotheses.
    pub changes: String,
}

/// Causes of less than this part of all ranks' time suggest nothing.
const LEAST: f64 = 0.005;

/// The most places of the program whose computation is balanced.
const PLACES: usize = 5;

/// The hypotheses that a result with the findings of `wait-states` suggests; `kinds` are the collectives that the program calls.
pub fn candidates(result: &SimulationResult, kinds: &[CollectiveKind]) -> Vec<Candidate> {
    let whole = result.simulated_time.0 * result.ranks as f64;
    let is_large = |seconds: f64| seconds > 0.0 && seconds >= LEAST * whole;
    let mut all = Vec::new();

    let causes = list(result, "causes");
    let mut computing: BTreeMap<(Option<&str>, Option<&str>), f64> = BTreeMap::new();
    let mut messages: BTreeMap<&str, f64> = BTreeMap::new();
    for cause in causes {
        let (Some(kind), Some(seconds)) = (cause["kind"].as_str(), cause["seconds"].as_f64()) else { continue };
        match kind {
            "compute" => *computing.entry(place(cause)).or_default() += seconds,
            _ => *messages.entry(kind).or_default() += seconds,
        }
    }
    let mut computing: Vec<_> = computing.into_iter().filter(|(_, time)| is_large(*time)).collect();
    computing.sort_by(|a, b| b.1.total_cmp(&a.1));
    for ((region, call_site), seconds) in computing.into_iter().take(PLACES) {
        let (place, key) = match (region, call_site) {
            (Some(region), _) => (format!(" in region {region}"), format!("region = {}\n", toml_text(region))),
            (None, Some(site)) => (format!(" at {site}"), format!("call_site = {}\n", toml_text(site))),
            (None, None) => (String::new(), String::new()),
        };
        let because = format!("computation{place} makes ranks wait {}", of_ranks(seconds));
        for (over, how) in
            [("totals", ""), ("instances", ", each time")].into_iter().take(1 + usize::from(!key.is_empty()))
        {
            all.push(Candidate {
                title: format!("all ranks compute the same{place}{how}"),
                because: Some(because.clone()),
                changes: format!("[[change]]\nkind = \"balance-compute\"\n{key}over = \"{over}\"\n"),
            });
        }
    }

    let pattern = |names: &[&str]| -> f64 {
        let found = list(result, "patterns")
            .filter(|found| found["pattern"].as_str().is_some_and(|name| names.contains(&name)));
        found.filter_map(|found| found["seconds"].as_f64()).sum()
    };
    let point_to_point = pattern(&["late-sender", "late-receiver", "late-progress", "wrong-order", "transfer"]);
    if is_large(point_to_point) {
        all.push(Candidate {
            title: "messages go while ranks compute".to_owned(),
            because: Some(format!("ranks wait {} in sends and receives", of_ranks(point_to_point))),
            changes: "[[change]]\nkind = \"nonblocking\"\n".to_owned(),
        });
    }
    let of_messages = |kinds: &[&str]| kinds.iter().filter_map(|kind| messages.get(kind)).sum::<f64>();
    let small = of_messages(&["latency", "overhead"]);
    if is_large(small) {
        let because = format!("latencies and overheads of messages make ranks wait {}", of_ranks(small));
        for (title, change) in [
            ("messages without content are not sent", "kind = \"remove-messages\"\nmax_bytes = 0\n"),
            ("two messages in a row are one", "kind = \"merge-messages\"\ncount = 2\n"),
        ] {
            let changes = format!("[[change]]\n{change}");
            all.push(Candidate { title: title.to_owned(), because: Some(because.clone()), changes });
        }
    }
    let large = of_messages(&["transfer", "contention"]);
    if is_large(large) {
        all.push(Candidate {
            title: "messages have half the bytes".to_owned(),
            because: Some(format!("the bytes of messages make ranks wait {}", of_ranks(large))),
            changes: "[[change]]\nkind = \"scale-messages\"\nfactor = 0.5\n".to_owned(),
        });
    }
    let contention = of_messages(&["contention"]);
    if is_large(contention) {
        all.push(Candidate {
            title: "no message slows down another (other placement, more links)".to_owned(),
            because: Some(format!("messages that share links make ranks wait {}", of_ranks(contention))),
            changes: "[[change]]\nkind = \"ideal-network\"\nmessages = \"uncontended\"\n".to_owned(),
        });
    }
    let in_collectives: f64 = result.per_rank.iter().map(|shares| shares.collective.0).sum();
    if is_large(in_collectives) {
        for &kind in kinds {
            all.extend(Algorithm::all(kind).into_iter().map(|algorithm| Candidate {
                title: format!("{kind} by {algorithm}"),
                because: Some(format!("ranks spend {} in collectives", of_ranks(in_collectives))),
                changes: format!(
                    "[[change]]\nkind = \"collective\"\ncollective = \"{kind}\"\nalgorithm = \"{algorithm}\"\n"
                ),
            }));
        }
    }

    all.push(Candidate {
        title: "the network takes no time".to_owned(),
        because: None,
        changes: "[[change]]\nkind = \"ideal-network\"\n".to_owned(),
    });
    all.push(Candidate {
        title: "computation takes no time".to_owned(),
        because: None,
        changes: "[[change]]\nkind = \"infinite-cpu\"\n".to_owned(),
    });
    all
}

/// The place of a cause: its region, or the innermost of its call sites where it is in none.
fn place(cause: &Value) -> (Option<&str>, Option<&str>) {
    match (cause["region"].as_str(), cause["call_site"].as_str()) {
        (Some(region), _) => (Some(region), None),
        (None, call_site) => (None, call_site.and_then(|site| site.split(" < ").next())),
    }
}

/// A list among the findings of `wait-states`.
fn list<'r>(result: &'r SimulationResult, name: &str) -> impl Iterator<Item = &'r Value> {
    let found = result.analyses.get("wait-states").and_then(|findings| findings[name].as_array());
    found.into_iter().flatten()
}

/// Seconds of all ranks together.
fn of_ranks(seconds: f64) -> String {
    format!("{seconds:.6} s (all ranks)")
}

/// A text as TOML writes it, and JSON does.
fn toml_text(text: &str) -> String {
    Value::from(text).to_string()
}

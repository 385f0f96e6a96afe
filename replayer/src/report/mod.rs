//! The forms of results, for users and for programs. Results contain their own data; only the [main cause](main_cause) is found here.
//! The [text summary](text) is printed if no other form is requested.

pub(crate) mod csv;
pub(crate) mod text;
pub(crate) mod variations;

use serde::Serialize;
use titr_analyses::AnalysedResult;
use titr_simulation::observe::Shares;
use titr_simulation::traffic::TrafficResult;
use titr_simulation::triggered::TriggeredResult;
use variations::Variations;

/// The result of a command. As JSON, it is one object.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub(crate) enum Results<'a> {
    /// A trace was replayed.
    Simulation(&'a AnalysedResult),
    /// A platform was measured under synthetic traffic.
    Traffic(&'a TrafficResult),
    /// A network trace was replayed.
    Triggered(&'a TriggeredResult),
    /// A trace was replayed on variations of a platform.
    Variations(&'a Variations),
}

/// The activities other than computation, with a name and an interpretation.
type NamedPart = (&'static str, fn(&Shares) -> f64);

const PARTS: [NamedPart; 5] = [
    ("sending", |shares| shares.send.0),
    ("receiving", |shares| shares.recv.0),
    ("waiting", |shares| shares.wait.0),
    ("files", |shares| shares.file.0),
    ("collectives", |shares| shares.collective.0),
];

/// The main cause of a predicted time: the two largest parts of the ranks' time; `None` if no time passes.
pub(crate) fn main_cause(result: &AnalysedResult) -> Option<String> {
    let ranks = &result.per_rank;
    let sum = |part: &dyn Fn(&Shares) -> f64| ranks.iter().map(part).sum::<f64>();
    let mut parts: Vec<(&str, f64)> = vec![("computation", sum(&|shares| shares.compute.0))];
    parts.extend(PARTS.iter().map(|(name, part)| (*name, sum(part))));
    // Several threads of a rank spend more than the time there is.
    let early = sum(&|shares| (result.simulated_time.0 - shares.finish.0).max(0.0));
    parts.push(("having finished before the last rank", early));
    let all = parts.iter().map(|(_, time)| time).sum::<f64>();
    if all <= 0.0 {
        return None;
    }
    // Stable: of equal parts, computation comes first.
    parts.sort_by(|one, other| other.1.total_cmp(&one.1));
    let named = |(name, time): &(&str, f64)| format!("{name} ({:.1} %)", 100.0 * time / all);
    let (most, next) = (parts.first()?, parts.get(1).filter(|(_, time)| *time > 0.0));
    Some(next.map_or_else(|| named(most), |next| format!("{}, then {}", named(most), named(next))))
}

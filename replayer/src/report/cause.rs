//! The main cause of a predicted time.

use titr_analyses::AnalysedResult;
use titr_simulation::observe::Shares;

/// The activities other than computation, with a name and an interpretation.
type NamedPart = (&'static str, fn(&Shares) -> f64);

const PARTS: [NamedPart; 5] = [
    ("sending", |shares| shares.send.0),
    ("receiving", |shares| shares.recv.0),
    ("waiting", |shares| shares.wait.0),
    ("files", |shares| shares.file.0),
    ("collectives", |shares| shares.collective.0),
];

/// The two largest parts of the ranks' time; `None` if no time passes.
pub(crate) fn main(result: &AnalysedResult) -> Option<String> {
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

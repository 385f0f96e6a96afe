//! The main cause of a predicted time, and a suggestion against it.

use titr_analyses::AnalysedResult;
use titr_simulation::result::Shares;

/// The activities other than computation, with a name and an interpretation.
type NamedPart = (&'static str, fn(&Shares) -> f64);

const PARTS: [NamedPart; 5] = [
    ("sending", |shares| shares.send.0),
    ("receiving", |shares| shares.recv.0),
    ("waiting", |shares| shares.wait.0),
    ("files", |shares| shares.file.0),
    ("collectives", |shares| shares.collective.0),
];

/// From this fraction of the time on, computation alone is the cause.
const MOSTLY: f64 = 0.8;
/// From this excess over the mean on, the rank with most computation is the cause of waiting.
const UNEVEN: f64 = 0.1;
/// From this use on, a link is the cause of waiting.
const BUSY: f64 = 0.5;
/// From this mean size in bytes on, bandwidth matters more than latency.
const LARGE: u64 = 1 << 16;

/// A sentence for the cause, and one for the suggestion.
pub(super) struct Cause {
    pub(super) cause: String,
    pub(super) advice: String,
}

impl Cause {
    /// The cause of a result; `None` if no time passes.
    pub(super) fn of(result: &AnalysedResult) -> Option<Self> {
        let ranks = &result.per_rank;
        let whole = result.simulated_time.0 * ranks.len() as f64;
        let sum = |part: &dyn Fn(&Shares) -> f64| ranks.iter().map(part).sum::<f64>();
        let compute = sum(&|shares| shares.compute.0);
        // Several threads of a rank spend more than the time there is.
        let early = sum(&|shares| (result.simulated_time.0 - shares.finish.0).max(0.0));
        let mut others: Vec<(&str, f64)> = PARTS.iter().map(|(name, part)| (*name, sum(part))).collect();
        others.push(("having finished before the last rank", early));
        let all = compute + others.iter().map(|(_, time)| time).sum::<f64>();
        if whole <= 0.0 || all <= 0.0 {
            return None;
        }
        let percent = |time: f64| format!("{:.1} %", 100.0 * time / all);
        let (name, most) = others.into_iter().reduce(|most, next| if next.1 > most.1 { next } else { most })?;
        let mean = compute / ranks.len() as f64;
        let heaviest = ranks.iter().map(|shares| shares.compute.0).fold(0.0, f64::max);
        let uneven = if mean > 0.0 { heaviest / mean - 1.0 } else { 0.0 };
        let link = result.links.first().filter(|link| link.utilization >= BUSY);
        let rest = if most > 0.0 { format!(", then {name} ({})", percent(most)) } else { String::new() };
        let computing = format!("computation ({}){rest}", percent(compute));
        let waits = || {
            let then =
                if compute > 0.0 { format!(", beside computation ({})", percent(compute)) } else { String::new() };
            format!("{name} ({}){then}", percent(most))
        };
        let cause = if compute >= most { computing } else { waits() };
        let advice = if uneven >= UNEVEN && compute < MOSTLY * all {
            format!(
                "even computation: one rank computes {:.0} % more than the mean (--what-if, balance-compute)",
                100.0 * uneven
            )
        } else if compute >= MOSTLY * all {
            "faster hosts (--set hosts.speed=…), or less computation (--compute-scale 0.9)".to_owned()
        } else if name == "files" {
            "faster storage (--set storage.…), or fewer and larger accesses".to_owned()
        } else if let Some(link) = link {
            format!(
                "more bandwidth: {} is in use {:.0} % of the time (--set network.bandwidth=…)",
                link.name,
                100.0 * link.utilization
            )
        } else if result.bytes.0 >= LARGE * result.messages.max(1) {
            "more bandwidth (--set network.bandwidth=…), or messages during computation (--what-if, nonblocking)"
                .to_owned()
        } else {
            "fewer messages (--what-if, merge-messages), or less latency (--set network.latency=…)".to_owned()
        };
        Some(Self { cause, advice })
    }
}

//! The outcome of a point: the numbers of a result that a table of results has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_analyses::AnalysedResult;
use titr_common::units::{Bytes, Seconds};
use titr_simulation::Efficiencies;
use titr_simulation::observe::Shares;

/// The outcome of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PointOutcome {
    /// The predicted time; of several runs, that of the first.
    pub(crate) simulated_time: Seconds,
    /// The mean of the predicted times of several runs; `None` if there was one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mean_time: Option<Seconds>,
    /// The ends of the 99 % confidence interval of this mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interval: Option<[Seconds; 2]>,
    /// The time by activity: the mean over the ranks.
    pub(crate) activities: Shares,
    /// The parallel efficiency and its factors; `None` if no rank computes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) efficiencies: Option<Efficiencies>,
    /// The number of messages that entered the network.
    pub(crate) messages: u64,
    /// The payload of these messages.
    pub(crate) bytes: Bytes,
    /// The number of hosts that have ranks.
    pub(crate) hosts_used: u64,
    /// The payload on the busiest link, as a fraction of what the link could have carried.
    pub(crate) largest_link_use: f64,
    /// The cost of the machine; `None` if the study has no prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    /// The sentences on what could not be simulated faithfully.
    pub(crate) warnings: Vec<String>,
}

/// A column of the table of results.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) number: fn(&PointOutcome) -> Option<f64>,
}

/// The columns of outcomes. A column without any value is left out.
pub(crate) const COLUMNS: [Column; 20] = [
    Column { name: "simulated_time", unit: "s", number: |outcome| Some(outcome.simulated_time.0) },
    Column { name: "runs_mean", unit: "s", number: |outcome| Some(outcome.mean_time?.0) },
    Column { name: "runs_interval_from", unit: "s", number: |outcome| Some(outcome.interval?[0].0) },
    Column { name: "runs_interval_to", unit: "s", number: |outcome| Some(outcome.interval?[1].0) },
    Column { name: "compute", unit: "s", number: |outcome| Some(outcome.activities.compute.0) },
    Column { name: "send", unit: "s", number: |outcome| Some(outcome.activities.send.0) },
    Column { name: "recv", unit: "s", number: |outcome| Some(outcome.activities.recv.0) },
    Column { name: "wait", unit: "s", number: |outcome| Some(outcome.activities.wait.0) },
    Column { name: "file", unit: "s", number: |outcome| Some(outcome.activities.file.0) },
    Column { name: "collective", unit: "s", number: |outcome| Some(outcome.activities.collective.0) },
    Column { name: "finish", unit: "s", number: |outcome| Some(outcome.activities.finish.0) },
    Column { name: "efficiencies_parallel", unit: "", number: |outcome| Some(outcome.efficiencies?.parallel) },
    Column { name: "efficiencies_load_balance", unit: "", number: |outcome| Some(outcome.efficiencies?.load_balance) },
    Column {
        name: "efficiencies_communication",
        unit: "",
        number: |outcome| Some(outcome.efficiencies?.communication),
    },
    Column { name: "efficiencies_serialisation", unit: "", number: |outcome| outcome.efficiencies?.serialisation },
    Column { name: "efficiencies_transfer", unit: "", number: |outcome| outcome.efficiencies?.transfer },
    Column { name: "messages", unit: "", number: |outcome| Some(outcome.messages as f64) },
    Column { name: "bytes", unit: "B", number: |outcome| Some(outcome.bytes.0 as f64) },
    Column { name: "largest_link_use", unit: "", number: |outcome| Some(outcome.largest_link_use) },
    Column { name: "cost", unit: "", number: |outcome| outcome.cost },
];

impl PointOutcome {
    /// The outcome of a result, on a machine of this cost.
    pub(crate) fn of(result: &AnalysedResult, cost: Option<f64>) -> Self {
        let ranks = result.per_rank.len().max(1) as f64;
        let sum = result.per_rank.iter().fold(Shares::default(), |sum: Shares, shares| {
            sum.zip(shares, |one: Seconds, other: Seconds| Seconds(one.0 + other.0))
        });
        let runs = result.runs.as_ref();
        Self {
            simulated_time: result.simulated_time,
            mean_time: runs.map(|runs| runs.mean),
            interval: runs.map(|runs| runs.interval),
            activities: sum.zip(&sum, |sum, _| Seconds(sum.0 / ranks)),
            efficiencies: result.efficiencies,
            messages: result.messages,
            bytes: result.bytes,
            hosts_used: result.hosts_used as u64,
            largest_link_use: result.links.first().map_or(0.0, |link| link.utilization),
            cost,
            warnings: result.warnings.clone(),
        }
    }
}

//! The efficiencies of several results side by side, with their scaling from the first result to each of the others, as the
//! POP project defines them (Wagner et al., "A structured approach to performance analysis", 2017).
//!
//! ```text
//! global              = parallel × computation scaling
//! computation scaling = computation of all ranks in the first result / in this one
//! instruction scaling = instructions of all ranks in the first result / in this one
//! ```
//!
//! In strong scaling, all ranks together do the same work for any number of ranks. In weak scaling, each rank does: there, the
//! mean of the ranks takes the place of the sum.

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::units::Seconds;
use titr_simulation::Efficiencies;

use crate::diff::ReplayedResult;

/// The work that stays the same for any number of ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scaling {
    /// The work of all ranks together.
    #[default]
    Strong,
    /// The work of each rank.
    Weak,
}

/// The efficiencies of several results.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct EfficiencyTable {
    /// The results, in the order in which they were given. The first one is the reference of the scalings.
    pub(crate) results: Vec<ScaledResult>,
}

/// The efficiencies of one of several results. All are fractions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ScaledResult {
    /// The name of the result.
    pub(crate) name: String,
    /// The number of ranks.
    pub(crate) ranks: usize,
    /// The predicted time.
    pub(crate) simulated_time: Seconds,
    /// The parallel efficiency and its factors; `None` if no rank computes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) efficiencies: Option<Efficiencies>,
    /// The computation of all ranks in the first result, in seconds, divided by that in this one; `None` if one of both has no
    /// computation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) computation_scaling: Option<f64>,
    /// The instructions of all ranks in the first result, divided by those in this one; `None` if the instructions of one of both
    /// were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instruction_scaling: Option<f64>,
    /// The parallel efficiency times the computation scaling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) global: Option<f64>,
}

impl EfficiencyTable {
    /// The efficiencies of results with their names.
    pub(crate) fn of(results: &[(String, ReplayedResult)], scaling: Scaling) -> Self {
        let Some((_, first)) = results.first() else { return Self { results: Vec::new() } };
        let scaled = |(name, result): &(String, ReplayedResult)| ScaledResult::of(name, result, first, scaling);
        Self { results: results.iter().map(scaled).collect() }
    }
}

impl ScaledResult {
    fn of(name: &str, result: &ReplayedResult, first: &ReplayedResult, scaling: Scaling) -> Self {
        let efficiencies = result.efficiencies.or_else(|| Efficiencies::of(&result.per_rank, result.simulated_time));
        let scale = |of: fn(&ReplayedResult) -> Option<f64>| {
            let per = |result: &ReplayedResult| match scaling {
                Scaling::Strong => 1.0,
                Scaling::Weak => result.per_rank.len().max(1) as f64,
            };
            Some(of(first)? / per(first) / (of(result)? / per(result)))
        };
        let computation_scaling = scale(computation);
        Self {
            name: name.to_owned(),
            ranks: result.per_rank.len(),
            simulated_time: result.simulated_time,
            efficiencies,
            computation_scaling,
            instruction_scaling: scale(instructions),
            global: efficiencies.zip(computation_scaling).map(|(found, scaling)| found.parallel * scaling),
        }
    }
}

/// The computation of all ranks in seconds, if there is any.
fn computation(result: &ReplayedResult) -> Option<f64> {
    Some(result.per_rank.iter().map(|shares| shares.compute.0).sum()).filter(|&seconds| seconds > 0.0)
}

/// The instructions of all ranks, if they were counted.
fn instructions(result: &ReplayedResult) -> Option<f64> {
    let is_counted = result.recording.as_ref().is_none_or(|recording| recording.counted == "instructions");
    Some(result.computed.0).filter(|&volume| is_counted && volume > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(compute: &[f64], time: f64, instructions: f64, counted: &str) -> ReplayedResult {
        let per_rank: Vec<_> =
            compute.iter().map(|compute| serde_json::json!({"compute": compute, "finish": time})).collect();
        let result = serde_json::json!({
            "simulated_time": time, "computed": instructions, "per_rank": per_rank, "links": [],
            "recording": {"program": "a.out", "mpi": "", "counted": counted},
        });
        serde_json::from_value(result).unwrap()
    }

    fn table(results: &[ReplayedResult], scaling: Scaling) -> Vec<ScaledResult> {
        let named: Vec<_> = results.iter().map(|result| ("name".to_owned(), result.clone())).collect();
        EfficiencyTable::of(&named, scaling).results
    }

    #[test]
    fn scalings_compare_the_work_of_all_ranks_with_the_first_result() {
        let [one, two] = [result(&[4.0], 5.0, 8e9, "instructions"), result(&[2.0, 3.0], 4.0, 10e9, "instructions")];
        let scaled = table(&[one, two], Scaling::Strong);
        assert_eq!(scaled[0].computation_scaling, Some(1.0));
        assert_eq!((scaled[1].computation_scaling, scaled[1].instruction_scaling), (Some(0.8), Some(0.8)));
        // 5 s of computation in 2 × 4 s, and 4 / 5 of the computation of the first result.
        assert_eq!(scaled[1].global, Some(0.625 * 0.8));
        assert_eq!((scaled[1].ranks, scaled[1].simulated_time), (2, Seconds(4.0)));
    }

    #[test]
    fn weak_scaling_compares_the_mean_rank() {
        let [one, two] = [result(&[4.0], 5.0, 8e9, "instructions"), result(&[4.0, 4.0], 5.0, 16e9, "instructions")];
        let scaled = table(&[one, two], Scaling::Weak);
        assert_eq!((scaled[1].computation_scaling, scaled[1].instruction_scaling), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn times_are_no_instructions_and_a_result_without_computation_has_no_scaling() {
        let [one, two] = [result(&[4.0], 5.0, 8e9, "CPU time"), result(&[0.0], 1.0, 0.0, "instructions")];
        let scaled = table(&[one, two], Scaling::Strong);
        assert_eq!((scaled[0].computation_scaling, scaled[0].instruction_scaling), (Some(1.0), None));
        assert_eq!((scaled[1].efficiencies, scaled[1].computation_scaling, scaled[1].global), (None, None, None));
    }
}

//! The machines of a study, ranked. A machine is a value of each axis but the trace; a program is a trace.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::format::{count, significant, uncertain};
use titr_common::units::Seconds;

use crate::studies::axis::{Axis, AxisKey, Setting};
use crate::studies::inputs::Inputs;
use crate::studies::outcome::PointOutcome;

/// The machines of a study, and the programs by which they are ranked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Ranking {
    /// The names of the programs.
    pub(crate) programs: Vec<String>,
    /// How often each program runs.
    pub(crate) weights: Vec<f64>,
    /// The sign of the currency of prices; empty if the study names none.
    pub(crate) currency: String,
    /// The machines on which all programs were replayed, the fastest first.
    pub(crate) machines: Vec<RankedMachine>,
}

/// A machine of a study.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RankedMachine {
    /// The name.
    pub(crate) name: String,
    /// The number of the point of each program, from 1.
    pub(crate) points: Vec<usize>,
    /// The predicted time of each program.
    pub(crate) times: Vec<Seconds>,
    /// The time of all programs, each as often as it runs.
    pub(crate) total: Seconds,
    /// The price; `None` if the study has no prices.
    pub(crate) price: Option<f64>,
}

impl Ranking {
    /// Ranks the machines of a study by the outcomes of its points.
    pub(crate) fn of(inputs: &Inputs, outcomes: &[PointOutcome]) -> Self {
        let study = &inputs.study;
        let trace = study.axis(&AxisKey::Trace);
        let mut programs: Vec<&Setting> = Vec::new();
        let mut machines: BTreeMap<Vec<&str>, Vec<(usize, usize)>> = BTreeMap::new();
        for point in 0..outcomes.len() {
            let settings = inputs.settings(point);
            let Some(program) = trace.and_then(|axis| settings.get(axis)) else { continue };
            let known = programs.iter().position(|one| one.shown == program.shown).unwrap_or_else(|| {
                programs.push(program);
                programs.len() - 1
            });
            let others = settings.iter().enumerate().filter(|(axis, _)| Some(*axis) != trace);
            machines
                .entry(others.map(|(_, setting)| setting.shown.as_str()).collect())
                .or_default()
                .push((known, point));
        }
        let weight = |program: &&Setting| {
            let named = program.name.as_ref().and_then(|name| study.weights.get(name));
            named.or_else(|| study.weights.get(&program.shown)).copied().unwrap_or(1.0)
        };
        let weights: Vec<f64> = programs.iter().map(weight).collect();
        let machine = |mut points: Vec<(usize, usize)>| {
            points.sort_unstable();
            let (_, first) = *points.first()?;
            let is_whole = points.iter().map(|(program, _)| *program).eq(0..programs.len());
            let times: Vec<Seconds> = points
                .iter()
                .map(|&(_, point)| outcomes[point].mean_time.unwrap_or(outcomes[point].simulated_time))
                .collect();
            is_whole.then(|| RankedMachine {
                name: name(inputs, first),
                points: points.iter().map(|(_, point)| point + 1).collect(),
                total: Seconds(times.iter().zip(&weights).map(|(time, weight)| time.0 * weight).sum()),
                times,
                price: outcomes[first].cost,
            })
        };
        let mut machines: Vec<RankedMachine> = machines.into_values().filter_map(machine).collect();
        machines.sort_by(|one, other| one.total.0.total_cmp(&other.total.0).then(one.points.cmp(&other.points)));
        Self {
            programs: programs.iter().map(|program| program.file_name()).collect(),
            weights,
            currency: study.cost.as_ref().map(|cost| cost.currency.clone()).unwrap_or_default(),
            machines,
        }
    }

    /// The machine with the lowest product of price and time, if there are prices.
    pub(crate) fn best_value(&self) -> Option<&RankedMachine> {
        let machines = self.machines.iter().filter_map(|machine| Some((machine, machine.price? * machine.total.0)));
        machines.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(machine, _)| machine)
    }

    /// The answers in words: the fastest machine, and the one that is worth most.
    pub(crate) fn answers(&self) -> Vec<String> {
        let Some(fastest) = self.machines.first() else { return Vec::new() };
        let each = self
            .programs
            .iter()
            .zip(&fastest.times)
            .map(|(program, time)| format!("{program} {}", uncertain(*time, None)));
        let each = match self.programs.len() {
            0 | 1 => String::new(),
            _ => format!(" ({})", each.collect::<Vec<_>>().join(", ")),
        };
        let mut answers = vec![format!("fastest: {}: {}{each}", fastest.name, uncertain(fastest.total, None))];
        if let Some((value, (price, highest))) =
            self.best_value().and_then(|value| Some((value, value.price.zip(fastest.price)?)))
        {
            let slower = significant(100.0 * (value.total.0 / fastest.total.0 - 1.0), 2);
            let paid = format!("{} {}", count(price.round() as u64), self.currency);
            answers.push(match value.points == fastest.points {
                true => format!("least price x time: the same, at {}", paid.trim()),
                false => {
                    let part = significant(100.0 * price / highest, 2);
                    format!(
                        "least price x time: {}: {slower} % slower at {part} % of the price, {}",
                        value.name,
                        paid.trim()
                    )
                }
            });
        }
        answers
    }
}

/// The name of a machine: the platform if there are several, and the values of the other axes.
fn name(inputs: &Inputs, point: usize) -> String {
    let settings = inputs.settings(point);
    let part = |(number, axis): (usize, &Axis)| {
        let setting = settings.get(number)?;
        match &axis.key {
            AxisKey::Trace => None,
            AxisKey::Platform | AxisKey::WhatIf => Some(axis.name_of(setting)),
            AxisKey::Set(_) if axis.settings().len() == 1 => None,
            AxisKey::Set(key) => match setting.magnitude {
                Some(magnitude) if magnitude.unit.is_empty() => {
                    Some(format!("{} {}", key.rsplit('.').next().unwrap_or(key), setting.shown))
                }
                _ => Some(setting.shown.clone()),
            },
        }
    };
    let parts: Vec<String> = inputs.study.varied().filter_map(part).collect();
    // Without axes, there is one platform: the first axis.
    let platform = || {
        inputs.study.axes.iter().zip(settings).next().map_or_else(String::new, |(axis, setting)| axis.name_of(setting))
    };
    if parts.is_empty() { platform() } else { parts.join(", ") }
}

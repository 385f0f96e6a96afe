//! Checks whether the ranks of a trace measure computation in the same unit, and computes factors that make them
//! comparable.
//!
//! An instruction count depends on the program and its data, not on the processor, as long as every processor runs the
//! same code. CPU time also depends on the processor. Ranks that count instructions are alike if the reference kernel,
//! which each rank runs and counts at startup, gives the same count. Ranks that count CPU time are alike if their rates
//! agree on processors of the same model.
//!
//! A rank's counts are multiplied by `c(reference) / c(rank)`, where `c` is the median count of the kernel over all
//! ranks that are alike: single counts are noisy if many ranks share a core.

use std::collections::BTreeMap;

use titr_common::format::plural;
use titr_common::trace::Manifest;
use titr_common::trace::manifest::RankEntry;

/// Counts of instructions that differ by less are of the same code.
const ALIKE: f64 = 0.01;

/// Ranks whose counts are of the same unit and processor.
#[derive(Clone, Debug)]
struct Class {
    /// The instructions per second as which CPU time was counted; `None`: instructions were.
    rate: Option<u64>,
    cpu: String,
    ranks: Vec<u32>,
    /// The count of the reference kernel, and that count by second; none if it is not recorded.
    kernel: Option<(f64, f64)>,
}

/// A comparison of the counters of all ranks of a trace.
#[derive(Clone, Debug)]
pub struct Comparison {
    classes: Vec<Class>,
}

impl Comparison {
    /// Compares the ranks of a trace.
    #[must_use]
    pub fn of(manifest: &Manifest) -> Self {
        let mut classes: BTreeMap<(Option<u64>, &str), Vec<&RankEntry>> = BTreeMap::new();
        for entry in &manifest.per_rank {
            classes.entry((entry.counter.rate.map(|rate| rate as u64), &entry.cpu)).or_default().push(entry);
        }
        let class = |((rate, cpu), entries): ((Option<u64>, &str), Vec<&RankEntry>)| Class {
            rate,
            cpu: cpu.to_owned(),
            ranks: entries.iter().map(|entry| entry.rank).collect(),
            kernel: reference_kernel(&entries),
        };
        // Instructions come first, and then whom rank 0 is with: the first is the reference.
        let mut classes: Vec<Class> = classes.into_iter().map(class).collect();
        classes.sort_by_key(|class| (class.rate.is_some(), class.ranks.first().copied()));
        Self { classes }
    }

    pub(crate) fn alike(&self) -> bool {
        let Some((reference, others)) = self.classes.split_first() else { return true };
        others.iter().all(|class| {
            class.rate.is_none() && factor(reference, class).is_some_and(|factor| (factor - 1.0).abs() < ALIKE)
        })
    }

    /// The factor for each rank's computation, by rank.
    pub(crate) fn factors(&self) -> Result<Vec<f64>, String> {
        let mut factors = BTreeMap::new();
        let Some(reference) = self.classes.first() else { return Ok(Vec::new()) };
        for class in &self.classes {
            let one = if self.classes.len() == 1 { Some(1.0) } else { factor(reference, class) };
            let missing = || {
                let class = if reference.kernel.is_none() { reference } else { class };
                format!(
                    "{} recorded no count of the reference kernel: nothing says what their counts are worth",
                    class.who()
                )
            };
            let factor = one.ok_or_else(missing)?;
            factors.extend(class.ranks.iter().map(|&rank| (rank, factor)));
        }
        Ok(factors.into_values().collect())
    }

    /// Sentences on ranks that do not count alike; none if all do.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let Some(reference) = self.classes.first().filter(|_| !self.alike()) else { return Vec::new() };
        let head = "computation is not counted alike by all ranks; titr replay --normalise rescales it:".to_owned();
        let classes = self.classes.iter().map(|class| format!("  {}", class.worth(reference)));
        std::iter::once(head).chain(classes).collect()
    }
}

/// The median count of the reference kernel among ranks, and that count by second.
fn reference_kernel(entries: &[&RankEntry]) -> Option<(f64, f64)> {
    let all: Option<Vec<_>> = entries.iter().map(|entry| entry.counter.reference).collect();
    let all = all?;
    let volume = median(all.iter().map(|count| count.volume).collect())?;
    let seconds = median(all.iter().map(|count| count.seconds).collect())?;
    (volume > 0.0 && seconds > 0.0).then_some((volume, volume / seconds))
}

fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().filter(|number| number.is_finite())
}

/// The worth of a count of `class` in counts of `reference`.
fn factor(reference: &Class, class: &Class) -> Option<f64> {
    Some(reference.kernel?.0 / class.kernel?.0)
}

impl Class {
    fn who(&self) -> String {
        let number = self.ranks.len() as u64;
        let shown: Vec<String> = self.ranks.iter().take(4).map(u32::to_string).collect();
        let more = if self.ranks.len() > shown.len() { ", …" } else { "" };
        format!("{number} {} ({}{more})", plural(number, "rank", "ranks"), shown.join(", "))
    }

    fn worth(&self, reference: &Self) -> String {
        let of_time = |rate| format!("CPU time at {:e} a second", rate as f64);
        let counts = self.rate.map_or_else(|| "instructions".to_owned(), of_time);
        let worth = match (self.kernel, factor(reference, self)) {
            (Some((_, speed)), Some(factor)) => {
                format!("{:.3} Ginstr/s on the reference kernel, × {factor:.3}", speed / 1e9)
            }
            _ => "no count of the reference kernel".to_owned(),
        };
        format!("{} on {}: {counts}, {worth}", self.who(), self.cpu)
    }
}

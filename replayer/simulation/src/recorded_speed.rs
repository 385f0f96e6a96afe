//! The speed at which the ranks of a trace computed when they were recorded, for hosts that have a multiple of it.

use titr_common::event::Rank;
use titr_common::trace::Trace;
use titr_common::trace::manifest::{Counter, Manifest, Mode};
use titr_common::units::Speed;
use titr_platform::{HostSpeed, Platform};

use crate::warnings::many;

/// The speed of a core on which computation of an unknown speed was recorded.
const UNKNOWN: Speed = Speed { per_second: 1e9 };

/// The factor by which the speed of a host may differ from the rate of CPU time without a remark.
const SAME: f64 = 0.01;

/// The speed of each rank of a trace, in the volume of its computation that a second of the recorded run took.
pub(crate) struct RecordedSpeeds<'a> {
    manifest: Option<&'a Manifest>,
    /// Weights of the ranks' volumes; 1 for all that are not there.
    worth: &'a [f64],
}

impl<'a> RecordedSpeeds<'a> {
    /// The speeds of the ranks of `trace`, whose volumes are multiplied by `worth`.
    pub(crate) fn of(trace: &'a Trace, worth: &'a [f64]) -> Self {
        Self { manifest: trace.manifest(), worth }
    }

    fn counter(&self, rank: Rank) -> Option<&'a Counter> {
        Some(&self.manifest?.of_rank(rank)?.counter)
    }

    /// The speed of a rank; `None` if the trace does not say it.
    fn known(&self, rank: Rank) -> Option<Speed> {
        let counter = self.counter(rank)?;
        let per_second = match (counter.rate, counter.reference) {
            (Some(rate), _) => rate,
            // An emulator is slower than the machine that it runs on.
            (None, Some(kernel)) if counter.kind != "emulated" => kernel.volume / kernel.seconds,
            (None, _) => return None,
        };
        let worth = self.worth.get(rank.0 as usize).copied().unwrap_or(1.0);
        Some(Speed { per_second: per_second * worth }).filter(|speed| speed.per_second.is_normal())
    }

    /// The speed of a rank, or 1 Ginstr/s where the trace does not say it.
    pub(crate) fn speed(&self, rank: Rank) -> Speed {
        self.known(rank).unwrap_or(UNKNOWN)
    }

    /// Sentences on speeds that the trace does not say, and on CPU time that is replayed at another rate than it was counted.
    pub(crate) fn warnings(&self, platform: &Platform, ranks: u32) -> Vec<String> {
        let mut warnings = Vec::new();
        let is_of_recorded = |speed: &HostSpeed| matches!(speed, HostSpeed::OfRecorded(_));
        let unknown = (0..ranks).filter(|&rank| self.known(Rank(rank)).is_none()).count() as u64;
        if unknown > 0 && platform.speeds.iter().any(is_of_recorded) {
            warnings.push(format!(
                "the trace does not say how fast {} computed: 1 Ginstr/s is taken for it (--set hosts.speed='… Ginstr/s' \
                 sets a speed)",
                many(unknown, "rank", "ranks")
            ));
        }
        let timed = (0..ranks).filter_map(|rank| self.counter(Rank(rank))).find(|counter| counter.rate.is_some());
        let absolute = platform.speeds.iter().find_map(|speed| match speed {
            HostSpeed::Absolute(speed) => Some(*speed),
            HostSpeed::OfRecorded(_) => None,
        });
        if let Some((Counter { rate: Some(rate), .. }, speed)) = timed.zip(absolute) {
            let ratio = rate / speed.per_second;
            if (ratio - 1.0).abs() > SAME {
                warnings.push(format!(
                    "time was counted in place of instructions, a second as {} Ginstr, and hosts.speed is {} Ginstr/s: \
                     computation takes {ratio:.3} times as long as when it was recorded (--set hosts.speed='1 x recorded': \
                     as long)",
                    rate / 1e9,
                    speed.per_second / 1e9,
                ));
            }
        }
        warnings
    }
}

/// Sentences on computation of fixed times: that hosts' speed has no effect, and what else the time between calls was.
pub(crate) fn of_fixed_times(platform: &Platform, manifest: Option<&Manifest>) -> Vec<String> {
    let has_speed = platform.speeds.iter().any(|speed| *speed != HostSpeed::OfRecorded(1.0));
    let is_recorded = manifest.is_some_and(|manifest| manifest.foreign.is_some() && manifest.mode == Mode::Extended);
    let no_effect = "hosts.speed has no effect: the computation of the trace is of fixed times, not of instructions";
    let recording = "all time between calls counts as computation, also what it took to record them";
    let said = [(has_speed, no_effect), (is_recorded, recording)];
    said.into_iter().filter(|(is_so, _)| *is_so).map(|(_, sentence)| sentence.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use titr_common::trace::manifest::ReferenceCount;

    fn manifest(counters: impl IntoIterator<Item = Counter>) -> Manifest {
        let counters: Vec<_> = counters.into_iter().collect();
        let mut manifest = Manifest::of_unknown_origin(counters.len() as u32);
        for (entry, counter) in manifest.per_rank.iter_mut().zip(counters) {
            entry.counter = counter;
        }
        manifest
    }

    #[test]
    fn the_speed_is_the_rate_of_time_or_that_of_the_reference_kernel() {
        let kernel = Some(ReferenceCount { volume: 1_953_125.0, seconds: 1.0 / 1024.0 });
        let manifest = manifest([
            Counter { rate: Some(1e9), reference: kernel, ..Counter::exact("cpu") },
            Counter { reference: kernel, ..Counter::exact("perf") },
            Counter { reference: kernel, ..Counter::exact("emulated") },
            Counter::exact("perf"),
        ]);
        let speeds = RecordedSpeeds { manifest: Some(&manifest), worth: &[2.0] };
        let known = |rank| speeds.known(Rank(rank)).map(|speed| speed.per_second);
        assert_eq!([0, 1, 2, 3, 4].map(known), [Some(2e9), Some(2e9), None, None, None]);
        assert_eq!(speeds.speed(Rank(3)), UNKNOWN);
    }
}

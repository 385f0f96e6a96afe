//! The result of a complete replay, extrapolated from two replays with fewer iterations.

use std::collections::HashMap;
use std::iter::repeat;

use titr_analyses::AnalysedResult;
use titr_common::units::{Bytes, Instructions, Seconds};
use titr_network::packet::Figures;
use titr_simulation::Efficiencies;
use titr_simulation::observe::Shares;
use titr_simulation::result::{LinkUse, Packets};

use super::sampled_trace::Work;

/// The replays of the two samples of a loop.
pub(crate) struct Replays {
    pub(crate) longer: AnalysedResult,
    pub(crate) shorter: AnalysedResult,
    /// Iterations that the longer one has more than the shorter one, at least 1.
    pub(crate) between: u64,
    /// Iterations that the longer one has less than the program.
    pub(crate) left_out: u64,
}

impl Replays {
    /// The result of the whole replay, which takes `time`, and whose ranks compute so much.
    pub(crate) fn extrapolate(self, time: Seconds, events: u64, work: &[Work]) -> AnalysedResult {
        let messages = self.count(self.longer.messages, self.shorter.messages);
        let bytes = Bytes(self.count(self.longer.bytes.0, self.shorter.bytes.0));
        let (links, ranks) = (self.links(time), self.ranks(time, work));
        let (packets, warnings) = (self.packets(time), self.warnings());
        AnalysedResult {
            simulated_time: time,
            events,
            computed: self.computed(work),
            messages,
            bytes,
            links: LinkUse::busiest(&links),
            all_links: links,
            efficiencies: Efficiencies::of(&ranks, time),
            per_rank: ranks,
            packets,
            warnings,
            ..self.longer
        }
    }

    /// A count of the whole replay, which is the same in each iteration.
    fn count(&self, longer: u64, shorter: u64) -> u64 {
        let (more, left_out) = (u128::from(longer.saturating_sub(shorter)), u128::from(self.left_out));
        longer + (more * left_out / u128::from(self.between)) as u64
    }

    /// The computation of the whole replay: as much more than in the longer one as the trace has more of it.
    fn computed(&self, work: &[Work]) -> Instructions {
        let all: f64 = work.iter().map(|work| work.instructions).sum();
        let in_sample: f64 = work.iter().map(|work| work.instructions_in_sample).sum();
        Instructions(self.longer.computed.0 * if in_sample > 0.0 { all / in_sample } else { 1.0 })
    }

    /// The statistics of a packet network: means and loads are those of the longer replay.
    fn packets(&self, time: Seconds) -> Option<Packets> {
        let (longer, shorter) = (self.longer.packets.as_ref()?, self.shorter.packets.as_ref()?);
        let before = shorter.figures.hop_histogram.iter().copied().chain(repeat(0));
        let hops = longer.figures.hop_histogram.iter().zip(before);
        let figures = Figures {
            messages: self.count(longer.figures.messages, shorter.figures.messages),
            hop_histogram: hops.map(|(&longer, shorter)| self.count(longer, shorter)).collect(),
            ..longer.figures.clone()
        };
        let cycles = longer.cycles as f64 * time.0 / self.longer.simulated_time.0;
        Some(Packets { cycles: cycles.round() as u64, figures, ..longer.clone() })
    }

    /// The warnings of the longer replay. Those that the shorter one has not depend on the iterations.
    fn warnings(&self) -> Vec<String> {
        let warning = |warning: &String| match self.shorter.warnings.contains(warning) {
            true => warning.clone(),
            false => format!("in the iterations that were simulated: {warning}"),
        };
        self.longer.warnings.iter().map(warning).collect()
    }

    fn links(&self, time: Seconds) -> Vec<LinkUse> {
        let shorter: HashMap<&str, &LinkUse> =
            self.shorter.all_links.iter().map(|link| (link.name.as_str(), link)).collect();
        let longer = self.longer.all_links.iter();
        let mut links: Vec<LinkUse> = longer
            .map(|link| {
                let before = shorter.get(link.name.as_str());
                let bytes = Bytes(self.count(link.bytes.0, before.map_or(0, |link| link.bytes.0)));
                let messages = self.count(link.messages, before.map_or(0, |link| link.messages));
                let rate = bytes.0 as f64 / link.bytes.0.max(1) as f64;
                let utilization = link.utilization * rate * self.longer.simulated_time.0 / time.0;
                LinkUse { bytes, messages, utilization, ..link.clone() }
            })
            .collect();
        LinkUse::sort(&mut links);
        links
    }

    /// The parts of each rank's time. The rank ends as long before the last one as in the longer replay; its
    /// computation is that of the trace, and the rest is distributed as extrapolated.
    fn ranks(&self, time: Seconds, work: &[Work]) -> Vec<Shares> {
        let more = self.left_out as f64 / self.between as f64;
        let ranks = self.longer.per_rank.iter().zip(&self.shorter.per_rank).zip(work);
        ranks
            .map(|((longer, shorter), work)| {
                let part = |longer: Seconds, shorter: Seconds| (longer.0 + (longer.0 - shorter.0) * more).max(0.0);
                let finish = longer.finish.0 + time.0 - self.longer.simulated_time.0;
                let compute = work.time(longer.compute).0.min(finish);
                let [send, recv, wait, file, collective] = [
                    part(longer.send, shorter.send),
                    part(longer.recv, shorter.recv),
                    part(longer.wait, shorter.wait),
                    part(longer.file, shorter.file),
                    part(longer.collective, shorter.collective),
                ];
                let rest = send + recv + wait + file + collective;
                let finish = if rest > 0.0 { finish } else { compute };
                let scaled = |part: f64| Seconds(if rest > 0.0 { part * (finish - compute) / rest } else { 0.0 });
                Shares {
                    compute: Seconds(compute),
                    send: scaled(send),
                    recv: scaled(recv),
                    wait: scaled(wait),
                    file: scaled(file),
                    collective: scaled(collective),
                    finish: Seconds(finish),
                }
            })
            .collect()
    }
}

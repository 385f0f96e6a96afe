//! The critical path: the chain of intervals that determined the duration of the replay.
//!
//! Its length is the predicted time, and it contains no waiting. Work that is not on it could take slightly longer
//! without delaying the end of the program. If several paths are equally long, this is one of them.

use std::collections::BTreeMap;

use titr_common::time::Time;

use crate::analysis::{Analysis, AnalysisKind};
use crate::causes::{CausalChains, Segment, SegmentSums};
use crate::findings::{
    ByKind, CallSiteShare, CriticalPath, Findings, Parameter, RankShare, RegionShare, SegmentKind, SegmentShare,
    Sensitivity, Visit,
};

/// The critical path, under this name.
pub(crate) const CRITICAL_PATH: AnalysisKind =
    AnalysisKind { name: "critical-path", new: |ranks| Box::new(CausalChains::new(ranks, ())) };

/// Sums of picoseconds by kind.
type KindSums = [u64; SegmentKind::ALL.len()];

impl From<KindSums> for ByKind {
    fn from(sums: KindSums) -> Self {
        let [compute, sleep, overhead, latency, transfer, contention, storage, other] =
            sums.map(|sum| Time(sum).seconds());
        Self { compute, sleep, overhead, latency, transfer, contention, storage, other }
    }
}

/// The time that grows in proportion to a parameter, without the time that shrinks.
fn growing(parameter: Parameter, sums: &KindSums) -> f64 {
    let sum = |kind| sums[kind as usize] as f64;
    match parameter {
        Parameter::HostSpeed => -sum(SegmentKind::Compute),
        Parameter::Latency => sum(SegmentKind::Latency),
        Parameter::Bandwidth => -(sum(SegmentKind::Transfer) + sum(SegmentKind::Contention)),
        Parameter::Overheads => sum(SegmentKind::Overhead),
    }
}

fn by<K: Ord>(path: &SegmentSums, key: impl Fn(&Segment) -> K) -> BTreeMap<K, KindSums> {
    let mut by = BTreeMap::<K, KindSums>::new();
    for (segment, sum) in path.sorted() {
        by.entry(key(&segment)).or_default()[segment.kind as usize] += sum;
    }
    by
}

impl Analysis for CausalChains<()> {
    fn add_to(&self, all: &mut Findings) {
        let (end, path, visits) = self.longest();
        let places = &self.places;
        let seconds = |sums: &KindSums| Time(sums.iter().sum()).seconds();
        let mut segments = path.sorted();
        segments.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
        let sums = by(&path, |_| ()).remove(&()).unwrap_or_default();
        let elasticity = |parameter: Parameter| growing(parameter, &sums) / end.0.max(1) as f64;
        let sensitivity =
            |parameter| Sensitivity { parameter, links: None, path: Some(elasticity(parameter)), replays: None };
        all.critical_path = Some(CriticalPath {
            length: end.seconds(),
            messages: path.messages,
            by_kind: sums.into(),
            visits: visits.iter().map(|(rank, at)| Visit { rank: rank.0, begin: Time(at).seconds() }).collect(),
            sensitivities: Parameter::ALL.map(sensitivity).into(),
            ranks: by(&path, |segment| segment.rank)
                .into_iter()
                .map(|(rank, sums)| RankShare { rank: rank.0, seconds: seconds(&sums), by_kind: sums.into() })
                .collect(),
            regions: by(&path, |segment| places.named(segment.place).region)
                .into_iter()
                .map(|(region, sums)| RegionShare { region, seconds: seconds(&sums), by_kind: sums.into() })
                .collect(),
            call_sites: by(&path, |segment| places.named(segment.place).call_site)
                .into_iter()
                .map(|(call_site, sums)| CallSiteShare { call_site, seconds: seconds(&sums), by_kind: sums.into() })
                .filter(|share| share.call_site.is_some() || places.has_call_sites())
                .collect(),
            segments: segments
                .into_iter()
                .map(|(segment, sum)| SegmentShare {
                    rank: segment.rank.0,
                    place: places.named(segment.place),
                    kind: segment.kind,
                    with: self.party(segment.party),
                    seconds: Time(sum).seconds(),
                })
                .collect(),
        });
    }
}

//! The critical path: the chain of spells that made the replay take as long as it did.
//!
//! Its length is the predicted time, and it has no waiting in it: what is not on it could take a little longer, and the
//! program would end at the same time. Where several paths are equally long, this is one of them.

use std::collections::BTreeMap;

use serde::Serialize;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::causes::{SegmentKind, SegmentSums, Tips};
use super::{Analysis, AnalysisKind};

/// The critical path, under this name.
pub(super) const CRITICAL_PATH: AnalysisKind =
    AnalysisKind { name: "critical-path", new: |ranks| Box::new(Tips::new(ranks, ())) };

/// The findings as they are serialised. The times of each list add up to `length`.
#[derive(Serialize)]
struct CriticalPath<'a> {
    length: Seconds,
    /// How many messages are on the path.
    messages: u64,
    by_kind: ByKind,
    sensitivities: Vec<Sensitivity>,
    /// Ranks that have time on the path, in their order.
    ranks: Vec<RankShare>,
    /// Regions that have time on the path, by their names; `null` is outside of all.
    regions: Vec<RegionShare<'a>>,
    /// Call sites that have time on the path, by their names; `null` is none that is known. Empty where none is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    call_sites: Vec<CallSiteShare<'a>>,
    /// All parts of the path, those of most time first.
    segments: Vec<SegmentShare<'a>>,
}

/// Time by what it is spent on.
#[derive(Clone, Copy, Default, Serialize)]
struct ByKind {
    compute: Seconds,
    overhead: Seconds,
    latency: Seconds,
    transfer: Seconds,
    contention: Seconds,
    storage: Seconds,
    other: Seconds,
}

/// A parameter of the machine that the time depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parameter {
    /// The speed of all hosts.
    HostSpeed,
    /// The latency of all links.
    Latency,
    /// The bandwidth of all links.
    Bandwidth,
    /// The overheads of messages.
    Overheads,
}

impl Parameter {
    /// All parameters.
    pub const ALL: [Self; 4] = [Self::HostSpeed, Self::Latency, Self::Bandwidth, Self::Overheads];

    /// The time that grows in proportion to the parameter, without that which shrinks.
    fn growing(self, sums: &KindSums) -> f64 {
        let sum = |kind| sums[kind as usize] as f64;
        match self {
            Self::HostSpeed => -sum(SegmentKind::Compute),
            Self::Latency => sum(SegmentKind::Latency),
            Self::Bandwidth => -(sum(SegmentKind::Transfer) + sum(SegmentKind::Contention)),
            Self::Overheads => sum(SegmentKind::Overhead),
        }
    }
}

/// The elasticity of the predicted time: its relative change by that of a parameter, as long as the path stays the same.
#[derive(Serialize)]
struct Sensitivity {
    parameter: Parameter,
    path: f64,
}

#[derive(Serialize)]
struct RankShare {
    rank: u32,
    seconds: Seconds,
    #[serde(flatten)]
    by_kind: ByKind,
}

#[derive(Serialize)]
struct RegionShare<'a> {
    region: Option<&'a str>,
    seconds: Seconds,
    #[serde(flatten)]
    by_kind: ByKind,
}

#[derive(Serialize)]
struct CallSiteShare<'a> {
    call_site: Option<&'a str>,
    seconds: Seconds,
    #[serde(flatten)]
    by_kind: ByKind,
}

#[derive(Serialize)]
struct SegmentShare<'a> {
    rank: u32,
    region: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_site: Option<&'a str>,
    kind: SegmentKind,
    seconds: Seconds,
}

/// Sums of picoseconds by kind.
type KindSums = [u64; SegmentKind::ALL.len()];

impl From<KindSums> for ByKind {
    fn from(sums: KindSums) -> Self {
        let [compute, overhead, latency, transfer, contention, storage, other] = sums.map(|sum| Time(sum).seconds());
        Self { compute, overhead, latency, transfer, contention, storage, other }
    }
}

/// The sums of a path by a key.
fn by<K: Ord>(path: &SegmentSums, key: impl Fn(&super::causes::Segment) -> K) -> BTreeMap<K, KindSums> {
    let mut by = BTreeMap::<K, KindSums>::new();
    for (segment, sum) in path.sorted() {
        by.entry(key(&segment)).or_default()[segment.kind as usize] += sum;
    }
    by
}

impl Analysis for Tips<()> {
    fn findings(&self) -> serde_json::Result<serde_json::Value> {
        let (end, path) = self.longest();
        let places = &self.places;
        let seconds = |sums: &KindSums| Time(sums.iter().sum()).seconds();
        let mut segments = path.sorted();
        segments.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
        let sums = by(&path, |_| ()).remove(&()).unwrap_or_default();
        let elasticity = |parameter: Parameter| parameter.growing(&sums) / end.0.max(1) as f64;
        serde_json::to_value(CriticalPath {
            length: end.seconds(),
            messages: path.messages,
            by_kind: sums.into(),
            sensitivities: Parameter::ALL
                .map(|parameter| Sensitivity { parameter, path: elasticity(parameter) })
                .into(),
            ranks: by(&path, |segment| segment.rank)
                .into_iter()
                .map(|(rank, sums)| RankShare { rank: rank.0, seconds: seconds(&sums), by_kind: sums.into() })
                .collect(),
            regions: by(&path, |segment| places.region(segment.place))
                .into_iter()
                .map(|(region, sums)| RegionShare { region, seconds: seconds(&sums), by_kind: sums.into() })
                .collect(),
            call_sites: by(&path, |segment| places.call_site(segment.place))
                .into_iter()
                .map(|(call_site, sums)| CallSiteShare { call_site, seconds: seconds(&sums), by_kind: sums.into() })
                .filter(|share| share.call_site.is_some() || places.has_call_sites())
                .collect(),
            segments: segments
                .into_iter()
                .map(|(segment, sum)| SegmentShare {
                    rank: segment.rank.0,
                    region: places.region(segment.place),
                    call_site: places.call_site(segment.place),
                    kind: segment.kind,
                    seconds: Time(sum).seconds(),
                })
                .collect(),
        })
    }
}

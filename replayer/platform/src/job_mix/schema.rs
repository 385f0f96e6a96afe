//! The schema of a file of jobs: every permitted key, and its default.

use serde::Deserialize;
use titr_common::units::{Bandwidth, Quantity};
use titr_document::Spanned;

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobsFile {
    /// The jobs.
    #[serde(default)]
    pub job: Vec<JobTable>,
    /// Synthetic traffic beside the jobs.
    #[serde(default)]
    pub background: Vec<BackgroundTable>,
}

/// `[[background]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackgroundTable {
    /// The name in reports. Default: that of the pattern.
    pub name: Option<String>,
    /// Who sends to whom: a pattern of [`titr traffic`](PACKET.md#synthetic-traffic), between the hosts in a row.
    /// Required.
    pub pattern: Spanned<String>,
    /// The mean rate at which each host sends. Required.
    pub rate: Quantity<Bandwidth>,
    /// The sizes of messages: one, a range or sizes with weights, as `titr traffic --message` takes them. Default:
    /// `"64KiB"`.
    pub message: Option<Spanned<String>>,
    /// The hosts that send and receive; they can have jobs, too. Default: all.
    pub hosts: Option<Spanned<OneOrSeveral<HostRange>>>,
    /// When the load begins and ends, as `start` of a job. Default: 0, never.
    pub start: Option<Spanned<TimeValue>>,
    pub end: Option<Spanned<TimeValue>>,
    /// The seed of destinations and sizes. Default: 0.
    #[serde(default)]
    pub seed: u64,
}

/// `[[job]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobTable {
    /// Its name in reports. Required.
    pub name: Spanned<String>,
    /// Its trace, relative to the file: a path, or a list of the parts or worlds of one trace. Required.
    pub trace: Spanned<OneOrSeveral<String>>,
    /// When it starts: seconds, or a time with its unit, such as `"10 ms"`. Default: 0.
    pub start: Option<Spanned<TimeValue>>,
    /// The name of another job, at whose end this job starts. Default: none.
    pub after: Option<Spanned<String>>,
    /// The hosts that it may use: numbers and ranges, such as `"0-7,12"` or `[0, 1, "4-7"]`. Default: all.
    pub hosts: Option<Spanned<OneOrSeveral<HostRange>>>,
    /// How its ranks are put on free cores of these hosts, in the order of `hosts`: `"block"`, `"round-robin"` or
    /// `"random"`, as in a [platform](PLATFORM.md#placement). Default: that of the platform.
    pub placement: Option<Spanned<JobPolicy>>,
    /// The seed of `"random"`. Default: 0.
    #[serde(default)]
    pub seed: u64,
}

/// One value, or a list.
#[derive(Deserialize)]
#[serde(untagged, expecting = "wanted one value or a list, of texts or whole numbers")]
pub(crate) enum OneOrSeveral<T> {
    One(T),
    Several(Vec<T>),
}

/// A host, or a list of ranges such as `0-7,12`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "wanted the number of a host, or ranges such as \"0-7,12\"")]
pub(crate) enum HostRange {
    Number(u32),
    Text(String),
}

/// A time: a number of seconds, or a text with a unit.
#[derive(Deserialize)]
#[serde(untagged, expecting = "wanted a number of seconds, or a time with its unit, such as \"10 ms\"")]
pub(crate) enum TimeValue {
    Seconds(f64),
    Text(String),
}

/// `placement`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JobPolicy {
    /// Ranks fill a host before the next host is used.
    Block,
    /// Each host gets one rank, then each a second one, and so on.
    RoundRobin,
    /// Each rank gets a core that is drawn uniformly from the free ones.
    Random,
}

impl<T> OneOrSeveral<T> {
    /// The values.
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Several(values) => values,
        }
    }
}

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
    /// The name that reports have for the load. Default: that of the pattern.
    pub name: Option<String>,
    /// Who sends to whom, as `titr traffic` names it.
    pub pattern: Spanned<String>,
    /// The mean rate at which each host sends.
    pub rate: Quantity<Bandwidth>,
    /// The sizes of messages, as `titr traffic --message` names them. Default: 64 KiB.
    pub message: Option<Spanned<String>>,
    /// The hosts that send and receive. Default: all.
    pub hosts: Option<Spanned<OneOrSeveral<HostRange>>>,
    /// When the first message departs, as the start of a job. Default: 0.
    pub start: Option<Spanned<TimeValue>>,
    /// From when on no message departs. Default: never.
    pub end: Option<Spanned<TimeValue>>,
    /// The seed of destinations and sizes. Default: 0.
    #[serde(default)]
    pub seed: u64,
}

/// `[[job]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobTable {
    /// The name that reports have for the job.
    pub name: Spanned<String>,
    /// The trace, relative to the file: a path, or a list of the parts or worlds of one trace.
    pub trace: Spanned<OneOrSeveral<String>>,
    /// Seconds from the beginning of the simulation, or a time with its unit. Default: 0, unless there is `after`.
    pub start: Option<Spanned<TimeValue>>,
    /// The name of the job after whose end this one starts.
    pub after: Option<Spanned<String>>,
    /// The hosts that the job may use. Default: all.
    pub hosts: Option<Spanned<OneOrSeveral<HostRange>>>,
    /// How the ranks are put on the cores of these hosts. Default: that of the platform.
    pub placement: Option<Spanned<JobPolicy>>,
    /// For `"random"`. Default: 0.
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

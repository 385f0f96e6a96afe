//! Links whose bandwidth or latency changes over time.

use titr_common::step_function::StepFunction;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::{Link, LinkId, Topology};

/// The changes of a link over time. [`Topology::links`] has its properties at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkChange {
    /// The link.
    pub link: LinkId,
    /// Bytes per second; `None`: always as at the start.
    pub bandwidth: Option<StepFunction>,
    /// Seconds; `None`: always as at the start.
    pub latency: Option<StepFunction>,
}

impl LinkChange {
    /// The link as it is at an instant; `link` is what it is like at any other.
    #[must_use]
    pub(crate) fn at(&self, now: Time, link: Link) -> Link {
        let value = |function: &Option<StepFunction>, always| {
            function.as_ref().map_or(always, |function: &StepFunction| function.value_at(now))
        };
        let latency = Seconds(value(&self.latency, link.latency.0));
        Link { bandwidth: value(&self.bandwidth, link.bandwidth), latency, ..link }
    }

    /// The next instant after `now` at which the link may become another.
    #[must_use]
    pub(crate) fn next_after(&self, now: Time) -> Option<Time> {
        let next = |function: &Option<StepFunction>| function.as_ref().and_then(|function| function.next_after(now));
        [next(&self.bandwidth), next(&self.latency)].into_iter().flatten().min()
    }

    /// The change without what is always the same; `None` if the link does not change.
    pub(super) fn of_what_changes(self) -> Option<Self> {
        let changes = |function: &StepFunction| function.constant().is_none();
        let (bandwidth, latency) = (self.bandwidth.filter(changes), self.latency.filter(changes));
        (bandwidth.is_some() || latency.is_some()).then_some(Self { link: self.link, bandwidth, latency })
    }

    /// This change with the latency and the bandwidth multiplied by these factors at all times.
    pub(super) fn scaled(&self, latency: f64, bandwidth: f64) -> Self {
        let scaled = |function: &Option<StepFunction>, factor| {
            function.as_ref().map(|function: &StepFunction| function.scaled(factor))
        };
        Self { link: self.link, bandwidth: scaled(&self.bandwidth, bandwidth), latency: scaled(&self.latency, latency) }
    }
}

/// The bytes that a link can carry from one instant to another.
#[must_use]
pub fn capacity(topology: &dyn Topology, link: LinkId, from: Time, to: Time) -> f64 {
    let bandwidth = topology.links()[link.index()].bandwidth;
    let changes = topology.changes();
    let change = changes.binary_search_by_key(&link, |change| change.link).ok().map(|number| &changes[number]);
    match change.and_then(|change| change.bandwidth.as_ref()) {
        Some(changing) => changing.integral(from, to),
        None => bandwidth * (to - from).0,
    }
}

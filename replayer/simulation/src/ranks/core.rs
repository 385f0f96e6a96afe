//! The core that a rank runs on, and how long it computes.

use std::fmt::Debug;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::step_function::StepFunction;
use titr_common::time::Time;
use titr_common::units::{Instructions, Seconds, Speed};
use titr_network::topology::HostId;
use titr_platform::Platform;

/// The core that a rank runs on.
#[derive(Clone, Debug)]
pub struct Core {
    /// The host in the network.
    pub host: HostId,
    /// The number of the core in its host.
    pub number: u32,
    /// How fast the rank computes there.
    pub speed: Speed,
    /// The part of this speed that it has by time; `None`: all of it at any time.
    pub part: Option<Arc<StepFunction>>,
    /// The interruptions of its computation; `None`: none.
    pub(crate) interruptions: Option<Arc<dyn Interruptions>>,
}

/// The interruptions of the computation of one core.
pub(crate) trait Interruptions: Debug + Send + Sync {
    /// How long they last in all in a computation that begins at `from` and takes `time` without them.
    fn during(&self, time: Seconds, from: Time) -> Seconds;
}

impl Core {
    /// A core that is as fast at any time.
    #[must_use]
    pub fn new(host: HostId, speed: Speed) -> Self {
        Self { host, number: 0, speed, part: None, interruptions: None }
    }

    /// A core of a host of a platform, for a rank that was recorded at 1 Ginstr/s.
    #[must_use]
    pub fn on(platform: &Platform, host: HostId) -> Self {
        Self::for_recorded(platform, host, 1, Speed { per_second: 1e9 })
    }

    /// A core of a host of a platform with `ranks` ranks, for a rank that was recorded on a core of the speed `recorded`.
    pub(crate) fn for_recorded(platform: &Platform, host: HostId, ranks: u32, recorded: Speed) -> Self {
        let speed = platform.speed(host).times(platform.sharing.part(ranks)).for_recorded(recorded);
        Self { part: platform.parts_of_speed.get(&host).cloned(), ..Self::new(host, speed) }
    }

    /// How long `work` takes that begins at `from`.
    #[inline]
    pub(super) fn time_for(&self, work: Instructions, from: Time) -> Seconds {
        let time = match &self.part {
            None => self.speed.time_for(work),
            Some(part) => Self::time_in_parts(part, self.speed.time_for(work), from),
        };
        match &self.interruptions {
            None => time,
            Some(interruptions) => time + interruptions.during(time, from),
        }
    }

    /// How long work takes that begins at `from` and takes the time `whole` at the whole speed.
    #[cold]
    fn time_in_parts(part: &StepFunction, whole: Seconds, from: Time) -> Seconds {
        match part.when_integral_is(whole.0, from) {
            Time::NEVER => Seconds(f64::INFINITY),
            end => end - from,
        }
    }
}

/// How far a thread is in its current task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskStage {
    /// It takes its next task.
    Next,
    /// It has its core, for this time.
    Begins(Time),
    /// The time before the effects of a call has passed.
    Paid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskCore {
    pub(super) rank: Rank,
    pub(super) core: u32,
}

/// The time from which each core is free.
#[derive(Default)]
pub(super) struct TaskCores(FxHashMap<TaskCore, Time>);

impl TaskCores {
    /// The earliest time from `from` on at which a core is free.
    pub(super) fn free(&self, core: TaskCore, from: Time) -> Time {
        self.0.get(&core).map_or(from, |&free| free.max(from))
    }

    /// Takes a core until `end`.
    pub(super) fn take(&mut self, core: TaskCore, end: Time) {
        self.0.insert(core, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4e9 instructions at 1e9 a second take 4 s at full speed. At half the speed from 1 s on, and at a quarter from 3 s on,
    /// 2e9 are done by then, and the rest takes 8 s.
    #[test]
    fn a_computation_goes_on_at_the_speed_of_each_instant() {
        let at = |seconds| Time::from_seconds(Seconds(seconds));
        let part = StepFunction::new(1.0, &[(at(1.0), 0.5), (at(3.0), 0.25)], None).unwrap();
        let core = Core { part: Some(Arc::new(part)), ..Core::new(HostId(0), Speed { per_second: 1e9 }) };
        assert_eq!(core.time_for(Instructions(4e9), Time::ZERO), Seconds(11.0));
        assert_eq!(core.time_for(Instructions(1e9), at(2.5)), Seconds(3.5));
        assert_eq!(core.time_for(Instructions(0.0), at(2.5)), Seconds(0.0));
    }

    #[test]
    fn a_core_that_stops_for_ever_never_ends() {
        let part = StepFunction::new(1.0, &[(Time::from_seconds(Seconds(1.0)), 0.0)], None).unwrap();
        let core = Core { part: Some(Arc::new(part)), ..Core::new(HostId(0), Speed { per_second: 1e9 }) };
        assert_eq!(core.time_for(Instructions(2e9), Time::ZERO), Seconds(f64::INFINITY));
    }
}

//! The schedules of collectives, of which the short ones are remembered: a member's schedule depends on the call alone,
//! and a program repeats few calls. A schedule of few messages may take long to make, as one with many moves of data
//! within the member does (Bruck's all-to-all).

use std::rc::Rc;

use rustc_hash::FxHashMap;
use titr_common::collectives::Selection;
use titr_common::event::{Collective, CollectiveKind, Volumes};
use titr_common::units::Bytes;

use super::steps::{CollectiveSteps, MemberPart, MessageStep};

/// The number of schedules in memory; then all are forgotten.
const SCHEDULES: usize = 1 << 14;

/// The steps of the longest schedule in memory, 32 bytes each.
const STEPS: usize = 32;

/// The schedules that were made by the algorithms of one library.
#[derive(Default)]
pub(in crate::ranks) struct Schedules(FxHashMap<ScheduleKey, Rc<[MessageStep]>>);

/// What a schedule depends on.
#[derive(PartialEq, Eq, Hash)]
struct ScheduleKey {
    kind: CollectiveKind,
    send: Option<Bytes>,
    recv: Option<Bytes>,
    element: Bytes,
    is_commutative: bool,
    part: MemberPart,
}

impl ScheduleKey {
    /// `None` for a call with a volume for each member.
    fn of(call: &Collective, part: MemberPart) -> Option<Self> {
        let each = |volumes: &Volumes| match *volumes {
            Volumes::None => Some(None),
            Volumes::Each(bytes) => Some(Some(bytes)),
            Volumes::PerMember(_) => None,
        };
        let Collective { kind, element, is_commutative, .. } = *call;
        Some(Self { kind, send: each(&call.send)?, recv: each(&call.recv)?, element, is_commutative, part })
    }
}

impl Schedules {
    /// The steps of a member's part in a call. The `algorithms` are always the same.
    pub(in crate::ranks) fn steps(
        &mut self,
        call: &Collective,
        part: MemberPart,
        algorithms: &Selection,
    ) -> CollectiveSteps {
        let Some(key) = ScheduleKey::of(call, part) else { return CollectiveSteps::of(call, part, algorithms) };
        if let Some(steps) = self.0.get(&key) {
            return Rc::clone(steps).into();
        }
        let steps = CollectiveSteps::of(call, part, algorithms);
        if let Some(all) = steps.all().filter(|all| all.len() <= STEPS) {
            if self.0.len() == SCHEDULES {
                self.0.clear();
            }
            self.0.insert(key, Rc::clone(all));
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use titr_common::collectives::{CallMode, Library};
    use titr_common::event::CommId;
    use titr_common::units::Instructions;

    use super::*;

    /// Each call is asked for twice, among others that differ in one thing.
    #[test]
    fn a_schedule_from_memory_is_the_one_that_was_made() {
        let algorithms = Selection::from(Library::Mpich);
        let mut schedules = Schedules::default();
        let all = |mut steps: CollectiveSteps| -> Vec<_> {
            (0..).map_while(|number| steps.get(number, &algorithms)).collect()
        };
        for _ in 0..2 {
            for kind in [CollectiveKind::Alltoall, CollectiveKind::Bcast, CollectiveKind::Allreduce] {
                for (send, me, size, root) in [(8, 1, 8, 0), (9, 1, 8, 0), (8, 2, 8, 0), (8, 1, 9, 0), (8, 1, 8, 3)] {
                    for mode in CallMode::ALL {
                        let send = Volumes::Each(Bytes(send));
                        let recv = if kind == CollectiveKind::Alltoall { send.clone() } else { Volumes::None };
                        let (element, work) = (Bytes(1), Instructions(0.0));
                        let comm = CommId::WORLD;
                        let call =
                            Collective { comm, kind, root: None, send, recv, element, work, is_commutative: true };
                        let part = MemberPart { mode, me, size, root };
                        let made = all(CollectiveSteps::of(&call, part, &algorithms));
                        assert!(!made.is_empty());
                        assert_eq!(all(schedules.steps(&call, part, &algorithms)), made);
                    }
                }
            }
        }
        assert_eq!(schedules.0.len(), 3 * 5 * 2);
    }
}

//! The communication steps of one member's part in a collective.
//!
//! If every member talks to every other one, each member has a schedule with as many steps as the communicator has
//! members, and all these schedules exist at the same time. Memory therefore holds only a part of a long schedule. The
//! algorithm that made the first part makes the next one on demand: a schedule depends on the call and on the nodes of the members alone.
//!
//! # Schedules
//!
//! The schedules of collectives, of which the short ones are remembered: a member's schedule depends on the call and the
//! nodes alone, and a program repeats few calls. A schedule of few messages may take long to make, as one with many moves of data
//! within the member does (Bruck's all-to-all).

use std::rc::Rc;

use rustc_hash::FxHashMap;
use titr_common::collectives::{Call, CallMode, Member, Selection, Step};
use titr_common::event::{Collective, CollectiveKind, Volumes};
use titr_common::program::{NodeMaps, NodesId};
use titr_common::units::Bytes;

use crate::ranks::Core;

/// The algorithms of a library, and the nodes of communicators for those that know them.
pub(super) struct Algorithms<'a> {
    pub(super) selection: &'a Selection,
    pub(super) nodes: NodeMaps,
}

impl<'a> Algorithms<'a> {
    /// The algorithms that a library chooses for ranks on these cores.
    pub(super) fn new(selection: &'a Selection, cores: &[Core]) -> Self {
        Self { selection, nodes: NodeMaps::new(selection, cores.iter().map(|core| core.host.0)) }
    }
}

/// Steps in memory at a time. A shorter schedule is made once.
const WINDOW: usize = 512;

/// A step that takes time: half as large as a [`Step`], which also says where the data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageStep {
    Send {
        to: Member,
        bytes: Bytes,
    },
    Recv {
        from: Member,
        bytes: Bytes,
    },
    /// Send and receive at once; done when both are.
    Sendrecv {
        to: Member,
        sent: Bytes,
        from: Member,
        received: Bytes,
    },
    Isend {
        to: Member,
        bytes: Bytes,
    },
    Irecv {
        from: Member,
        bytes: Bytes,
    },
    /// Completes the `nth` of the sends and receives still pending, in the order in which they were started.
    Wait {
        nth: u32,
    },
    WaitAll,
    /// Reduces data with what was received.
    Reduce {
        bytes: Bytes,
    },
}

impl MessageStep {
    /// The step without places of data; `None` for one that takes no time.
    fn of(step: Step) -> Option<Self> {
        Some(match step {
            Step::Send { to, data } => Self::Send { to, bytes: data.len },
            Step::Recv { from, data } => Self::Recv { from, bytes: data.len },
            Step::Sendrecv { to, send, from, recv } => Self::Sendrecv { to, sent: send.len, from, received: recv.len },
            Step::Isend { to, data } => Self::Isend { to, bytes: data.len },
            Step::Irecv { from, data } => Self::Irecv { from, bytes: data.len },
            Step::Wait { nth } => Self::Wait { nth },
            Step::WaitAll => Self::WaitAll,
            Step::ReduceLeft { from, .. } | Step::ReduceRight { from, .. } => Self::Reduce { bytes: from.len },
            Step::Copy { .. } => return None,
        })
    }
}

/// The steps of one member.
pub(in crate::ranks) struct CollectiveSteps {
    /// The steps from number `first` on.
    window: Rc<[MessageStep]>,
    first: usize,
    count: usize,
    /// The call that the other steps are made of, where not all are in the window.
    source: Option<Box<(Collective, MemberPart)>>,
}

/// The part of a member in a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MemberPart {
    pub(super) mode: CallMode,
    pub(super) me: Member,
    pub(super) size: u32,
    pub(super) root: Member,
    pub(super) nodes: Option<NodesId>,
}

impl MemberPart {
    fn steps(self, call: &Collective, algorithms: &Algorithms) -> Vec<Step> {
        let Self { mode, me, size, root, nodes } = self;
        let call = Call { mode, nodes: algorithms.nodes.get(nodes), ..Call::of(call, me, size, root) };
        algorithms.selection.steps(&call)
    }
}

/// Whether the schedule of a call is short for any number of members.
fn is_short(call: &Collective) -> bool {
    [&call.send, &call.recv].into_iter().all(|volumes| !matches!(volumes, Volumes::PerMember(_)))
}

impl From<Rc<[MessageStep]>> for CollectiveSteps {
    fn from(window: Rc<[MessageStep]>) -> Self {
        Self { count: window.len(), window, first: 0, source: None }
    }
}

impl From<Vec<Step>> for CollectiveSteps {
    fn from(steps: Vec<Step>) -> Self {
        messages(&steps).collect::<Rc<[_]>>().into()
    }
}

fn messages(steps: &[Step]) -> impl Iterator<Item = MessageStep> {
    steps.iter().filter_map(|step| MessageStep::of(*step))
}

impl CollectiveSteps {
    /// The steps of a call by the algorithms of a library.
    pub(super) fn of(call: &Collective, part: MemberPart, algorithms: &Algorithms) -> Self {
        let steps = part.steps(call, algorithms);
        let count = messages(&steps).count();
        if count <= WINDOW || !is_short(call) {
            return steps.into();
        }
        let window = messages(&steps).take(WINDOW).collect();
        Self { window, first: 0, count, source: Some(Box::new((call.clone(), part))) }
    }

    /// All steps, if they are in memory.
    pub(super) fn all(&self) -> Option<&Rc<[MessageStep]>> {
        self.source.is_none().then_some(&self.window)
    }

    /// The step with a number; `None` after the last. The `algorithms` are those that the steps were made by.
    #[inline]
    pub(super) fn get(&mut self, number: usize, algorithms: &Algorithms) -> Option<MessageStep> {
        if number >= self.first + self.window.len() && number < self.count {
            self.move_to(number, algorithms);
        }
        self.window.get(number - self.first).copied()
    }

    #[cold]
    fn move_to(&mut self, number: usize, algorithms: &Algorithms) {
        let Some((call, part)) = self.source.as_deref() else { return };
        let steps = part.steps(call, algorithms);
        self.window = messages(&steps).skip(number).take(WINDOW).collect();
        self.first = number;
    }
}

/// The number of schedules in memory; then all are forgotten.
const SCHEDULES: usize = 1 << 14;

/// The steps of the longest schedule in memory, 32 bytes each.
const STEPS: usize = 32;

/// The schedules that were made by the algorithms of one library.
#[derive(Default)]
pub(super) struct Schedules(FxHashMap<ScheduleKey, Rc<[MessageStep]>>);

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
    pub(super) fn steps(&mut self, call: &Collective, part: MemberPart, algorithms: &Algorithms) -> CollectiveSteps {
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
    use titr_common::collectives::{Library, Selection};
    use titr_common::event::{CollectiveKind, CommId};
    use titr_common::units::{Bytes, Instructions};

    use super::*;

    #[test]
    fn a_long_schedule_has_the_steps_that_it_has_in_one_piece() {
        let selection = Selection::from(Library::Mpich);
        let algorithms = Algorithms::new(&selection, &[]);
        let call = Collective {
            comm: CommId::WORLD,
            kind: CollectiveKind::Alltoall,
            root: None,
            send: Volumes::Each(Bytes(100_000)),
            recv: Volumes::Each(Bytes(100_000)),
            work: Instructions(0.0),
            element: Bytes(1),
            is_commutative: true,
        };
        let part = MemberPart { mode: CallMode::Blocking, me: 7, size: 3000, root: 0, nodes: None };
        let whole: Vec<_> = messages(&part.steps(&call, &algorithms)).collect();
        assert!(whole.len() > 3 * WINDOW);
        let mut steps = CollectiveSteps::of(&call, part, &algorithms);
        for (number, step) in whole.iter().enumerate() {
            assert_eq!(steps.get(number, &algorithms), Some(*step), "{number}");
            assert!(steps.window.len() <= WINDOW);
        }
        assert_eq!(steps.get(whole.len(), &algorithms), None);
    }
}

#[cfg(test)]
mod schedules_tests {
    use titr_common::collectives::{CallMode, Library, Selection};
    use titr_common::event::CommId;
    use titr_common::units::Instructions;

    use super::*;

    /// Each call is asked for twice, among others that differ in one thing.
    #[test]
    fn a_schedule_from_memory_is_the_one_that_was_made() {
        let selection = Selection::from(Library::Mpich);
        let algorithms = Algorithms::new(&selection, &[]);
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
                        let part = MemberPart { mode, me, size, root, nodes: None };
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

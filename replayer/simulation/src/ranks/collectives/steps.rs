//! The communication steps of one member's part in a collective.
//!
//! If every member talks to every other one, each member has a schedule with as many steps as the communicator has
//! members, and all these schedules exist at the same time. Memory therefore holds only a part of a long schedule. The
//! algorithm that made the first part makes the next one on demand: a schedule depends on the call alone.

use titr_common::collectives::{Call, CallMode, Member, Selection, Step};
use titr_common::event::{Collective, Volumes};

/// Steps in memory at a time. A shorter schedule is made once.
const WINDOW: usize = 512;

/// The steps of one member.
pub(in crate::ranks) struct CollectiveSteps {
    /// The steps from number `first` on, without moves of data within the member.
    window: Vec<Step>,
    first: usize,
    /// How many steps there are.
    count: usize,
    /// The call that the other steps are made of, where not all are in the window.
    source: Option<Box<(Collective, MemberPart)>>,
}

/// The part of a member in a call.
#[derive(Clone, Copy)]
pub(in crate::ranks) struct MemberPart {
    pub(in crate::ranks) mode: CallMode,
    pub(in crate::ranks) me: Member,
    pub(in crate::ranks) size: u32,
    pub(in crate::ranks) root: Member,
}

impl MemberPart {
    fn steps(self, call: &Collective, algorithms: &Selection) -> Vec<Step> {
        let Self { mode, me, size, root } = self;
        messages(algorithms.steps(&Call::of(call, me, size, root).in_mode(mode)))
    }
}

/// Whether the schedule of a call is short for any number of members.
fn is_short(call: &Collective) -> bool {
    [&call.send, &call.recv].into_iter().all(|volumes| !matches!(volumes, Volumes::PerMember(_)))
}

/// The steps that send, receive or wait for messages.
fn messages(mut steps: Vec<Step>) -> Vec<Step> {
    steps.retain(|step| match step {
        Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. } => false,
        Step::Send { .. } | Step::Recv { .. } | Step::Sendrecv { .. } => true,
        Step::Isend { .. } | Step::Irecv { .. } | Step::Wait { .. } | Step::WaitAll => true,
    });
    steps
}

impl From<Vec<Step>> for CollectiveSteps {
    fn from(steps: Vec<Step>) -> Self {
        let mut window = messages(steps);
        window.shrink_to_fit();
        Self { count: window.len(), window, first: 0, source: None }
    }
}

impl CollectiveSteps {
    /// The steps of a call by the algorithms of a library.
    pub(in crate::ranks) fn of(call: &Collective, part: MemberPart, algorithms: &Selection) -> Self {
        let mut window = part.steps(call, algorithms);
        let count = window.len();
        let source = (count > WINDOW && is_short(call)).then(|| Box::new((call.clone(), part)));
        if source.is_some() {
            window.truncate(WINDOW);
        }
        window.shrink_to_fit();
        Self { window, first: 0, count, source }
    }

    /// The step with a number; `None` after the last. The `algorithms` are those that the steps were made by.
    #[inline]
    pub(in crate::ranks) fn get(&mut self, number: usize, algorithms: &Selection) -> Option<Step> {
        if number >= self.first + self.window.len() && number < self.count {
            self.move_to(number, algorithms);
        }
        self.window.get(number - self.first).copied()
    }

    #[cold]
    fn move_to(&mut self, number: usize, algorithms: &Selection) {
        let Some((call, part)) = self.source.as_deref() else { return };
        let steps = part.steps(call, algorithms);
        self.window.clear();
        self.window.extend(steps.into_iter().skip(number).take(WINDOW));
        self.first = number;
    }
}

#[cfg(test)]
mod tests {
    use titr_common::collectives::Library;
    use titr_common::event::{CollectiveKind, CommId};
    use titr_common::units::{Bytes, Instructions};

    use super::*;

    #[test]
    fn a_long_schedule_has_the_steps_that_it_has_in_one_piece() {
        let algorithms = Selection::from(Library::Mpich);
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
        let part = MemberPart { mode: CallMode::Blocking, me: 7, size: 3000, root: 0 };
        let whole = part.steps(&call, &algorithms);
        assert!(whole.len() > 3 * WINDOW);
        let mut steps = CollectiveSteps::of(&call, part, &algorithms);
        for (number, step) in whole.iter().enumerate() {
            assert_eq!(steps.get(number, &algorithms), Some(*step), "{number}");
            assert!(steps.window.capacity() <= WINDOW);
        }
        assert_eq!(steps.get(whole.len(), &algorithms), None);
    }
}

//! Which parts the calls on files have.

use std::collections::VecDeque;

use titr_common::collectives::{Buffer, Member, Step};
use titr_common::event::{CollectiveKind, Direction, FileAccess, FileEvent, Manage, Reach};
use titr_common::units::Bytes;
use titr_platform::CollectiveAccess;

use super::part::{INT, OFFSET, Part};

/// The parts of a call of member `me` of `size`.
pub(in crate::ranks) fn parts(
    event: &FileEvent,
    me: Member,
    size: u32,
    collective: CollectiveAccess,
) -> VecDeque<Part> {
    let agreement = Part::Collective(CollectiveKind::Allreduce, INT);
    match *event {
        FileEvent::Close(_) => [Part::LATENCY, Part::Collective(CollectiveKind::Barrier, Bytes(0))].into(),
        FileEvent::Manage(Manage::GetSize, _) => [Part::LATENCY].into(),
        FileEvent::Open(..) | FileEvent::Manage(..) => [Part::LATENCY, agreement].into(),
        FileEvent::Access(FileAccess { direction, reach, bytes, .. }) => match reach {
            Reach::Own | Reach::At => [Part::Access(direction, bytes)].into(),
            Reach::Shared => pointer().chain([Part::Access(direction, bytes)]).collect(),
            Reach::All | Reach::AtAll => access_of_all(direction, bytes, collective).collect(),
            Reach::Ordered => turn(me, size).chain(access_of_all(direction, bytes, collective)).collect(),
        },
    }
}

/// The shared pointer is read and moved on. It stands in a hidden file that is locked meanwhile (`ADIO_Get_shared_fp`).
fn pointer() -> impl Iterator<Item = Part> {
    let (read, write) = (Part::Access(Direction::Read, OFFSET), Part::Access(Direction::Write, OFFSET));
    [Part::Lock, read, write, Part::Unlock].into_iter()
}

/// The shared pointer is moved on by one member after another, each of which hands an empty message to the next
/// (`MPI_File_write_ordered`).
fn turn(me: Member, size: u32) -> impl Iterator<Item = Part> {
    let data = Buffer::Scratch.first(0);
    let from = me.checked_sub(1).map(|from| Step::Recv { from, data });
    let to = Some(me + 1).filter(|to| *to < size).map(|to| Step::Send { to, data });
    let steps = |step: Option<Step>| step.into_iter().collect();
    let (from, to) = (Part::FirstHalf(steps(from)), Part::Exchange(steps(to)));
    [from].into_iter().chain(pointer()).chain([to])
}

/// All members tell each other the first and the last byte that they access (`ADIOI_GEN_WriteStridedColl`).
fn access_of_all(direction: Direction, bytes: Bytes, collective: CollectiveAccess) -> impl Iterator<Item = Part> {
    let offsets = || Part::Collective(CollectiveKind::Allgather, OFFSET);
    let access = match collective {
        CollectiveAccess::TwoPhase => Part::TwoPhase(direction),
        CollectiveAccess::Independent => Part::Access(direction, bytes),
    };
    [offsets(), offsets(), access].into_iter()
}

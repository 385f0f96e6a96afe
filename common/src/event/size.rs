//! The memory that the lists of an event take: there may be an entry for each rank in the world.

use super::{Annotation, Completed, Event, Volumes};

/// The lists of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListSize {
    /// Entries of all lists.
    pub entries: usize,
    /// Bytes that they take on the heap.
    pub bytes: usize,
}

impl Event {
    /// The size of all lists, and of the text, that the event holds on the heap.
    #[must_use]
    pub(crate) fn list_size(&self) -> ListSize {
        let none = ListSize::default();
        match self {
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) => none,
            Self::Send(..) | Self::Recv(..) | Self::Sendrecv(..) | Self::Probe(_) | Self::Iprobe(..) => none,
            Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => none,
            Self::Partitioned(event) => event.list_size(),
            Self::Start(requests) => ListSize::of(requests),
            Self::Wait(_, completed) | Self::Test(_, Some(completed)) => match completed {
                Completed::These(requests) => ListSize::of(requests),
                Completed::Outstanding(_) | Completed::One(..) => none,
            },
            Self::Test(_, None) => none,
            Self::Collective(call, _) => of_volumes(&call.send).and(of_volumes(&call.recv)),
            Self::Neighborhood(call, _) => ListSize::of(&call.sends).and(ListSize::of(&call.recvs)),
            Self::OneSided(event) => event.list_size(),
            Self::File(_) => none,
            Self::Mark(event) => event.list_size(),
            Self::Other(other) => ListSize::of(other.function.as_bytes()),
            Self::CommCreate(_, _, Some(group)) => ListSize::of(&group.members).and(ListSize::of(&group.remote)),
            Self::CommCreate(_, _, None) | Self::CommFree(_) => none,
            Self::Task(task) => ListSize::of(&task.ended).and(ListSize::of(&task.begun)),
            Self::Annotation(Annotation::Call(_) | Annotation::Message(_)) => none,
        }
    }
}

impl ListSize {
    /// The size of one list.
    pub(super) fn of<T>(list: &[T]) -> Self {
        Self { entries: list.len(), bytes: size_of_val(list) }
    }

    fn and(self, other: Self) -> Self {
        Self { entries: self.entries + other.entries, bytes: self.bytes + other.bytes }
    }
}

fn of_volumes(volumes: &Volumes) -> ListSize {
    match volumes {
        Volumes::PerMember(list) => ListSize::of(list),
        Volumes::None | Volumes::Each(_) => ListSize::default(),
    }
}

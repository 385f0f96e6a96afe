//! The communicators of a rank: their numbers in events, and their members.

use std::sync::Arc;

use titr_common::event::{CommId, Event, Group, Rank};

use super::{DumpiSink, DumpiTranslation, NoEvent, Numbers, PREDEFINED_COMMS, Translated, argument};
use crate::input::dumpi::communicators::{
    COMM_NULL, COMM_SELF, COMM_WORLD, DumpiCall, DumpiCommunicator, Handle, Handles, Made,
};
use crate::input::dumpi::records::DumpiRecord;

/// The communicators that a rank has at a record.
pub(super) struct DumpiCommunicators {
    handles: Handles,
    /// The number in events by that in the file.
    known: Vec<Known>,
    /// What the following calls make.
    made: Arc<[Made]>,
    next: usize,
    numbers: Numbers,
}

/// What a number in the file stands for.
#[derive(Clone)]
enum Known {
    Nothing,
    Here(CommId, Arc<DumpiCommunicator>),
    /// A communicator with processes of other worlds.
    Elsewhere,
}

impl DumpiCommunicators {
    pub(super) fn new(me: Rank, world: &Arc<[Rank]>, made: Arc<[Made]>) -> Self {
        let handles = Handles::new(me, world);
        let mut known = vec![Known::Nothing; usize::from(COMM_SELF) + 1];
        for (handle, id) in [(COMM_WORLD, CommId::WORLD), (COMM_SELF, CommId::SELF)] {
            if let Ok(comm) = handles.comm(handle) {
                known[usize::from(handle)] = Known::Here(id, Arc::clone(comm));
            }
        }
        let mut numbers = Numbers::default();
        (0..PREDEFINED_COMMS).for_each(|_| _ = numbers.take());
        Self { handles, known, made, next: 0, numbers }
    }

    /// The communicator of a call, by its number in the file.
    #[inline]
    fn get(&self, comm: Handle) -> Translated<(CommId, &DumpiCommunicator)> {
        match self.known.get(usize::from(comm)) {
            Some(Known::Here(id, comm)) => Ok((*id, comm)),
            // Noted where the communicator is made.
            Some(Known::Elsewhere) => Err(NoEvent::Needless),
            Some(Known::Nothing) | None if comm == COMM_NULL => Err(NoEvent::Needless),
            Some(Known::Nothing) | None => {
                Err(NoEvent::Wrong(format!("communicator {comm}, which no call before has made")))
            }
        }
    }

    /// The members of a communicator; `None` if there is none with this number.
    pub(super) fn members(&self, comm: Handle) -> Option<&[Rank]> {
        self.get(comm).ok().map(|(_, comm)| &*comm.members)
    }

    fn set(&mut self, comm: Handle, known: Known) {
        let at = usize::from(comm);
        if self.known.len() <= at {
            self.known.resize(at + 1, Known::Nothing);
        }
        self.known[at] = known;
    }
}

impl DumpiTranslation {
    /// The number of a communicator in events, and those whom its ranks name: of an inter-communicator, the remote group.
    #[inline]
    pub(super) fn peers(&self, comm: Handle) -> Translated<(CommId, &[Rank])> {
        let (id, comm) = self.communicators.get(comm)?;
        Ok((id, if comm.remote.is_empty() { &comm.members } else { &comm.remote }))
    }

    /// The number of a communicator in events, its own members and the remote ones.
    pub(super) fn sides(&self, comm: Handle) -> Translated<(CommId, &DumpiCommunicator)> {
        self.communicators.get(comm)
    }

    /// The members of a group.
    pub(super) fn group(&self, group: Handle) -> Translated<Vec<Rank>> {
        Ok(self.communicators.handles.group(group)?.to_vec())
    }

    /// Makes or frees a communicator or a group.
    pub(super) fn communicator(&mut self, record: &DumpiRecord<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let call = argument(DumpiCall::of(record))?;
        match call {
            DumpiCall::Make { parent, new, .. } => self.make(parent, new, sink)?,
            DumpiCall::FreeComm(comm) => {
                if let Ok((id, _)) = self.communicators.get(comm)
                    && id.0 >= PREDEFINED_COMMS
                {
                    self.push(sink, Event::CommFree(id));
                    self.communicators.numbers.free(id.0);
                }
                if comm > COMM_SELF {
                    self.communicators.set(comm, Known::Nothing);
                    self.communicators.handles.remove(comm);
                }
            }
            call => self.communicators.handles.apply(&call)?,
        }
        Ok(())
    }

    fn make(&mut self, parent: Handle, new: Handle, sink: &mut DumpiSink<'_>) -> Translated {
        let made = self.communicators.made.get(self.communicators.next).cloned();
        self.communicators.next += 1;
        match made {
            Some(Made::Known(function, tag, comm)) => {
                let (parent, _) = self.communicators.get(parent)?;
                let id = CommId(self.communicators.numbers.take());
                let (members, remote) = (comm.members.to_vec(), comm.remote.to_vec());
                self.push(sink, Event::CommCreate(function, parent, Some(Group { id, members, remote, tag })));
                self.communicators.handles.add(new, Arc::clone(&comm));
                self.communicators.set(new, Known::Here(id, comm));
            }
            Some(Made::NotMember(function)) => {
                let (parent, _) = self.communicators.get(parent)?;
                self.push(sink, Event::CommCreate(function, parent, None));
            }
            Some(Made::Elsewhere) => {
                if new != COMM_NULL {
                    self.communicators.set(new, Known::Elsewhere);
                    self.notes.add("communicators with processes of other worlds: calls on them are left out");
                }
            }
            None => {
                let what = "the members are not known: the file of another rank was cut before this call";
                return Err(NoEvent::Wrong(what.to_owned()));
            }
        }
        Ok(())
    }
}

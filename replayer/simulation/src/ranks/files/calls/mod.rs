//! Calls on files: each opens, closes or accesses a [file](crate::ranks::files); its rank waits for the call at once or later.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use titr_common::collectives::{Call, Member, Step};
use titr_common::event::{Actor, CommId, Direction, FileAccess, FileEvent, FileId, FilePosition, Phase, Rank};
use titr_common::program::{Fault, Participation};
use titr_common::time::Time;
use titr_common::units::{Bytes, Instructions};
use titr_platform::CollectiveAccess;

use super::Files;
use super::file::{File, FileCall, FileIndex, JointAccess, JointWay, OpenFile, PARTS, SharedPointer};
use super::part::{Part, collective, is_interleaved, parts};
use super::two_phase::TwoPhase;
use crate::observe::{CollectiveFlow, Observer, OperationId};
use crate::ranks::collectives::CollectiveStart;
use crate::ranks::files::storage_access::Piece;
use crate::ranks::ids::FileCallIndex;
use crate::ranks::library::Library;
use crate::ranks::operation::OperationKind;
use crate::ranks::scheduler::{Clock, Waiter};
use crate::ranks::thread::Thread;

impl<O: Observer> Library<'_, O> {
    /// A call on a file.
    pub(in crate::ranks) fn file(&mut self, thread: &mut Thread, event: &FileEvent) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let mut start = 0;
        let (file, phase) = match *event {
            FileEvent::Open(comm, id) => (self.open_file(rank, comm, id)?, Phase::Blocking),
            FileEvent::Close(id) => {
                let closed = self.files.names[rank.0 as usize].remove(&id).ok_or(Fault::NoSuchFile(id))?;
                (closed.file, Phase::Blocking)
            }
            FileEvent::Manage(_, id) => (self.files.find(rank, id)?.file, Phase::Blocking),
            FileEvent::Delete => {
                self.delete_file(thread);
                return Ok(());
            }
            FileEvent::Access(FileAccess { file, phase, reach, bytes, skip, .. }) => {
                let open = self.files.find(rank, file)?;
                if phase == Phase::End {
                    let begun = open.split.take().ok_or(Fault::NoSplitAccess(file))?;
                    self.wait_for(thread, Some(begun));
                    return Ok(());
                }
                if reach.is_own_place() {
                    start = open.position.advance(skip, bytes);
                }
                let file = open.file;
                self.files.accesses += 1;
                self.files.accessed += bytes;
                (file, phase)
            }
        };
        let operation = self.start_file_call(thread.actor, file, event, start)?;
        match phase {
            Phase::Blocking | Phase::End => self.wait_for(thread, Some(operation)),
            Phase::Nonblocking(request) => self.requests(rank).add(request, Some(operation))?,
            Phase::Begin => {
                if let FileEvent::Access(access) = event {
                    self.files.find(rank, access.file)?.split = Some(operation);
                }
            }
        }
        Ok(())
    }

    /// A thread deletes a file: an access without bytes to the first server, as the trace does not say where the file lies.
    fn delete_file(&mut self, thread: &mut Thread) {
        let client = self.cores[thread.actor.rank.0 as usize].host;
        for share in self.files.storage_accesses().shares(client, Piece { first_server: 0, start: 0, bytes: Bytes(0) })
        {
            let operation = self.exchange.operations.open(OperationKind::StorageAccess);
            self.files.storage_accesses().start(self.now, client, Direction::Write, share, operation);
            self.wait_for(thread, Some(operation));
        }
    }

    /// `rank` opens a file with all members of a communicator: the *n*-th file that they open.
    fn open_file(&mut self, rank: Rank, comm: CommId, id: FileId) -> Result<FileIndex, Fault> {
        const WORD: &str = "file_open";
        let index = self.communicators.find(rank, comm)?;
        let communicator = self.communicators.get(index);
        let (context, members) = (communicator.context, Rc::clone(&communicator.members));
        if members.is_inter() {
            return Err(Fault::InterCollective { word: WORD, on: members.describe() });
        }
        let Participation { number, .. } = self.communicators.enter_neighborhood(index, rank, WORD)?;
        let (file, missing) = match self.files.opening.remove(&(context, number)) {
            Some(known) => known,
            None => {
                let comm = self.communicators.duplicate(index);
                let (pointer, joint) = (SharedPointer::default(), FxHashMap::default());
                let (users, first_server) = (members.len(), self.files.opened);
                self.files.opened = first_server.wrapping_add(1);
                let file = self.files.files.insert(File { comm, members, first_server, pointer, joint, users });
                (FileIndex(file), users)
            }
        };
        if missing > 1 {
            self.files.opening.insert((context, number), (file, missing - 1));
        }
        self.files.names[rank.0 as usize].insert(id, OpenFile { file, position: FilePosition::default(), split: None });
        Ok(file)
    }
}

impl<O: Observer> Library<'_, O> {
    /// Starts a call on a file, which accesses it from byte `start` on if it accesses it; the operation that its rank
    /// is to wait for.
    pub(super) fn start_file_call(
        &mut self,
        actor: Actor,
        file: FileIndex,
        event: &FileEvent,
        start: u64,
    ) -> Result<OperationId, Fault> {
        let (rank, word) = (actor.rank, event.word());
        let entry = &self.files.files[file.0];
        let (comm, members) = (entry.comm, Rc::clone(&entry.members));
        let me = members.place(rank).unwrap_or_default();
        let mut number = 0;
        if event.is_collective() {
            number = self.communicators.enter_neighborhood(comm, rank, word)?.number;
        }
        let parts = parts(event, me, members.len() as u32, self.causality.has_receives());
        self.files.files[file.0].users += 1;
        let bytes = match event {
            FileEvent::Access(FileAccess { bytes, .. }) => *bytes,
            FileEvent::Open(..) | FileEvent::Close(_) | FileEvent::Manage(..) | FileEvent::Delete => Bytes(0),
        };
        let operation = self.exchange.operations.open(OperationKind::FileCall);
        let closes = matches!(event, FileEvent::Close(_));
        let clock = Clock { time: self.now, awaited: 0 };
        let collectives = 0;
        let call = FileCall { actor, word, file, number, start, bytes, parts, collectives, closes, clock, operation };
        let index = FileCallIndex(self.files.calls.insert(call) as u32);
        self.observer.began(self.now, Waiter::FileCall(index), rank);
        self.advance_file_call(index);
        Ok(operation)
    }

    /// Goes on with a call until it has to wait, or for a time that has not come.
    pub(in crate::ranks) fn advance_file_call(&mut self, index: FileCallIndex) {
        loop {
            let call = self.files.call_mut(index);
            if call.clock.awaited > 0 {
                return;
            }
            if call.clock.time > self.now {
                return self.scheduler.set_timer(call.clock.time, Waiter::FileCall(index));
            }
            let (file, rank) = (call.file, call.actor.rank);
            let Some(part) = call.parts.pop_front() else { return self.end_file_call(index) };
            match part {
                Part::Access(direction, offset, bytes) => {
                    let start = call.start.saturating_add(offset);
                    self.access_storage(index, direction, start, bytes);
                }
                Part::Collective(kind, bytes) => {
                    let members = &self.files.files[file.0].members;
                    let (me, size) = (members.place(rank).unwrap_or_default(), members.len() as u32);
                    let steps = self.algorithms.steps(&Call::of(&collective(kind, bytes), me, size, 0));
                    self.start_part(index, steps);
                }
                Part::Exchange(steps) => self.start_part(index, steps),
                Part::FirstHalf(steps) => self.start_messages(index, steps),
                Part::Lock => {
                    let pointer = &mut self.files.files[file.0].pointer;
                    if pointer.is_locked {
                        return pointer.waiting.push_back(index);
                    }
                    pointer.is_locked = true;
                }
                Part::Unlock => {
                    let bytes = call.bytes;
                    let pointer = &mut self.files.files[file.0].pointer;
                    let start = pointer.place;
                    pointer.place = start.saturating_add(bytes.0);
                    match pointer.waiting.pop_front() {
                        Some(next) => {
                            self.observer.released(self.now, Waiter::FileCall(next), None, Time::ZERO);
                            self.scheduler.ready(Waiter::FileCall(next));
                        }
                        None => pointer.is_locked = false,
                    }
                    self.files.call_mut(index).start = start;
                }
                Part::Announce => self.announce(index),
                Part::Joint(direction) => {
                    let (number, bytes) = (call.number, call.bytes);
                    let me = self.files.files[file.0].members.place(rank).unwrap_or_default();
                    let way = self.joint_access(file, number, direction);
                    let call = self.files.call_mut(index);
                    match way {
                        Some(JointWay::TwoPhase(access)) => {
                            call.start = access.start;
                            call.parts = access.parts(me);
                        }
                        Some(JointWay::Independent) => call.parts.push_back(Part::Access(direction, 0, bytes)),
                        None => {}
                    }
                }
            }
        }
    }

    /// Starts an access to the storage, and makes a call wait for all disks that serve it.
    fn access_storage(&mut self, index: FileCallIndex, direction: Direction, start: u64, bytes: Bytes) {
        let FileCall { actor, file, .. } = self.files.call(index);
        let (client, first_server) = (self.cores[actor.rank.0 as usize].host, self.files.files[file.0].first_server);
        let piece = Piece { first_server, start, bytes };
        for share in self.files.storage_accesses().shares(client, piece) {
            let operation = self.exchange.operations.open(OperationKind::StorageAccess);
            self.files.storage_accesses().start(self.now, client, direction, share, operation);
            self.file_call_waits(index, operation);
        }
    }

    /// Makes the access of a call known to the other members.
    fn announce(&mut self, index: FileCallIndex) {
        let &FileCall { actor, file, number, start, bytes, .. } = self.files.call(index);
        let file = &mut self.files.files[file.0];
        let members = file.members.len();
        let nobody = || JointAccess { pieces: vec![(0, Bytes(0)); members], way: None, informed: 0 };
        let me = file.members.place(actor.rank).unwrap_or_default();
        file.joint.entry(number).or_insert_with(nobody).pieces[me as usize] = (start, bytes);
    }

    /// Starts a collective that is a part of a call, and makes the call wait for it.
    fn start_part(&mut self, index: FileCallIndex, steps: Vec<Step>) {
        self.start_messages(index, steps);
        self.files.call_mut(index).collectives += 1;
    }

    /// Starts the messages of a collective that is a part of a call, and makes the call wait for them.
    fn start_messages(&mut self, index: FileCallIndex, steps: Vec<Step>) {
        let call = self.files.call(index);
        let (rank, word, file) = (call.actor.rank, call.word, call.file);
        let number = call.number.wrapping_mul(PARTS).wrapping_add(call.collectives % PARTS);
        let file = &self.files.files[file.0];
        let (members, context) = (Rc::clone(&file.members), self.communicators.get(file.comm).context);
        let (flow, root, work) = (CollectiveFlow::AllToAll, None, Instructions(0.0));
        let steps = steps.into();
        let start = CollectiveStart { rank, word, context, members, number, flow, root, steps, work };
        let (collectives, mut environment) = self.collectives();
        let operation = collectives.start(start, &mut environment);
        self.file_call_waits(index, operation);
    }

    fn file_call_waits(&mut self, index: FileCallIndex, operation: OperationId) {
        let Self { files, exchange, now, observer, .. } = self;
        let clock = &mut files.call_mut(index).clock;
        exchange.wait_for(Some(operation), Waiter::FileCall(index), clock, *now, observer);
    }

    fn end_file_call(&mut self, index: FileCallIndex) {
        let FileCall { file, closes, operation, .. } = self.files.calls.remove(index.0 as usize);
        if closes {
            self.leave_file(file);
        }
        self.leave_file(file);
        self.observer.completed(self.now, operation);
        self.observer.ended(Waiter::FileCall(index));
        self.exchange.operations.complete(operation);
    }

    /// A member has closed a file, or a call on it is over.
    fn leave_file(&mut self, index: FileIndex) {
        let file = &mut self.files.files[index.0];
        file.users -= 1;
        if file.users == 0 {
            let File { comm, .. } = self.files.files.remove(index.0);
            self.communicators.forget(comm);
        }
    }

    /// The method of the collective access with this number on a file, after all members have published their pieces.
    /// Each member calls this once.
    fn joint_access(&mut self, file: FileIndex, number: u64, direction: Direction) -> Option<JointWay> {
        let aggregators = self.aggregators(file);
        let Files { files, storage, .. } = &mut self.files;
        let file = &mut files[file.0];
        let joint = file.joint.get_mut(&number)?;
        let is_two_phase = match storage.collective {
            CollectiveAccess::Automatic => is_interleaved(&joint.pieces),
            CollectiveAccess::TwoPhase => true,
            CollectiveAccess::Independent => false,
        };
        let two_phase = || TwoPhase::new(direction, &joint.pieces, aggregators);
        let make = || if is_two_phase { JointWay::TwoPhase(Rc::new(two_phase())) } else { JointWay::Independent };
        let way = joint.way.get_or_insert_with(make).clone();
        joint.informed += 1;
        if joint.informed == file.members.len() {
            file.joint.remove(&number);
        }
        Some(way)
    }

    /// The members of a file that access the storage in a collective access: the first at each host.
    fn aggregators(&self, file: FileIndex) -> Vec<Member> {
        let members = &self.files.files[file.0].members;
        let most = self.files.storage.aggregators.map_or(usize::MAX, |most| most as usize);
        let mut hosts = FxHashSet::default();
        let is_first = |member: &Member| hosts.insert(self.cores[members.rank(*member).0 as usize].host);
        (0..members.len() as u32).filter(is_first).take(most).collect()
    }
}

//! Calls on files: each opens, closes or accesses a [file](crate::ranks::files); its rank waits for the call at once or later.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use titr_common::collectives::{Member, Step};
use titr_common::event::{Actor, CommId, Direction, FileAccess, FileEvent, FileId, FilePosition, Phase, Rank};
use titr_common::program::{Fault, Participation};
use titr_common::units::Bytes;
use titr_network::topology::HostId;
use titr_platform::CollectiveAccess;

use super::Files;
use super::file::{File, FileCall, FileIndex, JointAccess, JointWay, OpenFile, PARTS, SharedPointer};
use super::part::{Part, is_interleaved, parts};
use super::storage_access::Piece;
use super::two_phase::TwoPhase;
use crate::observe::{CollectiveFlow, Observer, OperationId};
use crate::ranks::collectives::{Collectives, MemberMessages, rootless};
use crate::ranks::ids::FileCallIndex;
use crate::ranks::mpi::Mpi;
use crate::ranks::operation::OperationKind;
use crate::ranks::scheduler::{BackgroundWork, Waiter};
use crate::ranks::thread::Thread;

impl Files {
    /// A call on a file.
    pub(in crate::ranks) fn start(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        collectives: &mut Collectives,
        thread: &mut Thread,
        event: &FileEvent,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let mut start = 0;
        let (file, phase) = match *event {
            FileEvent::Open(comm, id) => (self.open_file(mpi, rank, comm, id)?, Phase::Blocking),
            FileEvent::Close(id) => {
                let closed = self.names[rank.0 as usize].remove(&id).ok_or(Fault::NoSuchFile(id))?;
                (closed.file, Phase::Blocking)
            }
            FileEvent::Manage(_, id) => (self.find(rank, id)?.file, Phase::Blocking),
            FileEvent::Delete => {
                self.delete_file(mpi, thread);
                return Ok(());
            }
            FileEvent::Access(FileAccess { file, phase, reach, bytes, skip, .. }) => {
                let open = self.find(rank, file)?;
                if phase == Phase::End {
                    let begun = open.split.take().ok_or(Fault::NoSplitAccess(file))?;
                    mpi.wait_for(thread, Some(begun));
                    return Ok(());
                }
                if reach.is_own_place() {
                    start = open.position.advance(skip, bytes);
                }
                let file = open.file;
                self.accesses += 1;
                self.accessed += bytes;
                (file, phase)
            }
        };
        let operation = self.start_call(mpi, collectives, thread.actor, (file, start), event)?;
        match phase {
            Phase::Blocking | Phase::End => mpi.wait_for(thread, Some(operation)),
            Phase::Nonblocking(request) => mpi.requests(rank).add(request, Some(operation))?,
            Phase::Begin => {
                if let FileEvent::Access(access) = event {
                    self.find(rank, access.file)?.split = Some(operation);
                }
            }
        }
        Ok(())
    }

    /// A thread deletes a file: an access without bytes to the first server, as the trace does not say where the file lies.
    fn delete_file(&mut self, mpi: &mut Mpi<impl Observer>, thread: &mut Thread) {
        let client = mpi.core(thread.actor.rank).host;
        let piece = Piece { first_server: 0, start: 0, bytes: Bytes(0) };
        for operation in self.access_storage(mpi, client, Direction::Write, piece) {
            mpi.wait_for(thread, Some(operation));
        }
    }

    /// `rank` opens a file with all members of a communicator: the *n*-th file that they open.
    fn open_file(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        rank: Rank,
        comm: CommId,
        id: FileId,
    ) -> Result<FileIndex, Fault> {
        const WORD: &str = "file_open";
        let index = mpi.communicators.find(rank, comm)?;
        let communicator = mpi.communicators.get(index);
        let (context, members) = (communicator.context, Rc::clone(&communicator.members));
        if members.is_inter() {
            return Err(Fault::InterCollective { word: WORD, on: members.describe() });
        }
        let Participation { number, .. } = mpi.communicators.enter_neighborhood(index, rank, WORD)?;
        let (file, missing) = match self.opening.remove(&(context, number)) {
            Some(known) => known,
            None => {
                let comm = mpi.communicators.duplicate(index);
                let (pointer, joint) = (SharedPointer::default(), FxHashMap::default());
                let (users, first_server) = (members.len(), self.opened);
                self.opened = first_server.wrapping_add(1);
                let file = self.files.insert(File { comm, members, first_server, pointer, joint, users });
                (FileIndex(file), users)
            }
        };
        if missing > 1 {
            self.opening.insert((context, number), (file, missing - 1));
        }
        self.names[rank.0 as usize].insert(id, OpenFile { file, position: FilePosition::default(), split: None });
        Ok(file)
    }

    /// Starts a call on a file, which accesses it from byte `start` on if it accesses it; the operation that its rank
    /// is to wait for.
    fn start_call(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        collectives: &mut Collectives,
        actor: Actor,
        (file, start): (FileIndex, u64),
        event: &FileEvent,
    ) -> Result<OperationId, Fault> {
        let (rank, word) = (actor.rank, event.word());
        let entry = &self.files[file.0];
        let (comm, members) = (entry.comm, Rc::clone(&entry.members));
        let me = members.place(rank).unwrap_or_default();
        let mut number = 0;
        if event.is_collective() {
            number = mpi.communicators.enter_neighborhood(comm, rank, word)?.number;
        }
        let parts = parts(event, me, members.len() as u32, mpi.causality().has_receives());
        self.files[file.0].users += 1;
        let bytes = match event {
            FileEvent::Access(FileAccess { bytes, .. }) => *bytes,
            FileEvent::Open(..) | FileEvent::Close(_) | FileEvent::Manage(..) | FileEvent::Delete => Bytes(0),
        };
        let operation = mpi.open(OperationKind::Background);
        let closes = matches!(event, FileEvent::Close(_));
        // Every step of a call on a file needs the processor.
        let work = BackgroundWork { needs_processor: true, ..BackgroundWork::new(actor, mpi.now()) };
        let call = FileCall { word, file, number, start, bytes, parts, collectives: 0, closes, work, operation };
        let index = FileCallIndex(self.calls.insert(call) as u32);
        mpi.observer.began(mpi.now(), Waiter::FileCall(index), rank);
        self.advance(mpi, collectives, index);
        Ok(operation)
    }

    /// Goes on with a call until it has to wait, or for a time that has not come.
    pub(in crate::ranks) fn advance(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        collectives: &mut Collectives,
        index: FileCallIndex,
    ) {
        loop {
            let call = self.call_mut(index);
            if call.work.clock.awaited > 0 {
                return;
            }
            if call.work.clock.time > mpi.now() {
                return mpi.scheduler.set_timer(call.work.clock.time, Waiter::FileCall(index));
            }
            let (file, rank) = (call.file, call.work.actor.rank);
            let Some(part) = call.parts.pop_front() else { return self.end(mpi, index) };
            match part {
                Part::Access(direction, offset, bytes) => {
                    let start = call.start.saturating_add(offset);
                    let piece = Piece { first_server: self.files[file.0].first_server, start, bytes };
                    let client = mpi.core(rank).host;
                    for operation in self.access_storage(mpi, client, direction, piece) {
                        self.wait(mpi, index, operation);
                    }
                }
                Part::Collective(kind, bytes) => {
                    let members = &self.files[file.0].members;
                    let (me, size) = (members.place(rank).unwrap_or_default(), members.len() as u32);
                    let steps = collectives.steps(&rootless(kind, bytes), me, size);
                    self.start_messages(mpi, collectives, index, steps);
                    self.call_mut(index).collectives += 1;
                }
                Part::Exchange(steps) => {
                    self.start_messages(mpi, collectives, index, steps);
                    self.call_mut(index).collectives += 1;
                }
                Part::FirstHalf(steps) => self.start_messages(mpi, collectives, index, steps),
                Part::Lock => {
                    let pointer = &mut self.files[file.0].pointer;
                    if pointer.is_locked {
                        return pointer.waiting.push_back(index);
                    }
                    pointer.is_locked = true;
                }
                Part::Unlock => {
                    let bytes = call.bytes;
                    let pointer = &mut self.files[file.0].pointer;
                    let start = pointer.place;
                    pointer.place = start.saturating_add(bytes.0);
                    match pointer.waiting.pop_front() {
                        Some(next) => {
                            mpi.release(Waiter::FileCall(next));
                            mpi.scheduler.ready(Waiter::FileCall(next));
                        }
                        None => pointer.is_locked = false,
                    }
                    self.call_mut(index).start = start;
                }
                Part::Announce => self.announce(index),
                Part::Joint(direction) => {
                    let (number, bytes) = (call.number, call.bytes);
                    let me = self.files[file.0].members.place(rank).unwrap_or_default();
                    let way = self.joint_access(mpi, file, number, direction);
                    let call = self.call_mut(index);
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

    /// Starts an access to the storage. Returns the operations of all disks that serve it.
    fn access_storage(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        client: HostId,
        direction: Direction,
        piece: Piece,
    ) -> Vec<OperationId> {
        let shares = self.storage_accesses.shares(client, piece);
        let start = |share| {
            let operation = mpi.open(OperationKind::Background);
            self.storage_accesses.start(mpi.now(), client, direction, share, operation);
            operation
        };
        shares.into_iter().map(start).collect()
    }

    /// Makes the access of a call known to the other members.
    fn announce(&mut self, index: FileCallIndex) {
        let &FileCall { ref work, file, number, start, bytes, .. } = self.call(index);
        let rank = work.actor.rank;
        let file = &mut self.files[file.0];
        let members = file.members.len();
        let nobody = || JointAccess { pieces: vec![(0, Bytes(0)); members], way: None, informed: 0 };
        let me = file.members.place(rank).unwrap_or_default();
        file.joint.entry(number).or_insert_with(nobody).pieces[me as usize] = (start, bytes);
    }

    /// Starts the messages of a collective that is a part of a call, and makes the call wait for them.
    fn start_messages(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        collectives: &mut Collectives,
        index: FileCallIndex,
        steps: Vec<Step>,
    ) {
        let call = self.call(index);
        let (rank, word, file) = (call.work.actor.rank, call.word, call.file);
        let number = call.number.wrapping_mul(PARTS).wrapping_add(call.collectives % PARTS);
        let file = &self.files[file.0];
        let (members, context) = (Rc::clone(&file.members), mpi.communicators.get(file.comm).context);
        let messages = MemberMessages::new(rank, word, members, steps.into());
        let operation = collectives.start(mpi, (context, number), (CollectiveFlow::AllToAll, None), messages);
        self.wait(mpi, index, operation);
    }

    fn wait(&mut self, mpi: &mut Mpi<impl Observer>, index: FileCallIndex, operation: OperationId) {
        mpi.wait(Waiter::FileCall(index), &mut self.call_mut(index).work.clock, Some(operation));
    }

    fn end(&mut self, mpi: &mut Mpi<impl Observer>, index: FileCallIndex) {
        let FileCall { file, closes, operation, .. } = self.calls.remove(index.0 as usize);
        if closes {
            self.leave_file(mpi, file);
        }
        self.leave_file(mpi, file);
        mpi.complete(operation);
        mpi.observer.ended(Waiter::FileCall(index));
    }

    /// A member has closed a file, or a call on it is over.
    fn leave_file(&mut self, mpi: &mut Mpi<impl Observer>, index: FileIndex) {
        let file = &mut self.files[index.0];
        file.users -= 1;
        if file.users == 0 {
            let File { comm, .. } = self.files.remove(index.0);
            mpi.communicators.forget(comm);
        }
    }

    /// The method of the collective access with this number on a file, after all members have published their pieces.
    /// Each member calls this once.
    fn joint_access(
        &mut self,
        mpi: &Mpi<impl Observer>,
        file: FileIndex,
        number: u64,
        direction: Direction,
    ) -> Option<JointWay> {
        let aggregators = self.aggregators(mpi, file);
        let file = &mut self.files[file.0];
        let joint = file.joint.get_mut(&number)?;
        let is_two_phase = match self.storage_accesses.storage.collective {
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
    fn aggregators(&self, mpi: &Mpi<impl Observer>, file: FileIndex) -> Vec<Member> {
        let members = &self.files[file.0].members;
        let most = self.storage_accesses.storage.aggregators.map_or(usize::MAX, |most| most as usize);
        let mut hosts = FxHashSet::default();
        let is_first = |member: &Member| hosts.insert(mpi.core(members.rank(*member)).host);
        (0..members.len() as u32).filter(is_first).take(most).collect()
    }
}

//! Calls on files in progress: each does one part after another.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use titr_common::collectives::{Call, Member, Step};
use titr_common::event::{Actor, Direction, FileAccess, FileEvent};
use titr_common::program::Fault;
use titr_common::units::{Bytes, Instructions};
use titr_platform::CollectiveAccess;

use crate::observe::{Observer, OperationId};
use crate::ranks::clock::{Clock, Waiter};
use crate::ranks::collective::CollectiveStart;
use crate::ranks::files::Files;
use crate::ranks::files::call::{FileCall, PARTS};
use crate::ranks::files::file::{File, FileIndex, JointAccess};
use crate::ranks::files::part::{Part, collective};
use crate::ranks::files::plan;
use crate::ranks::files::two_phase::TwoPhase;
use crate::ranks::ids::FileCallIndex;
use crate::ranks::library::Library;
use crate::ranks::operation::OperationKind;

impl<O: Observer> Library<'_, O> {
    /// Starts a call on a file; the operation that its rank is to wait for.
    pub(super) fn start_file_call(
        &mut self,
        actor: Actor,
        file: FileIndex,
        event: &FileEvent,
    ) -> Result<OperationId, Fault> {
        let (rank, word) = (actor.rank, event.word());
        let entry = &self.files.files[file.0];
        let (comm, members) = (entry.comm, Rc::clone(&entry.members));
        let me = members.place(rank).unwrap_or_default();
        let mut number = 0;
        if event.is_collective() {
            number = self.communicators.enter_neighborhood(comm, rank, word)?.number;
        }
        // Where nothing is received, no member knows what others do.
        let exchanges = self.causality.has_receives();
        let way = if exchanges { self.files.storage.collective } else { CollectiveAccess::Independent };
        let parts = plan::parts(event, me, members.len() as u32, way);
        let entry = &mut self.files.files[file.0];
        entry.users += 1;
        if let FileEvent::Access(FileAccess { bytes, .. }) = event
            && parts.iter().any(|part| matches!(part, Part::TwoPhase(_)))
        {
            let nobody = || JointAccess { volumes: vec![Bytes(0); members.len()], access: None, informed: 0 };
            entry.joint.entry(number).or_insert_with(nobody).volumes[me as usize] = *bytes;
        }
        let operation = self.exchange.operations.open(OperationKind::FileCall);
        let closes = matches!(event, FileEvent::Close(_));
        let clock = Clock { time: self.now, awaited: 0 };
        let call =
            FileCall { actor, word, file, number, parts, access: None, collectives: 0, closes, clock, operation };
        let index = FileCallIndex(self.files.calls.insert(call) as u32);
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
                Part::Access(direction, bytes) => {
                    let operation = self.exchange.operations.open(OperationKind::StorageAccess);
                    let host = self.cores[rank.0 as usize].host;
                    self.files.access(self.now, host, direction, bytes, operation);
                    self.file_call_waits(index, operation);
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
                    let pointer = &mut self.files.files[file.0].pointer;
                    match pointer.waiting.pop_front() {
                        Some(next) => self.scheduler.ready(Waiter::FileCall(next)),
                        None => pointer.is_locked = false,
                    }
                }
                Part::TwoPhase(direction) => {
                    let number = call.number;
                    let me = self.files.files[file.0].members.place(rank).unwrap_or_default();
                    if let Some(access) = self.joint_access(file, number, direction) {
                        let call = self.files.call_mut(index);
                        call.parts = access.preparation(me);
                        call.access = Some(access);
                    }
                }
                Part::Round(round) => {
                    let me = self.files.files[file.0].members.place(rank).unwrap_or_default();
                    let call = self.files.call_mut(index);
                    call.parts = call.access.as_ref().map(|access| access.round(me, round)).unwrap_or_default();
                }
            }
        }
    }

    /// Starts a collective that is a part of a call, and lets the call wait for it.
    fn start_part(&mut self, index: FileCallIndex, steps: Vec<Step>) {
        self.start_messages(index, steps);
        self.files.call_mut(index).collectives += 1;
    }

    /// Starts the messages of a collective that is a part of a call, and lets the call wait for them.
    fn start_messages(&mut self, index: FileCallIndex, steps: Vec<Step>) {
        let call = self.files.call(index);
        let (rank, word, file) = (call.actor.rank, call.word, call.file);
        let number = call.number.wrapping_mul(PARTS).wrapping_add(call.collectives % PARTS);
        let file = &self.files.files[file.0];
        let (members, context) = (Rc::clone(&file.members), self.communicators.get(file.comm).context);
        let start = CollectiveStart { rank, word, context, members, number, steps, work: Instructions(0.0) };
        let (collectives, mut environment) = self.collectives();
        let operation = collectives.start(start, &mut environment);
        self.file_call_waits(index, operation);
    }

    fn file_call_waits(&mut self, index: FileCallIndex, operation: OperationId) {
        let Self { files, exchange, now, .. } = self;
        exchange.wait_for(Some(operation), Waiter::FileCall(index), &mut files.call_mut(index).clock, *now);
    }

    fn end_file_call(&mut self, index: FileCallIndex) {
        let FileCall { file, closes, operation, .. } = self.files.calls.remove(index.0 as usize);
        if closes {
            self.leave_file(file);
        }
        self.leave_file(file);
        self.observer.completed(self.now, operation);
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

    /// The collective access of this number on a file, of which all members have come. Each asks for it once.
    fn joint_access(&mut self, file: FileIndex, number: u64, direction: Direction) -> Option<Rc<TwoPhase>> {
        let aggregators = self.aggregators(file);
        let Files { files, storage, .. } = &mut self.files;
        let file = &mut files[file.0];
        let joint = file.joint.get_mut(&number)?;
        let volumes = &mut joint.volumes;
        let make = || TwoPhase::new(direction, std::mem::take(volumes), aggregators, storage.buffering.buffer);
        let access = Rc::clone(joint.access.get_or_insert_with(|| Rc::new(make())));
        joint.informed += 1;
        if joint.informed == file.members.len() {
            file.joint.remove(&number);
        }
        Some(access)
    }

    /// The members of a file that access the storage in a collective access: the first at each host.
    fn aggregators(&self, file: FileIndex) -> Vec<Member> {
        let members = &self.files.files[file.0].members;
        let most = self.files.storage.buffering.aggregators.map_or(usize::MAX, |most| most as usize);
        let mut hosts = FxHashSet::default();
        let is_first = |member: &Member| hosts.insert(self.cores[members.rank(*member).0 as usize].host);
        (0..members.len() as u32).filter(is_first).take(most).collect()
    }
}

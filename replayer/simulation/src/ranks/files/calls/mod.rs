//! Calls on files: each opens, closes or accesses a [file](crate::ranks::files); its rank waits for the call at once or later.

mod progress;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Direction, FileAccess, FileEvent, FileId, FilePosition, Phase, Rank};
use titr_common::program::{Fault, Participation};
use titr_common::units::Bytes;

use crate::observe::Observer;
use crate::ranks::files::file::{File, FileIndex, OpenFile, SharedPointer};
use crate::ranks::files::storage_access::Piece;
use crate::ranks::library::Library;
use crate::ranks::operation::OperationKind;
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

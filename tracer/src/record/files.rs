//! Files: opening, closing, and the data that ranks read and write.

use rustc_hash::FxHashMap;
use titr_common::event::{Event, FileAccess, FileEvent, FileId, FilePosition, Manage, Phase, SeekDistance};
use titr_common::units::Bytes;
use titr_wrappers::argument::File;
use titr_wrappers::functions::io::Io::{self, *};

use super::file_access::{AccessCall, CallPhase};
use super::id_pool::IdPool;
use super::message_args::volume;
use super::omitted_calls::Omission;
use super::overwritten::Overwritten;
use super::request_table::RequestKind;
use super::{Outcome, RankTrace};
use crate::pmpi;

/// The open files of a rank.
#[derive(Debug, Default)]
pub(super) struct Files {
    known: FxHashMap<File, OpenFile>,
    ids: IdPool,
}

#[derive(Debug)]
struct OpenFile {
    id: FileId,
    /// The end of the last access that did not use the shared pointer.
    position: FilePosition,
}

impl Files {
    #[inline(never)]
    pub(super) fn call(&mut self, call: &Io<'_>, overwritten: Overwritten, trace: &mut RankTrace) -> Outcome {
        match call {
            MPI_File_open(comm, .., new) => {
                let comm = trace.communicators.known(*comm)?.id;
                let id = FileId(self.ids.take());
                self.known.insert(new.get(), OpenFile { id, position: FilePosition::default() });
                trace.stream.write(&Event::File(FileEvent::Open(comm, id)));
                Ok(())
            }
            MPI_File_close(_) => {
                let Overwritten::File(file) = overwritten else { return Err(Omission::Untraced) };
                let OpenFile { id, .. } = self.known.remove(&file).ok_or(Omission::Untraced)?;
                self.ids.give(id.0);
                trace.stream.write(&Event::File(FileEvent::Close(id)));
                Ok(())
            }
            MPI_File_delete(..) => {
                trace.stream.write(&Event::File(FileEvent::Delete));
                Ok(())
            }
            MPI_File_set_size(file, _) => self.manage(Manage::SetSize, *file, trace),
            MPI_File_get_size(file, _) => self.manage(Manage::GetSize, *file, trace),
            MPI_File_preallocate(file, _) => self.manage(Manage::Preallocate, *file, trace),
            MPI_File_set_view(file, ..) => self.manage(Manage::SetView, *file, trace),
            MPI_File_seek_shared(file, ..) => self.manage(Manage::SeekShared, *file, trace),
            MPI_File_sync(file) => self.manage(Manage::Sync, *file, trace),
            _ => match AccessCall::of(call) {
                Some(access) => self.access(&access, overwritten.access_start(), trace),
                None => Ok(()),
            },
        }
    }

    fn manage(&self, manage: Manage, file: File, trace: &mut RankTrace) -> Outcome {
        let file = self.file(file)?;
        trace.stream.write(&Event::File(FileEvent::Manage(manage, file)));
        Ok(())
    }

    fn access(&mut self, access: &AccessCall<'_>, start: Option<u64>, trace: &mut RankTrace) -> Outcome {
        let known = self.known.get(&access.file).map(|open| open.id);
        let phase = match access.phase {
            CallPhase::Blocking => Phase::Blocking,
            CallPhase::Nonblocking(request) => {
                let what = if known.is_some() { RequestKind::Collective } else { RequestKind::Nothing };
                Phase::Nonblocking(trace.requests.add(request.get(), request.address(), what, false))
            }
            CallPhase::Begin => Phase::Begin,
            CallPhase::End => Phase::End,
        };
        let asked_for = access.data.map_or(Bytes(0), |(count, datatype)| volume(count, datatype));
        // A file may end before.
        let there_was = access.status.and_then(|status| status.get()).map(|status| Bytes(pmpi::message_bytes(&status)));
        let bytes = there_was.map_or(asked_for, |bytes| bytes.min(asked_for));
        let open = self.known.get_mut(&access.file).ok_or(Omission::Untraced)?;
        let mut skip = SeekDistance::default();
        if access.is_own_place() {
            skip = start.map_or(skip, |start| open.position.skip_to(start));
            open.position.advance(skip, bytes);
        }
        let &AccessCall { direction, reach, .. } = access;
        let file = open.id;
        trace.stream.write(&Event::File(FileEvent::Access(FileAccess { file, direction, reach, phase, bytes, skip })));
        Ok(())
    }

    fn file(&self, file: File) -> Result<FileId, Omission> {
        self.known.get(&file).map(|open| open.id).ok_or(Omission::Untraced)
    }
}

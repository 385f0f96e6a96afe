//! Files: who reads and writes how much.

use rustc_hash::FxHashMap;
use titr_common::event::{Direction, Event, FileAccess, FileEvent, FileId, Manage, Phase, Reach};
use titr_common::units::Bytes;
use titr_wrappers::argument::{Count, Datatype, File, Place, Request};
use titr_wrappers::functions::io::Io::{self, *};

use super::id_pool::IdPool;
use super::omitted_calls::Omission;
use super::overwritten::Overwritten;
use super::requests::RequestKind;
use super::{Outcome, Recorder};

/// The open files of a rank.
#[derive(Debug, Default)]
pub(super) struct Files {
    known: FxHashMap<File, FileId>,
    ids: IdPool,
}

/// The data that a call reads or writes.
struct AccessArgs {
    file: File,
    count: Count,
    datatype: Datatype,
}

macro_rules! data {
    ($call:expr) => {
        AccessArgs { file: $call.fh(), count: $call.count(), datatype: $call.datatype() }
    };
}

impl Recorder {
    #[inline(never)]
    pub(super) fn io(&mut self, call: &Io<'_>, overwritten: Overwritten) -> Outcome {
        use Direction::{Read, Write};
        use Reach::{All, At, AtAll, Ordered, Own, Shared};
        match call {
            MPI_File_open(comm, .., new) => {
                let comm = self.known(*comm)?.id;
                let id = FileId(self.files.ids.take());
                self.files.known.insert(new.get(), id);
                self.emit(&Event::File(FileEvent::Open(comm, id)));
                Ok(())
            }
            MPI_File_close(_) => {
                let id = self.files.known.remove(&overwritten.file()).ok_or(Omission::Untraced)?;
                self.files.ids.give(id.0);
                self.emit(&Event::File(FileEvent::Close(id)));
                Ok(())
            }
            MPI_File_set_size(file, _) => self.manage(Manage::SetSize, *file),
            MPI_File_get_size(file, _) => self.manage(Manage::GetSize, *file),
            MPI_File_preallocate(file, _) => self.manage(Manage::Preallocate, *file),
            MPI_File_set_view(file, ..) => self.manage(Manage::SetView, *file),
            MPI_File_seek_shared(file, ..) => self.manage(Manage::SeekShared, *file),
            MPI_File_sync(file) => self.manage(Manage::Sync, *file),

            MPI_File_read(call, _) => self.blocking(Read, Own, &data!(call)),
            MPI_File_write(call, _) => self.blocking(Write, Own, &data!(call)),
            MPI_File_read_at(call, _) => self.blocking(Read, At, &data!(call)),
            MPI_File_write_at(call, _) => self.blocking(Write, At, &data!(call)),
            MPI_File_read_shared(call, _) => self.blocking(Read, Shared, &data!(call)),
            MPI_File_write_shared(call, _) => self.blocking(Write, Shared, &data!(call)),
            MPI_File_read_all(call, _) => self.blocking(Read, All, &data!(call)),
            MPI_File_write_all(call, _) => self.blocking(Write, All, &data!(call)),
            MPI_File_read_at_all(call, _) => self.blocking(Read, AtAll, &data!(call)),
            MPI_File_write_at_all(call, _) => self.blocking(Write, AtAll, &data!(call)),
            MPI_File_read_ordered(call, _) => self.blocking(Read, Ordered, &data!(call)),
            MPI_File_write_ordered(call, _) => self.blocking(Write, Ordered, &data!(call)),

            MPI_File_iread(call, request) => self.nonblocking(Read, Own, &data!(call), request),
            MPI_File_iwrite(call, request) => self.nonblocking(Write, Own, &data!(call), request),
            MPI_File_iread_at(call, request) => self.nonblocking(Read, At, &data!(call), request),
            MPI_File_iwrite_at(call, request) => self.nonblocking(Write, At, &data!(call), request),
            MPI_File_iread_shared(call, request) => self.nonblocking(Read, Shared, &data!(call), request),
            MPI_File_iwrite_shared(call, request) => self.nonblocking(Write, Shared, &data!(call), request),
            MPI_File_iread_all(call, request) => self.nonblocking(Read, All, &data!(call), request),
            MPI_File_iwrite_all(call, request) => self.nonblocking(Write, All, &data!(call), request),
            MPI_File_iread_at_all(call, request) => self.nonblocking(Read, AtAll, &data!(call), request),
            MPI_File_iwrite_at_all(call, request) => self.nonblocking(Write, AtAll, &data!(call), request),

            MPI_File_read_all_begin(call) => self.begin_split(Read, All, &data!(call)),
            MPI_File_write_all_begin(call) => self.begin_split(Write, All, &data!(call)),
            MPI_File_read_at_all_begin(call) => self.begin_split(Read, AtAll, &data!(call)),
            MPI_File_write_at_all_begin(call) => self.begin_split(Write, AtAll, &data!(call)),
            MPI_File_read_ordered_begin(call) => self.begin_split(Read, Ordered, &data!(call)),
            MPI_File_write_ordered_begin(call) => self.begin_split(Write, Ordered, &data!(call)),
            MPI_File_read_all_end(file, ..) => self.end_split(Read, All, *file),
            MPI_File_write_all_end(file, ..) => self.end_split(Write, All, *file),
            MPI_File_read_at_all_end(file, ..) => self.end_split(Read, AtAll, *file),
            MPI_File_write_at_all_end(file, ..) => self.end_split(Write, AtAll, *file),
            MPI_File_read_ordered_end(file, ..) => self.end_split(Read, Ordered, *file),
            MPI_File_write_ordered_end(file, ..) => self.end_split(Write, Ordered, *file),
        }
    }

    fn manage(&mut self, manage: Manage, file: File) -> Outcome {
        let file = self.file(file)?;
        self.emit(&Event::File(FileEvent::Manage(manage, file)));
        Ok(())
    }

    fn blocking(&mut self, direction: Direction, reach: Reach, data: &AccessArgs) -> Outcome {
        self.file_access(direction, reach, Phase::Blocking, data)
    }

    fn begin_split(&mut self, direction: Direction, reach: Reach, data: &AccessArgs) -> Outcome {
        self.file_access(direction, reach, Phase::Begin, data)
    }

    fn nonblocking(
        &mut self,
        direction: Direction,
        reach: Reach,
        data: &AccessArgs,
        request: &Place<'_, Request>,
    ) -> Outcome {
        let what = if self.file(data.file).is_ok() { RequestKind::Collective } else { RequestKind::Nothing };
        let id = self.requests.add(request.get(), request.address(), what, false);
        self.file_access(direction, reach, Phase::Nonblocking(id), data)
    }

    fn file_access(&mut self, direction: Direction, reach: Reach, phase: Phase, data: &AccessArgs) -> Outcome {
        let file = self.file(data.file)?;
        let bytes = Self::bytes(data.count, data.datatype);
        self.emit(&Event::File(FileEvent::Access(FileAccess { file, direction, reach, phase, bytes })));
        Ok(())
    }

    fn end_split(&mut self, direction: Direction, reach: Reach, file: File) -> Outcome {
        let (file, phase, bytes) = (self.file(file)?, Phase::End, Bytes(0));
        self.emit(&Event::File(FileEvent::Access(FileAccess { file, direction, reach, phase, bytes })));
        Ok(())
    }

    fn file(&self, file: File) -> Result<FileId, Omission> {
        self.files.known.get(&file).copied().ok_or(Omission::Untraced)
    }
}

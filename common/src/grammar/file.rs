//! Input and output as text.
//!
//! | line, after the rank | event |
//! | --- | --- |
//! | `file_open FILE`, `file_close FILE` | `on C` before the first |
//! | `file_set_size FILE`, also `file_get_size file_preallocate file_set_view file_seek_shared file_sync` | |
//! | `file_delete` | any file, open or not |
//! | `file_read FILE BYTES`, also `file_write`, both with `_at _shared _all _at_all _ordered` | done when the call returns |
//! | `file_iread FILE BYTES REQ`, … | when the request is completed |
//! | `file_read_all_begin FILE BYTES`, `file_read_all_end FILE`, … | in the call that ends it |
//!
//! A read or write that does not start at the end of the rank's previous access has `+N` or `-N` as its last field: the
//! distance from there in bytes.

use super::ParseError;
use super::fields::Fields;
use super::line::Line;
use super::words::words;
use crate::event::{CommId, Direction, FileAccess, FileEvent, FileId, FilePointer, Manage, Phase, SeekDistance};
use crate::units::Bytes;

/// The words of reading and of writing: each way to reach into the file with its four phases, where MPI has them.
const ACCESSES: [(FilePointer, Direction, [&str; 4]); 12] = {
    use Direction::{Read, Write};
    use FilePointer::{All, At, AtAll, Ordered, Own, Shared};
    [
        (Own, Read, ["file_read", "file_iread", "", ""]),
        (Own, Write, ["file_write", "file_iwrite", "", ""]),
        (At, Read, ["file_read_at", "file_iread_at", "", ""]),
        (At, Write, ["file_write_at", "file_iwrite_at", "", ""]),
        (Shared, Read, ["file_read_shared", "file_iread_shared", "", ""]),
        (Shared, Write, ["file_write_shared", "file_iwrite_shared", "", ""]),
        (All, Read, ["file_read_all", "file_iread_all", "file_read_all_begin", "file_read_all_end"]),
        (All, Write, ["file_write_all", "file_iwrite_all", "file_write_all_begin", "file_write_all_end"]),
        (AtAll, Read, ["file_read_at_all", "file_iread_at_all", "file_read_at_all_begin", "file_read_at_all_end"]),
        (AtAll, Write, ["file_write_at_all", "file_iwrite_at_all", "file_write_at_all_begin", "file_write_at_all_end"]),
        (Ordered, Read, ["file_read_ordered", "", "file_read_ordered_begin", "file_read_ordered_end"]),
        (Ordered, Write, ["file_write_ordered", "", "file_write_ordered_begin", "file_write_ordered_end"]),
    ]
};

words! {
    Manage {
        SetSize = "file_set_size",
        GetSize = "file_get_size",
        Preallocate = "file_preallocate",
        SetView = "file_set_view",
        SeekShared = "file_seek_shared",
        Sync = "file_sync",
    }
}

impl FileAccess {
    /// The word of the grammar; empty where MPI has no such function.
    pub(crate) fn word(&self) -> &'static str {
        let phase = match self.phase {
            Phase::Blocking => 0,
            Phase::Nonblocking(_) => 1,
            Phase::Begin => 2,
            Phase::End => 3,
        };
        let words = ACCESSES.iter().find(|(reach, direction, _)| (*reach, *direction) == (self.reach, self.direction));
        words.map_or("", |(.., words)| words[phase])
    }
}

impl FileEvent {
    /// The word of the grammar.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Open(..) => "file_open",
            Self::Close(_) => "file_close",
            Self::Manage(manage, _) => manage.word(),
            Self::Access(access) => access.word(),
            Self::Delete => "file_delete",
        }
    }
}

/// Appends the whole event.
pub(super) fn write<'l, 'o>(line: &'l mut Line<'o>, event: &FileEvent) -> &'l mut Line<'o> {
    let word = event.word();
    match *event {
        FileEvent::Open(comm, file) => line.on(comm).word(word).number(u64::from(file.0)),
        FileEvent::Close(file) | FileEvent::Manage(_, file) => line.word(word).number(u64::from(file.0)),
        FileEvent::Delete => line.word(word),
        FileEvent::Access(FileAccess { file, phase, bytes, skip, .. }) => {
            line.word(word).number(u64::from(file.0));
            match phase {
                Phase::Blocking | Phase::Begin => line.bytes(bytes).skip(skip),
                Phase::Nonblocking(request) => line.bytes(bytes).request(request).skip(skip),
                Phase::End => line,
            }
        }
    }
}

/// The event that `word` names; `None` if it is none of these.
pub(super) fn read(word: &[u8], comm: CommId, f: &mut Fields) -> Result<Option<FileEvent>, ParseError> {
    let is = |known: &&str| known.as_bytes() == word;
    if is(&"file_open") {
        return Ok(Some(FileEvent::Open(comm, file(f)?)));
    }
    if is(&"file_close") {
        return Ok(Some(FileEvent::Close(file(f)?)));
    }
    if is(&"file_delete") {
        return Ok(Some(FileEvent::Delete));
    }
    if let Some(manage) = Manage::of_word(word) {
        return Ok(Some(FileEvent::Manage(manage, file(f)?)));
    }
    let known = ACCESSES
        .iter()
        .find_map(|(reach, direction, words)| words.iter().position(is).map(|phase| (*reach, *direction, phase)));
    let Some((reach, direction, phase)) = known else { return Ok(None) };
    let file = file(f)?;
    let bytes = if phase == 3 { Bytes(0) } else { f.bytes("a number of bytes", Bytes(1))? };
    let phase = match phase {
        0 => Phase::Blocking,
        1 => Phase::Nonblocking(f.request()?),
        2 => Phase::Begin,
        _ => Phase::End,
    };
    let skip = if phase == Phase::End || f.at_end() { SeekDistance::default() } else { f.skip()? };
    Ok(Some(FileEvent::Access(FileAccess { file, direction, reach, phase, bytes, skip })))
}

fn file(f: &mut Fields) -> Result<FileId, ParseError> {
    f.small("the number of a file").map(FileId)
}

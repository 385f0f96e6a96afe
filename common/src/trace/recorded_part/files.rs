//! File calls in the traced part of a program.
//!
//! All members open and close a file in the trace, independent of the beginning of the part. The *n*-th file that the
//! members of a communicator open is the same for all, and so is the *n*-th collective call on it. A call of one rank
//! depends on no other rank. The start of an access follows from the end of the one before it, in the trace or not.

use rustc_hash::FxHashMap;

use super::correspondence::{CommKey, Correspondence, CorrespondenceSide, Counterparts, FileKey, SizedComm, next};
use crate::event::{FileAccess, FileEvent, FileId, Phase, Rank, SeekDistance};

/// An open file as one rank uses it in the trace.
#[derive(Debug)]
struct TracedFile {
    key: FileKey,
    members: u32,
    /// The distance in bytes from the end of the last access that is kept to the end of the last one that was made.
    moved: u64,
    /// Whether the split access that began in the trace is kept.
    split: Option<bool>,
}

/// The open files of one rank.
#[derive(Debug)]
pub(super) struct Files {
    rank: Rank,
    files: FxHashMap<FileId, TracedFile>,
    /// The number of files that the members of each communicator have opened.
    opened: FxHashMap<CommKey, u32>,
}

impl Files {
    pub(super) fn new(rank: Rank) -> Self {
        Self { rank, files: FxHashMap::default(), opened: FxHashMap::default() }
    }

    pub(super) fn open(&mut self, id: FileId, SizedComm { key, size }: SizedComm) {
        let key = FileKey(key, next(&mut self.opened, key));
        self.files.insert(id, TracedFile { key, members: size, moved: 0, split: None });
    }

    /// Returns whether the file was known.
    pub(super) fn close(&mut self, id: FileId) -> bool {
        self.files.remove(&id).is_some()
    }

    /// Whether a call on an open file is kept: a call of one rank, or one that all members have in the trace.
    pub(super) fn calls(&self, call: &FileEvent, judge: &mut impl Counterparts) -> bool {
        match call.id().and_then(|id| self.files.get(&id)) {
            Some(file) if call.is_collective() => {
                judge.meets(Correspondence::File(file.key), CorrespondenceSide(self.rank.0), file.members)
            }
            Some(_) => true,
            None => false,
        }
    }

    /// The access to keep; `None` if it is left out.
    pub(super) fn access(&mut self, access: FileAccess, judge: &mut impl Counterparts) -> Option<FileAccess> {
        if access.phase == Phase::End {
            let begun = self.files.get_mut(&access.file)?.split.take();
            return (begun == Some(true)).then_some(access);
        }
        let kept = self.calls(&FileEvent::Access(access), judge);
        let file = self.files.get_mut(&access.file)?;
        if access.phase == Phase::Begin {
            file.split = Some(kept);
        }
        match (kept, access.reach.is_own_place()) {
            (true, true) => {
                let moved = std::mem::take(&mut file.moved).cast_signed();
                Some(FileAccess { skip: SeekDistance(access.skip.0.wrapping_add(moved)), ..access })
            }
            (true, false) => Some(access),
            (false, is_own_place) => {
                if is_own_place {
                    file.moved = file.moved.wrapping_add(access.distance());
                }
                None
            }
        }
    }

    /// Accesses outside of the trace have moved the rank's place in a file.
    pub(super) fn moves(&mut self, id: FileId, distance: u64) {
        if let Some(file) = self.files.get_mut(&id) {
            file.moved = file.moved.wrapping_add(distance);
        }
    }

    /// The series that collective calls on a file outside of the trace are of.
    pub(super) fn series(&self, id: FileId) -> Option<(Correspondence, CorrespondenceSide)> {
        let file = self.files.get(&id)?;
        Some((Correspondence::File(file.key), CorrespondenceSide(self.rank.0)))
    }
}

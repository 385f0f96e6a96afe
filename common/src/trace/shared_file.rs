//! A single file with the lines of all ranks, distributed to them.
//!
//! While one rank is read, the lines of other ranks wait in memory, as in SimGrid: a file in which the ranks alternate
//! needs little memory, a file with one rank after another needs all but the first in memory.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::error::TraceError;
use super::lines::Lines;
use crate::event::Rank;

/// The file, shared by the streams of its ranks.
pub(super) struct SharedFile {
    lines: Lines,
    /// Lines with their numbers, for each rank.
    waiting: Vec<VecDeque<(u64, Vec<u8>)>>,
}

impl SharedFile {
    pub(super) fn open(path: &Path, ranks: u32) -> Result<Arc<Mutex<Self>>, TraceError> {
        let waiting = (0..ranks).map(|_| VecDeque::new()).collect();
        Ok(Arc::new(Mutex::new(Self { lines: Lines::open(path)?, waiting })))
    }

    pub(super) fn path(&self) -> &Path {
        self.lines.path()
    }

    /// The next line of `rank`, or of no rank, with its number.
    pub(super) fn next(&mut self, rank: Rank) -> Result<Option<(u64, Vec<u8>)>, TraceError> {
        if let Some(line) = self.waiting.get_mut(rank.0 as usize).and_then(VecDeque::pop_front) {
            return Ok(Some(line));
        }
        loop {
            let Some(text) = self.lines.next()? else {
                return Ok(None);
            };
            let (owner, text) = (leading_number(text), text.to_vec());
            let line = (self.lines.line(), text);
            match owner {
                // Its reader reports what is wrong with it; comments and blank lines mean nothing.
                None => return Ok(Some(line)),
                Some(owner) if owner == rank.0 => return Ok(Some(line)),
                Some(owner) => {
                    if let Some(queue) = self.waiting.get_mut(owner as usize) {
                        queue.push_back(line);
                    }
                }
            }
        }
    }
}

/// Number of ranks that a file may name regardless of its length. A file with more ranks has a line for each: a larger
/// first column is damage, and would take the memory of a world.
const FEW_RANKS: u64 = 1 << 10;

/// The number of ranks in the file: the largest rank in the first column, plus one.
pub(super) fn count_ranks(path: &Path) -> Result<u32, TraceError> {
    let mut lines = Lines::open(path)?;
    let mut ranks = 0;
    while let Some(text) = lines.next()? {
        if let Some(rank) = leading_number(text) {
            ranks = ranks.max(rank.saturating_add(1));
        }
    }
    if u64::from(ranks) > lines.line().max(FEW_RANKS) {
        let what = format!("rank {} in the first column of a trace of {} lines", ranks - 1, lines.line());
        return Err(TraceError::Directory { path: path.into(), what });
    }
    if ranks == 0 {
        return Err(TraceError::Empty { path: path.into() });
    }
    Ok(ranks)
}

/// The rank that a line starts with; `None` for blanks and comments.
pub(super) fn leading_number(line: &[u8]) -> Option<u32> {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&line[..digits]).ok()?.parse().ok()
}

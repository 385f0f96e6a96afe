//! Streams that cannot be read.

use rustc_hash::FxHashMap;
use titr_common::format::{count, plural};
use titr_common::trace::TraceError;

/// The errors of ranks whose streams cannot be read.
#[derive(Default)]
pub(super) struct Unreadable {
    /// The first error of a stream that breaks off, and the number of further ones.
    torn: Option<(String, u64)>,
    /// Each other error, and the number of further ranks that have it in the same file.
    others: Vec<(String, u64)>,
    /// The index in `others` by the line of a file, or by the error if it has no line.
    known: FxHashMap<String, usize>,
}

impl Unreadable {
    /// Adds the error of a rank.
    pub(super) fn add(&mut self, error: &TraceError) {
        let text = error.to_string();
        if let TraceError::Torn { .. } = error {
            self.torn = Some(self.torn.take().map_or((text, 0), |(first, more)| (first, more + 1)));
            return;
        }
        let place = match error.place() {
            Some((path, Some(line))) => format!("{}:{line}", path.display()),
            _ => text.clone(),
        };
        match self.known.get(&place) {
            Some(&known) => self.others[known].1 += 1,
            None => {
                self.known.insert(place, self.others.len());
                self.others.push((text, 0));
            }
        }
    }

    /// A sentence for each error. An error of ranks that share a file is one, and so are all streams that break off.
    pub(super) fn into_sentences(self) -> Vec<String> {
        let sentence = |(error, more): (String, u64), one: &str, several: &str, what: &str| match more {
            0 => error,
            _ => format!("{error}; {} {} {what}", count(more), plural(more, one, several)),
        };
        let of_file = |error| sentence(error, "other rank shares", "other ranks share", "the file with this fault");
        let of_torn = |error| sentence(error, "other rank is", "other ranks are", "torn, too");
        self.others.into_iter().map(of_file).chain(self.torn.map(of_torn)).collect()
    }
}

//! Parts of an archive that titr's events do not have, counted for each rank.

use std::collections::BTreeMap;

use titr_common::format::counted;

/// What was found in the events of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Otf2Notes {
    /// Calls that communicate without a record of it, by the name of the function.
    pub lost: BTreeMap<Box<str>, u64>,
    /// Receives that never complete.
    pub unfinished: u64,
    /// Receives whose messages are not in the archive.
    pub unknown: u64,
    /// Operations whose start is not in the archive.
    pub late: u64,
    /// Collectives of which only the sum of the members' bytes is known.
    pub divided: u64,
    /// Calls that begin before the call before them ends.
    pub backwards: u64,
    /// Records of these types, which are not read.
    pub unread: BTreeMap<u8, u64>,
}

impl Otf2Notes {
    pub(super) fn add(&mut self, other: &Self) {
        for (name, number) in &other.lost {
            *self.lost.entry(name.clone()).or_default() += number;
        }
        self.unfinished += other.unfinished;
        self.unknown += other.unknown;
        self.late += other.late;
        self.divided += other.divided;
        self.backwards += other.backwards;
        for (kind, number) in &other.unread {
            *self.unread.entry(*kind).or_default() += number;
        }
    }

    /// A sentence for each kind.
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<String> = Vec::new();
        if !self.lost.is_empty() {
            let calls: Vec<String> = self.lost.iter().map(|(name, number)| format!("{number} of {name}")).collect();
            sentences.push(format!(
                "The archive has no record of what these calls communicate, and they are left out: {}.",
                calls.join(", ")
            ));
        }
        let mut say = |number: u64, one: &str, many: &str, what: &str| {
            if number > 0 {
                sentences.push(format!("{} {what}", counted(number, one, many)));
            }
        };
        say(
            self.unknown,
            "receive has",
            "receives have",
            "no record of the message: each takes the first message that arrives.",
        );
        say(self.unfinished, "receive", "receives", "without a record of completion: left out.");
        say(
            self.late,
            "non-blocking operation",
            "non-blocking operations",
            "without a start: taken as blocking, at the time of the completion.",
        );
        say(
            self.divided,
            "collective call has",
            "collective calls have",
            "only the sums of the bytes of each member: what one gives another is an estimate.",
        );
        say(
            self.backwards,
            "call begins",
            "calls begin",
            "before the end of the call before: the time of the earlier end is taken.",
        );
        for (kind, number) in &self.unread {
            say(
                *number,
                "record",
                "records",
                &format!("of type {kind}, which titr does not read and may take time: left out."),
            );
        }
        sentences
    }
}

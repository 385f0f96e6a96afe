//! Tags of the world for tags of every communicator.

use rustc_hash::FxHashMap;
use titr_common::event::Tag;
use titr_common::program::Context;

/// Tags from here on stand for those of other communicators. SimGrid's tags are 32-bit integers, and its collectives use
/// negative ones.
const FIRST: u32 = 1 << 30;

/// Which tags were given so far. The world's own stay as they are; so memory grows with the tags that other communicators
/// use.
pub(super) struct Tags {
    world: Context,
    given: FxHashMap<(Context, Tag), u32>,
}

impl Tags {
    /// A table that has given no tags yet.
    pub(super) fn new(world: Context) -> Self {
        Self { world, given: FxHashMap::default() }
    }

    /// The tag that stands for `tag` in `context`, and for no other.
    pub(super) fn of(&mut self, context: Context, tag: Tag) -> Tag {
        if context == self.world && (0..FIRST.cast_signed()).contains(&tag.0) {
            return tag;
        }
        let next = self.given.len() as u32;
        let number = *self.given.entry((context, tag)).or_insert(next);
        Tag((FIRST | (number % FIRST)).cast_signed())
    }
}

//! Maps the tags of all communicators to tags of the world.

use rustc_hash::FxHashMap;
use titr_common::event::Tag;
use titr_common::program::Context;

/// Tags from here on represent those of other communicators. SimGrid's tags are 32-bit integers, and its collectives
/// use negative ones.
const FIRST: u32 = 1 << 30;

/// The tags assigned so far. The world's own tags do not change, so memory only grows with the tags on other
/// communicators.
pub(super) struct Tags {
    world: Context,
    given: FxHashMap<(Context, Tag), u32>,
}

impl Tags {
    /// A table that has given no tags yet.
    pub(super) fn new(world: Context) -> Self {
        Self { world, given: FxHashMap::default() }
    }

    /// The tag that represents `tag` in `context`, and no other.
    pub(super) fn of(&mut self, context: Context, tag: Tag) -> Tag {
        if context == self.world && (0..FIRST.cast_signed()).contains(&tag.0) {
            return tag;
        }
        let next = self.given.len() as u32;
        let number = *self.given.entry((context, tag)).or_insert(next);
        Tag((FIRST | (number % FIRST)).cast_signed())
    }
}

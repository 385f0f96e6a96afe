//! Contexts: the tags that distinguish the messages of one communicator's collectives from those of another.
//!
//! All messages use one communicator of the tracer with the members of the world, created at `MPI_Init`: the tracer
//! creates no communicator while the program runs. In a library the messages of a communicator have a context that all
//! members agree on and that no other communicator of any member has (MPI 4.0 §7.1.2, "communication universe"); here
//! that is a range of tags.
//!
//! When the program creates a communicator, its members agree on a range ([`super::agreement`]): each states which of a
//! few candidates it does not use for another communicator, and they take the first that none of them uses. During the
//! agreement, candidates count as used, so that communicators that other threads create concurrently get others.
//!
//! Within a context, the exchanges of all members have the same order, and therefore the same numbers. The tag of an
//! exchange is its number modulo the length of the range: an exchange starts only when the local one with the same tag
//! is over. The messages of both between two members are then sent in order, and received in order.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use slab::Slab;

/// Names a context while there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextKey(usize);

/// A number that names a communicator to its members and that no other communicator has had, in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(pub(super) u64);

/// The contexts of the communicators that this rank has a part in.
pub(super) struct Contexts {
    all: Slab<Context>,
    /// The ranges of tags that are taken, by their numbers.
    taken: FxHashSet<u32>,
    /// The number of ranges.
    ranges: u32,
    /// The number of tags in a range.
    tags: u32,
}

/// The context of a communicator.
struct Context {
    identity: Identity,
    /// The number of the range of tags; `None` until the members have agreed.
    range: Option<u32>,
    /// The number of exchanges that have begun.
    exchanges: u64,
    /// The numbers of the exchanges that are not over.
    open: VecDeque<u64>,
    /// The number of communicators that have derived their identities from this one's.
    derived: u64,
    /// Whether the communicator is freed.
    is_freed: bool,
}

/// An exchange in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExchangeKey {
    context: ContextKey,
    number: u64,
}

impl Identity {
    /// The identity of the world.
    const WORLD: Self = Self(0);

    /// The identity of the communicator that comes `nth` among those that have theirs from this one's.
    fn derive(self, nth: u64) -> Self {
        Self(mix(self.0 ^ mix(nth + 1)))
    }
}

/// The number of candidates in an attempt to agree, as many as the bits of the reduction.
const CANDIDATES: u64 = 64;

impl Contexts {
    /// The range of tags that is the tracer's own.
    const OWN: u32 = 0;
    /// The range of the world.
    const WORLD: u32 = 1;

    /// No contexts but the world's, whose key is returned too, with tags up to `tag_ub`.
    pub(super) fn new(tag_ub: u32) -> (Self, ContextKey) {
        // MPI guarantees 2^15 tags; libraries have 2^20 and more, and exchanges need not wait for each other.
        let tags = if tag_ub >= 1 << 19 { 256 } else { 16 };
        let taken = FxHashSet::from_iter([Self::OWN, Self::WORLD]);
        let mut contexts = Self { all: Slab::new(), taken, ranges: (tag_ub / tags).max(2), tags };
        let world = contexts.insert(Identity::WORLD);
        contexts.settle(world, Self::WORLD);
        (contexts, world)
    }

    /// A new context, whose range is not agreed on yet.
    pub(super) fn insert(&mut self, identity: Identity) -> ContextKey {
        let (exchanges, open, derived) = (0, VecDeque::new(), 0);
        ContextKey(self.all.insert(Context { identity, range: None, exchanges, open, derived, is_freed: false }))
    }

    /// A new context whose identity is derived from another one's: all members request it in one order.
    pub(super) fn derive(&mut self, ContextKey(from): ContextKey) -> Option<(ContextKey, Identity)> {
        let context = self.all.get_mut(from)?;
        context.derived += 1;
        let identity = context.identity.derive(context.derived);
        Some((self.insert(identity), identity))
    }

    /// The number of the range that is candidate `nth` of an attempt.
    fn candidate(&self, Identity(identity): Identity, attempt: u64, nth: u64) -> u32 {
        let own = u64::from(Self::WORLD) + 1;
        let others = u64::from(self.ranges).saturating_sub(own).max(1);
        (own + mix(identity ^ mix(attempt * CANDIDATES + nth)) % others) as u32
    }

    /// Takes all candidates of an attempt that are not taken: a bit for each.
    pub(super) fn take(&mut self, identity: Identity, attempt: u64) -> u64 {
        let mut mine = 0;
        for nth in 0..CANDIDATES {
            let range = self.candidate(identity, attempt, nth);
            mine |= u64::from(range < self.ranges && self.taken.insert(range)) << nth;
        }
        mine
    }

    /// Gives back the candidates `mine` of an attempt but for the first that is in `common`, which all members have taken,
    /// and returns that one.
    pub(super) fn keep_first(&mut self, identity: Identity, attempt: u64, mine: u64, common: u64) -> Option<u32> {
        let first = (common != 0).then(|| u64::from(common.trailing_zeros()));
        for nth in (0..CANDIDATES).filter(|nth| mine >> nth & 1 != 0 && Some(*nth) != first) {
            let range = self.candidate(identity, attempt, nth);
            self.taken.remove(&range);
        }
        first.map(|nth| self.candidate(identity, attempt, nth))
    }

    /// The members have agreed on the range of a context.
    pub(super) fn settle(&mut self, key: ContextKey, range: u32) {
        if let Some(context) = self.all.get_mut(key.0) {
            context.range = Some(range);
        }
        self.remove_if_over(key);
    }

    /// Begins the next exchange.
    pub(super) fn begin(&mut self, key: ContextKey) -> Option<ExchangeKey> {
        let context = self.all.get_mut(key.0)?;
        let number = context.exchanges;
        context.exchanges += 1;
        context.open.push_back(number);
        Some(ExchangeKey { context: key, number })
    }

    /// The tag of an exchange's messages, once it may start.
    pub(super) fn tag(&self, exchange: ExchangeKey) -> Option<i32> {
        let context = self.all.get(exchange.context.0)?;
        let is_free = context.open.front().is_none_or(|oldest| exchange.number - oldest < u64::from(self.tags));
        let range = context.range.filter(|_| is_free)?;
        Some((range * self.tags + (exchange.number % u64::from(self.tags)) as u32) as i32)
    }

    /// A tag of the tracer's own for a number, which others may have too. The first one is the clock's.
    pub(super) fn own_tag(&self, number: i32) -> i32 {
        (Self::OWN * self.tags) as i32 + 1 + number.rem_euclid(self.tags as i32 - 1)
    }

    /// An exchange is over for this rank.
    pub(super) fn end(&mut self, exchange: ExchangeKey) {
        if let Some(context) = self.all.get_mut(exchange.context.0)
            && let Some(at) = context.open.iter().position(|&number| number == exchange.number)
        {
            context.open.remove(at);
        }
        self.remove_if_over(exchange.context);
    }

    /// The communicator is freed; its exchanges continue.
    pub(super) fn free(&mut self, key: ContextKey) {
        if let Some(context) = self.all.get_mut(key.0) {
            context.is_freed = true;
        }
        self.remove_if_over(key);
    }

    fn remove_if_over(&mut self, ContextKey(key): ContextKey) {
        if let Some(Context { range: Some(range), open, is_freed: true, .. }) = self.all.get(key)
            && open.is_empty()
        {
            self.taken.remove(range);
            self.all.remove(key);
        }
    }
}

/// A bijection that scatters numbers (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
pub(super) fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fewest tags that MPI guarantees.
    const FEW: u32 = (1 << 15) - 1;

    /// Two members agree on a context: its tags.
    fn agree(members: [&mut Contexts; 2], identity: Identity) -> Option<(i32, [ContextKey; 2])> {
        let [one, other] = members;
        let mine = [one.take(identity, 0), other.take(identity, 0)];
        let common = mine[0] & mine[1];
        let keys = [(one, mine[0]), (other, mine[1])].map(|(member, mine)| {
            let key = member.insert(identity);
            let range = member.keep_first(identity, 0, mine, common)?;
            member.settle(key, range);
            let exchange = member.begin(key)?;
            let tag = member.tag(exchange);
            member.end(exchange);
            Some((tag?, key))
        });
        let [(tag, one), (other_tag, other)] = [keys[0]?, keys[1]?];
        assert_eq!(tag, other_tag);
        Some((tag, [one, other]))
    }

    #[test]
    fn no_member_has_the_tags_twice() {
        let mut ranks = [(); 3].map(|()| Contexts::new(FEW).0);
        let mut seen = [(); 3].map(|()| FxHashSet::default());
        for identity in 1..600 {
            let (one, other) = if identity % 2 == 0 { (0, 1) } else { (1, 2) };
            let [first, second] = ranks.get_disjoint_mut([one, other]).unwrap();
            let (tag, _) = agree([first, second], Identity(identity)).unwrap();
            assert!((0..=FEW as i32).contains(&tag));
            assert!(seen[one].insert(tag) && seen[other].insert(tag), "{identity}: {tag}");
        }
    }

    #[test]
    fn tags_are_free_again_once_the_communicator_and_its_exchanges_are_gone() {
        let [mut a, mut b] = [(); 2].map(|()| Contexts::new(FEW).0);
        let before = a.taken.clone();
        let (_, [key, _]) = agree([&mut a, &mut b], Identity(7)).unwrap();
        let exchange = a.begin(key).unwrap();
        a.free(key);
        assert_eq!(a.taken.len(), before.len() + 1);
        a.end(exchange);
        assert_eq!(a.taken, before);
    }

    #[test]
    fn an_exchange_waits_for_the_one_with_its_tag() {
        let (mut contexts, world) = Contexts::new(FEW);
        let exchanges: Vec<_> = (0..17).map(|_| contexts.begin(world).unwrap()).collect();
        let tags: FxHashSet<_> = exchanges[..16].iter().map(|&it| contexts.tag(it).unwrap()).collect();
        assert_eq!((tags.len(), contexts.tag(exchanges[16])), (16, None));
        let first = contexts.tag(exchanges[0]);
        contexts.end(exchanges[1]);
        assert_eq!(contexts.tag(exchanges[16]), None);
        contexts.end(exchanges[0]);
        assert_eq!(contexts.tag(exchanges[16]), first);
    }

    #[test]
    fn a_context_that_is_not_agreed_on_has_no_tags_yet() {
        let (mut contexts, world) = Contexts::new(FEW);
        let (key, identity) = contexts.derive(world).unwrap();
        let (_, second) = contexts.derive(world).unwrap();
        assert_ne!(identity, second);
        let exchange = contexts.begin(key).unwrap();
        assert_eq!(contexts.tag(exchange), None);
        contexts.settle(key, 5);
        assert_eq!(contexts.tag(exchange), Some(5 * 16));
    }
}

//! Matching of receives and messages (MPI 4.0 §3.5).
//!
//! Each receiver has two queues in its communicator: *posted* receives that found no message, and *unexpected* messages
//! that found no receive. A receive takes the oldest message it selects, and a message takes the oldest receive that
//! selects it; MPI requires no other order. A receive selects by source and tag; either may be a wildcard.
//!
//! Both queues are indexed by what is selected, so neither is ever scanned. Without wildcards, a receive and its
//! message have the same key, and a key has either waiting messages or waiting receives, never both. A posted wildcard
//! receive waits under a key of its own, and a message looks under the four keys that could select it. Once a receiver
//! posts its first wildcard, the messages that a wildcard could select are indexed by age; programs without wildcards
//! pay nothing for this.

use std::collections::BTreeMap;

use titr_common::event::Rank;

use super::queues::Queues;
use super::{Envelope, Key, Selector};
use crate::observe::OperationId;
use crate::ranks::ids::MessageId;

/// A message or receive that waits in a queue; of two entries, the one with the smaller `age` came first.
struct Entry {
    age: u64,
    item: Item,
}

enum Item {
    Message(MessageId),
    Receive(OperationId),
}

impl Entry {
    fn is_message(&self) -> bool {
        matches!(self.item, Item::Message(..))
    }
}

/// The queues of all receivers. Each has its own: ranks mostly send to a few others that are near, whose queues are in
/// the cache.
pub(in crate::ranks) struct Matching {
    receivers: Vec<ReceiverQueues>,
    age: u64,
}

#[derive(Default)]
struct ReceiverQueues {
    queues: Queues<Key, Entry>,
    posted_wildcards: usize,
    /// The unexpected messages under each key of a wildcard that could select them, by age; kept once a wildcard was seen.
    unexpected: Option<BTreeMap<(Key, u64), Envelope>>,
}

impl Matching {
    pub(in crate::ranks) fn new(ranks: usize) -> Self {
        Self { receivers: (0..ranks).map(|_| ReceiverQueues::default()).collect(), age: 0 }
    }

    /// A message for `receiver`: the posted receive that takes it, or `None`, and it waits.
    #[inline]
    pub(in crate::ranks) fn arrive(
        &mut self,
        receiver: Rank,
        envelope: Envelope,
        message: MessageId,
    ) -> Option<OperationId> {
        self.age += 1;
        self.receivers[receiver.0 as usize].arrive(envelope, Entry { age: self.age, item: Item::Message(message) })
    }

    /// A receive of `receiver`: the unexpected message it takes, or `None`, and it waits.
    #[inline(always)]
    pub(in crate::ranks) fn post(
        &mut self,
        receiver: Rank,
        selector: Selector,
        operation: OperationId,
    ) -> Option<MessageId> {
        self.age += 1;
        self.receivers[receiver.0 as usize].post(selector, Entry { age: self.age, item: Item::Receive(operation) })
    }

    /// The number of keys under which messages for `receiver` or its receives wait.
    #[inline]
    pub(in crate::ranks) fn queued(&self, receiver: Rank) -> usize {
        self.receivers.get(receiver.0 as usize).map_or(0, |receiver| receiver.queues.len())
    }

    /// Whether a receive for exactly such messages waits, or an earlier one of them.
    #[inline]
    pub(in crate::ranks) fn is_awaited(&self, receiver: Rank, envelope: Envelope) -> bool {
        let receiver = self.receivers.get(receiver.0 as usize);
        receiver.is_some_and(|receiver| receiver.queues.front(&Selector::from(envelope).into()).is_some())
    }

    /// The message that a receive would take, left where it is.
    pub(in crate::ranks) fn probe(&mut self, receiver: Rank, selector: Selector) -> Option<MessageId> {
        self.receivers[receiver.0 as usize].probe(selector)
    }

    /// Takes back a posted receive; false if it is posted no more.
    pub(in crate::ranks) fn withdraw(&mut self, receiver: Rank, selector: Selector, operation: OperationId) -> bool {
        self.receivers[receiver.0 as usize].withdraw(selector, operation)
    }

    /// Takes back a message; false if it waits no more.
    pub(in crate::ranks) fn recall(&mut self, receiver: Rank, envelope: Envelope, message: MessageId) -> bool {
        self.receivers[receiver.0 as usize].recall(envelope, message)
    }
}

impl ReceiverQueues {
    #[inline]
    fn arrive(&mut self, envelope: Envelope, entry: Entry) -> Option<OperationId> {
        let exact = Key::from(Selector::from(envelope));
        if self.posted_wildcards > 0
            && let Some(operation) = self.take_wildcard(envelope, exact)
        {
            return Some(operation);
        }
        let age = entry.age;
        match self.queues.meet(exact, entry, |first| !first.is_message()) {
            Some(Entry { item: Item::Receive(operation), .. }) => Some(operation),
            _ => {
                if let Some(unexpected) = &mut self.unexpected {
                    unexpected.extend(Key::wild(envelope).map(|key| ((key, age), envelope)));
                }
                None
            }
        }
    }

    /// Takes the wildcard receive that a message belongs to, unless a receive under its `exact` key is older.
    #[cold]
    fn take_wildcard(&mut self, envelope: Envelope, exact: Key) -> Option<OperationId> {
        let older = |key: &Key| match self.queues.front(key) {
            Some(Entry { age, item: Item::Receive(_) }) => Some((*age, *key)),
            _ => None,
        };
        let [source, tag, both] = Key::wild(envelope);
        let (_, key) = [exact, source, tag, both].iter().filter_map(older).min().filter(|&(_, key)| key != exact)?;
        self.posted_wildcards -= 1;
        match self.queues.pop(&key)?.item {
            Item::Receive(operation) => Some(operation),
            Item::Message(..) => None,
        }
    }

    #[inline(always)]
    fn post(&mut self, selector: Selector, entry: Entry) -> Option<MessageId> {
        let key = Key::from(selector);
        if selector.is_wild() {
            return self.post_wildcard(key, entry);
        }
        let met = self.queues.meet(key, entry, Entry::is_message)?;
        self.taken(key, met)
    }

    #[cold]
    fn post_wildcard(&mut self, key: Key, entry: Entry) -> Option<MessageId> {
        let Some(exact) = self.oldest_unexpected(key) else {
            self.posted_wildcards += 1;
            self.queues.push(key, entry);
            return None;
        };
        let met = self.queues.pop(&exact)?;
        self.taken(exact, met)
    }

    /// The message of an entry that was taken from the queue of `exact`.
    #[inline]
    fn taken(&mut self, exact: Key, entry: Entry) -> Option<MessageId> {
        let Item::Message(message) = entry.item else { return None };
        self.forget(exact.envelope(), entry.age);
        Some(message)
    }

    /// A message is unexpected no more.
    #[inline]
    fn forget(&mut self, envelope: Envelope, age: u64) {
        if let Some(unexpected) = &mut self.unexpected {
            for key in Key::wild(envelope) {
                unexpected.remove(&(key, age));
            }
        }
    }

    fn probe(&mut self, selector: Selector) -> Option<MessageId> {
        let key = Key::from(selector);
        let exact = if selector.is_wild() { self.oldest_unexpected(key)? } else { key };
        match self.queues.front(&exact)?.item {
            Item::Message(message) => Some(message),
            Item::Receive(_) => None,
        }
    }

    fn withdraw(&mut self, selector: Selector, operation: OperationId) -> bool {
        let is_it = |entry: &Entry| matches!(entry.item, Item::Receive(other) if other == operation);
        let found = self.queues.take(&Key::from(selector), is_it).is_some();
        if found && selector.is_wild() {
            self.posted_wildcards -= 1;
        }
        found
    }

    fn recall(&mut self, envelope: Envelope, message: MessageId) -> bool {
        let is_it = |entry: &Entry| matches!(entry.item, Item::Message(other) if other == message);
        match self.queues.take(&Key::from(Selector::from(envelope)), is_it) {
            Some(entry) => {
                self.forget(envelope, entry.age);
                true
            }
            None => false,
        }
    }

    /// The exact key of the oldest unexpected message under a wildcard's `key`. It is the first of its queue: an older
    /// one there would be under `key` too.
    fn oldest_unexpected(&mut self, key: Key) -> Option<Key> {
        let unexpected = self.unexpected.get_or_insert_with(|| {
            let messages = self.queues.iter().filter_map(|(of, entry)| match entry.item {
                Item::Message(_) => Some((of.envelope(), entry.age)),
                Item::Receive(_) => None,
            });
            messages.flat_map(|(envelope, age)| Key::wild(envelope).map(|key| ((key, age), envelope))).collect()
        });
        let (_, &envelope) = unexpected.range((key, 0)..=(key, u64::MAX)).next()?;
        Some(Selector::from(envelope).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use titr_common::event::Tag;
    use titr_common::program::Context;

    const ME: Rank = Rank(0);
    const WORLD: Context = Context(0);

    fn from(source: u32, tag: i32) -> Envelope {
        Envelope { context: WORLD, source: Rank(source), tag: Tag(tag) }
    }

    fn any(source: Option<u32>, tag: Option<i32>) -> Selector {
        Selector { context: WORLD, source: source.map(Rank), tag: tag.map(Tag) }
    }

    #[test]
    fn messages_of_one_source_and_tag_do_not_overtake() {
        let mut matching = Matching::new(1);
        assert_eq!(matching.arrive(ME, from(1, 7), MessageId(10)), None);
        assert_eq!(matching.arrive(ME, from(1, 7), MessageId(11)), None);
        assert_eq!(matching.post(ME, any(Some(1), Some(7)), OperationId(0)), Some(MessageId(10)));
        assert_eq!(matching.post(ME, any(Some(1), Some(7)), OperationId(1)), Some(MessageId(11)));
        assert_eq!(matching.post(ME, any(Some(1), Some(7)), OperationId(2)), None);
        assert_eq!(matching.post(ME, any(Some(1), Some(7)), OperationId(3)), None);
        assert_eq!(matching.arrive(ME, from(1, 7), MessageId(12)), Some(OperationId(2)));
    }

    #[test]
    fn tags_sources_and_contexts_are_kept_apart() {
        let mut matching = Matching::new(2);
        matching.arrive(ME, from(1, 7), MessageId(10));
        assert_eq!(matching.post(ME, any(Some(1), Some(8)), OperationId(0)), None);
        assert_eq!(matching.post(ME, any(Some(2), Some(7)), OperationId(1)), None);
        let elsewhere = Selector { context: Context(1), ..any(Some(1), Some(7)) };
        assert_eq!(matching.post(ME, elsewhere, OperationId(2)), None);
        assert_eq!(matching.post(Rank(1), any(Some(1), Some(7)), OperationId(3)), None);
    }

    #[test]
    fn the_older_of_a_wildcard_and_an_exact_receive_takes_the_message() {
        let mut matching = Matching::new(1);
        matching.post(ME, any(Some(1), Some(7)), OperationId(0));
        matching.post(ME, any(None, Some(7)), OperationId(1));
        matching.post(ME, any(Some(1), Some(7)), OperationId(2));
        let taken: Vec<_> = (0..3).map(|id| matching.arrive(ME, from(1, 7), MessageId(id))).collect();
        assert_eq!(taken, [0, 1, 2].map(|id| Some(OperationId(id))));
    }

    #[test]
    fn a_probe_leaves_the_message() {
        let mut matching = Matching::new(1);
        assert_eq!(matching.probe(ME, any(None, None)), None);
        matching.arrive(ME, from(3, 5), MessageId(9));
        assert_eq!(matching.probe(ME, any(None, Some(5))), Some(MessageId(9)));
        assert_eq!(matching.probe(ME, any(Some(3), Some(5))), Some(MessageId(9)));
        assert_eq!(matching.post(ME, any(None, None), OperationId(0)), Some(MessageId(9)));
        assert_eq!(matching.probe(ME, any(Some(3), Some(5))), None);
    }

    /// With 10⁵ messages pending, 10⁵ receives in the worst order: a scan would take 10¹⁰ steps.
    #[test]
    fn pending_messages_are_not_scanned() {
        const COUNT: u32 = 100_000;
        let mut matching = Matching::new(1);
        for id in 0..COUNT {
            matching.arrive(ME, from(id % 7, id as i32), MessageId(id));
        }
        for id in (0..COUNT).rev() {
            let selector = any((id % 2 == 0).then_some(id % 7), Some(id as i32));
            assert_eq!(matching.post(ME, selector, OperationId(0)), Some(MessageId(id)));
        }
    }

    #[derive(Clone, Debug)]
    enum Call {
        Arrive(u32, i32),
        Post(Option<u32>, Option<i32>),
        Withdraw(usize),
        Recall(usize),
    }

    fn call() -> impl Strategy<Value = Call> {
        let (source, tag) = (0..3u32, 0..3i32);
        prop_oneof![
            4 => (source.clone(), tag.clone()).prop_map(|(source, tag)| Call::Arrive(source, tag)),
            4 => (prop::option::of(source), prop::option::of(tag)).prop_map(|(source, tag)| Call::Post(source, tag)),
            1 => (0..8usize).prop_map(Call::Withdraw),
            1 => (0..8usize).prop_map(Call::Recall),
        ]
    }

    fn selects(selector: &Selector, envelope: &Envelope) -> bool {
        selector.source.is_none_or(|source| source == envelope.source)
            && selector.tag.is_none_or(|tag| tag == envelope.tag)
    }

    proptest! {
        /// The rule, written as two lists that are scanned.
        #[test]
        fn it_does_what_the_standard_says(calls in prop::collection::vec(call(), 0..120)) {
            let mut matching = Matching::new(1);
            let mut unexpected: Vec<(MessageId, Envelope)> = Vec::new();
            let mut posted: Vec<(OperationId, Selector)> = Vec::new();
            for (id, call) in (0..).zip(calls) {
                match call {
                    Call::Arrive(source, tag) => {
                        let envelope = from(source, tag);
                        let found = posted.iter().position(|(_, selector)| selects(selector, &envelope));
                        let expected = found.map(|at| posted.remove(at).0);
                        if found.is_none() {
                            unexpected.push((MessageId(id), envelope));
                        }
                        prop_assert_eq!(matching.arrive(ME, envelope, MessageId(id)), expected);
                    }
                    Call::Post(source, tag) => {
                        let selector = any(source, tag);
                        let found = unexpected.iter().position(|(_, envelope)| selects(&selector, envelope));
                        let probed = found.map(|at| unexpected[at].0);
                        prop_assert_eq!(matching.probe(ME, selector), probed);
                        let expected = found.map(|at| unexpected.remove(at).0);
                        if found.is_none() {
                            posted.push((OperationId(id), selector));
                        }
                        prop_assert_eq!(matching.post(ME, selector, OperationId(id)), expected);
                    }
                    Call::Withdraw(at) if at < posted.len() => {
                        let (operation, selector) = posted.remove(at);
                        prop_assert!(matching.withdraw(ME, selector, operation));
                        prop_assert!(!matching.withdraw(ME, selector, operation));
                    }
                    Call::Recall(at) if at < unexpected.len() => {
                        let (message, envelope) = unexpected.remove(at);
                        prop_assert!(matching.recall(ME, envelope, message));
                        prop_assert!(!matching.recall(ME, envelope, message));
                    }
                    Call::Withdraw(_) | Call::Recall(_) => {}
                }
            }
        }
    }
}

//! Wake-up of packets with a choice of ports: the heads that wait in each router, and the ports that each of them waits for.
//!
//! A head that finds no port need not look again before one of the ports that it looked at can take a packet. It **registers**
//! with each port that it looks at, and a port that becomes free, or behind which room appears, makes the registered heads
//! **due**. A head that was granted one port stays registered with the others, which may make the next head of its queue due
//! once without need.

use std::cell::Cell;

use super::super::layout::{Layout, RouterState};
use crate::packet::{OutputId, QueueIndex};

/// The heads that wait and have a choice of ports. Sets of queues are bits, 64 a word.
#[derive(Debug)]
pub(super) struct Wakeup {
    /// For each router, the set of its queues with such a head.
    waiting: Vec<u64>,
    /// For each router, the set of its queues whose heads look for a port when the router is visited next.
    due: Vec<u64>,
    /// For each port, the set of queues of its router whose heads wait for the port.
    registered: Vec<u64>,
    /// Words of a port's set.
    words: usize,
    /// The number of heads that wait.
    heads: u32,
}

impl Wakeup {
    /// No heads.
    pub(super) fn new(layout: &Layout) -> Self {
        let words = layout.routers.iter().map(|router| router.queues.div_ceil(64)).max().unwrap_or_default() as usize;
        let all = vec![0; layout.words as usize];
        Self { waiting: all.clone(), due: all, registered: vec![0; layout.outputs.len() * words], words, heads: 0 }
    }

    /// A head begins to wait, and is due.
    #[inline]
    pub(super) fn add(&mut self, router: RouterState, queue: QueueIndex) {
        let (word, bit) = bit_of(router, queue);
        self.waiting[word] |= bit;
        self.due[word] |= bit;
        self.heads += 1;
    }

    /// A head waits no more.
    #[inline]
    pub(super) fn remove(&mut self, router: RouterState, queue: QueueIndex) {
        let (word, bit) = bit_of(router, queue);
        self.waiting[word] &= !bit;
        self.heads -= 1;
    }

    /// Makes a head due.
    #[inline]
    pub(super) fn make_due(&mut self, router: RouterState, queue: QueueIndex) {
        let (word, bit) = bit_of(router, queue);
        self.due[word] |= bit;
    }

    /// Makes the heads due that are registered with a port of a router. Returns whether there are any.
    #[inline]
    pub(super) fn wake(&mut self, router: RouterState, output: OutputId) -> bool {
        let registered = &mut self.registered[output.index() * self.words..][..router.queues.div_ceil(64) as usize];
        let due = &mut self.due[router.first_word as usize..];
        let mut woken = 0;
        for (registered, due) in registered.iter_mut().zip(due) {
            *due |= *registered;
            woken |= std::mem::take(registered);
        }
        woken != 0
    }

    /// The same for all heads but one, which stays registered.
    pub(super) fn wake_others(&mut self, router: RouterState, output: OutputId, head: QueueIndex) -> bool {
        let (word, bit) = (output.index() * self.words + head.index() / 64, 1 << (head.0 % 64));
        let own = self.registered[word] & bit;
        self.registered[word] ^= own;
        let woken = self.wake(router, output);
        self.registered[word] |= own;
        woken
    }

    /// Whether no head waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.heads == 0
    }

    /// The due heads in the `word`th word of the queues of all routers.
    #[inline]
    pub(super) fn due(&self, word: u32) -> u64 {
        self.due[word as usize] & self.waiting[word as usize]
    }

    /// The due heads in the `word`th word of the queues of all routers, which are due no more.
    #[inline]
    pub(super) fn take_due(&mut self, word: u32) -> u64 {
        std::mem::take(&mut self.due[word as usize]) & self.waiting[word as usize]
    }

    /// Registers the head of a queue with ports of its router.
    #[inline]
    pub(super) fn registrar(&mut self, queue: QueueIndex) -> impl Fn(OutputId) {
        let (place, bit, words) = (queue.index() / 64, 1 << (queue.0 % 64), self.words);
        let registered = Cell::from_mut(self.registered.as_mut_slice()).as_slice_of_cells();
        move |output| {
            let word = &registered[output.index() * words + place];
            word.set(word.get() | bit);
        }
    }
}

/// The word of a queue of a router among the words of all routers, and its bit.
#[inline]
fn bit_of(router: RouterState, queue: QueueIndex) -> (usize, u64) {
    ((router.first_word + queue.0 / 64) as usize, 1 << (queue.0 % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A router with 70 queues, and two ports.
    fn router() -> (RouterState, Wakeup) {
        let router = RouterState { queues: 70, outputs: 2, ..RouterState::default() };
        let layout =
            Layout { routers: vec![router], queues: Vec::new(), outputs: Vec::new(), hosts: Vec::new(), words: 2 };
        (router, Wakeup { registered: vec![0; 4], ..Wakeup::new(&layout) })
    }

    #[test]
    fn a_head_is_due_when_it_comes_and_when_a_port_that_it_looked_at_can_take_a_packet() {
        let (router, mut wakeup) = router();
        wakeup.add(router, QueueIndex(69));
        assert_eq!((wakeup.take_due(0), wakeup.take_due(1)), (0, 1 << 5));
        assert_eq!(wakeup.take_due(1), 0, "it has looked");
        wakeup.registrar(QueueIndex(69))(OutputId(1));
        assert!(!wakeup.wake(router, OutputId(0)));
        assert_eq!(wakeup.take_due(1), 0);
        assert!(wakeup.wake(router, OutputId(1)));
        assert_eq!(wakeup.take_due(1), 1 << 5);
        assert!(!wakeup.wake(router, OutputId(1)), "it has to register again");
    }

    #[test]
    fn others_become_due_and_one_stays_registered() {
        let (router, mut wakeup) = router();
        for queue in [3, 69].map(QueueIndex) {
            wakeup.add(router, queue);
            wakeup.registrar(queue)(OutputId(1));
        }
        assert_eq!((wakeup.take_due(0), wakeup.take_due(1)), (1 << 3, 1 << 5));
        assert!(wakeup.wake_others(router, OutputId(1), QueueIndex(69)));
        assert_eq!((wakeup.take_due(0), wakeup.take_due(1)), (1 << 3, 0));
        assert!(!wakeup.wake_others(router, OutputId(1), QueueIndex(69)));
        assert!(wakeup.wake(router, OutputId(1)));
        assert_eq!(wakeup.due(1), 1 << 5);
    }

    #[test]
    fn a_head_that_left_is_not_due() {
        let (router, mut wakeup) = router();
        wakeup.add(router, QueueIndex(3));
        wakeup.registrar(QueueIndex(3))(OutputId(0));
        wakeup.remove(router, QueueIndex(3));
        assert!(wakeup.is_empty());
        wakeup.wake(router, OutputId(0));
        assert_eq!(wakeup.take_due(0), 0);
    }
}

//! Half-duplex rendezvous: a receiver's answer to a request waits behind the data that the receiver sends to the same rank.
//!
//! Two ranks on different hosts communicate over one connection, which keeps the order of messages. If a library sends
//! the answers of rendezvous and the data itself over this connection, an answer arrives after data that was sent
//! before it. The data of an exchange therefore travels in one direction after the other: the later rank answers the
//! other's request before it sends its own. This holds for Open MPI over TCP (`ob1`'s `put` protocol, whose answer is
//! `MCA_PML_OB1_HDR_TYPE_PUT`). Eager messages, ranks of one host, and other pairs of ranks are not affected.

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::time::Time;

use crate::ranks::ids::MessageId;

/// The connections with rendezvous data in transit.
#[derive(Debug, Default)]
pub(in crate::ranks) struct HalfDuplex {
    /// By sender and receiver.
    directions: FxHashMap<(Rank, Rank), ConnectionDirection>,
    /// Messages whose answers have come, and that are about to leave.
    answered: Vec<MessageId>,
}

/// One of the two directions of a connection.
#[derive(Debug, Default)]
struct ConnectionDirection {
    /// Data that has left, and when its answer was sent.
    data: Vec<(MessageId, AnswerOrder)>,
    /// Answers that wait behind data, in the order in which they were sent.
    answers: Vec<Answer>,
}

/// An answer that waits behind data.
#[derive(Debug)]
struct Answer {
    /// The message in the opposite direction that may depart afterwards.
    to: MessageId,
    /// The data before it.
    behind: Vec<MessageId>,
}

/// The moment at which a receiver answers. Simulated requests and answers take no time, but an answer to a request that
/// is sent at this moment comes after an answer to a request that was already present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ranks) struct AnswerOrder {
    pub(in crate::ranks) at: Time,
    /// Whether the request met a receive that was posted before.
    pub(in crate::ranks) was_posted: bool,
}

impl AnswerOrder {
    /// Whether an answer at this moment comes after one at `earlier`.
    ///
    /// If both ranks had posted their receives before they sent their requests, the order depends on which rank was
    /// ahead, by any amount: its request is answered first, so the other rank ends first and is ahead in the next
    /// exchange. Simulated ranks that act at the same time are ordered by which runs first. If both sent their requests
    /// before they posted their receives, each request is on its way before the other is answered.
    fn is_after(self, earlier: Self) -> bool {
        earlier < self || (earlier == self && self.was_posted)
    }
}

impl HalfDuplex {
    /// Whether the data of a message that is answered at `order` leaves now. If not, the answer is deferred.
    pub(in crate::ranks) fn admit(&mut self, id: MessageId, (from, to): (Rank, Rank), order: AnswerOrder) -> bool {
        if let Some(place) = self.answered.iter().position(|&answered| answered == id) {
            self.answered.swap_remove(place);
            self.directions.entry((from, to)).or_default().data.push((id, order));
            return true;
        }
        let back = self.directions.entry((to, from)).or_default();
        let before = back.data.iter().filter(|(_, earlier)| order.is_after(*earlier));
        let behind: Vec<MessageId> = before.map(|&(message, _)| message).collect();
        if behind.is_empty() {
            self.directions.entry((from, to)).or_default().data.push((id, order));
            return true;
        }
        back.answers.push(Answer { to: id, behind });
        false
    }

    /// The data of a message has arrived. Returns the messages that leave now, as the answers to them have come.
    pub(in crate::ranks) fn deliver(&mut self, id: MessageId, from: Rank, to: Rank) -> impl Iterator<Item = MessageId> {
        let mut leaving = Vec::new();
        if let Some(direction) = self.directions.get_mut(&(from, to)) {
            direction.data.retain(|(message, _)| *message != id);
            direction.answers.retain_mut(|answer| {
                answer.behind.retain(|message| *message != id);
                if answer.behind.is_empty() {
                    leaving.push(answer.to);
                }
                !answer.behind.is_empty()
            });
            if direction.data.is_empty() {
                self.directions.remove(&(from, to));
            }
        }
        self.answered.extend(&leaving);
        leaving.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THERE: (Rank, Rank) = (Rank(0), Rank(1));
    const BACK: (Rank, Rank) = (Rank(1), Rank(0));

    fn at(picoseconds: u64) -> AnswerOrder {
        AnswerOrder { at: Time(picoseconds), was_posted: false }
    }

    fn delivered(half_duplex: &mut HalfDuplex, id: u32, (from, to): (Rank, Rank)) -> Vec<MessageId> {
        half_duplex.deliver(MessageId(id), from, to).collect()
    }

    #[test]
    fn an_answer_waits_for_the_data_before_it_alone() {
        let mut half_duplex = HalfDuplex::default();
        assert!(half_duplex.admit(MessageId(0), THERE, at(0)));
        assert!(half_duplex.admit(MessageId(1), THERE, at(1)));
        assert!(!half_duplex.admit(MessageId(2), BACK, at(2)));
        assert!(half_duplex.admit(MessageId(3), THERE, at(3)), "no data is under way that its answer could wait for");
        assert!(half_duplex.admit(MessageId(4), (Rank(2), Rank(0)), at(3)), "another connection");
        assert_eq!(delivered(&mut half_duplex, 0, THERE), []);
        assert_eq!(delivered(&mut half_duplex, 1, THERE), [MessageId(2)]);
        assert!(half_duplex.admit(MessageId(2), BACK, at(4)), "although message 3 is under way");
        assert!(!half_duplex.admit(MessageId(5), THERE, at(5)));
        assert_eq!(delivered(&mut half_duplex, 2, BACK), [MessageId(5)]);
        assert_eq!(delivered(&mut half_duplex, 6, BACK), [], "what was never admitted, as its ranks share a host");
    }

    #[test]
    fn requests_that_cross_are_both_answered_at_once() {
        let mut half_duplex = HalfDuplex::default();
        assert!(half_duplex.admit(MessageId(0), THERE, at(0)));
        assert!(half_duplex.admit(MessageId(1), BACK, at(0)));
        let posted = AnswerOrder { was_posted: true, ..at(0) };
        assert!(!half_duplex.admit(MessageId(2), BACK, posted), "its request is only on its way");
    }

    #[test]
    fn of_two_answers_for_receives_that_were_there_one_is_first() {
        let mut half_duplex = HalfDuplex::default();
        let posted = AnswerOrder { was_posted: true, ..at(0) };
        assert!(half_duplex.admit(MessageId(0), THERE, posted));
        assert!(!half_duplex.admit(MessageId(1), BACK, posted));
        assert_eq!(delivered(&mut half_duplex, 0, THERE), [MessageId(1)]);
    }
}

//! The steps that a member of a collective took when an extended trace of it was recorded.
//!
//! The trace has the messages in the order in which they were started, each with its start and completion by one clock.
//! A message that was completed before the next one started was waited for in between, and only then: this yields a
//! straight-line program. The computation of a member is charged at the end, as in any schedule.

use titr_common::collectives::Member;
use titr_common::event::{Message, MessageEnd, Rank};
use titr_common::units::Nanoseconds;

use super::steps::MessageStep;

/// The steps of these messages; `Err` with the rank of the world that is not a member.
pub(super) fn steps(messages: &[Message], member: impl Fn(Rank) -> Option<Member>) -> Result<Vec<MessageStep>, Rank> {
    let mut steps = Vec::with_capacity(messages.len());
    // The completion times of the messages in progress, in the order of their start.
    let mut open: Vec<Nanoseconds> = Vec::new();
    let mut rest = messages;
    while let [message, behind @ ..] = rest {
        rest = behind;
        wait_until(message.span.begin, &mut open, &mut steps);
        let peer = member(message.peer).ok_or(message.peer)?;
        let bytes = message.bytes;
        let next = |messages: &[Message]| messages.first().map_or(Nanoseconds(u64::MAX), |next| next.span.begin);
        // None of the messages in transit was waited for before this one.
        let is_first = |end: Nanoseconds| open.iter().all(|&other| other >= end);
        if message.span.end <= next(behind) && is_first(message.span.end) {
            steps.push(match message.end {
                MessageEnd::Sent => MessageStep::Send { to: peer, bytes },
                MessageEnd::Received => MessageStep::Recv { from: peer, bytes },
            });
            continue;
        }
        // A receive, and in it a send: the implementation of `Sendrecv`.
        if let [sent, after @ ..] = behind
            && (message.end, sent.end) == (MessageEnd::Received, MessageEnd::Sent)
            && sent.span.end <= message.span.end
            && message.span.end <= next(after)
            && is_first(message.span.end)
        {
            rest = after;
            let to = member(sent.peer).ok_or(sent.peer)?;
            steps.push(MessageStep::Sendrecv { to, sent: sent.bytes, from: peer, received: bytes });
            continue;
        }
        open.push(message.span.end);
        steps.push(match message.end {
            MessageEnd::Sent => MessageStep::Isend { to: peer, bytes },
            MessageEnd::Received => MessageStep::Irecv { from: peer, bytes },
        });
    }
    wait_until(Nanoseconds(u64::MAX), &mut open, &mut steps);
    Ok(steps)
}

/// Waits for the messages that were completed until `then`, in the order of completion.
fn wait_until(then: Nanoseconds, open: &mut Vec<Nanoseconds>, steps: &mut Vec<MessageStep>) {
    loop {
        let earliest = open.iter().enumerate().min_by_key(|&(_, end)| end);
        match earliest {
            Some((nth, &end)) if end <= then => {
                open.remove(nth);
                steps.push(MessageStep::Wait { nth: nth as u32 });
            }
            _ => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use titr_common::event::{CommId, Span};
    use titr_common::units::Bytes;

    use super::*;

    fn message(end: MessageEnd, peer: u32, span: [u64; 2]) -> Message {
        let [begin, completed] = span.map(Nanoseconds);
        let span = Span { begin, end: completed };
        Message { comm: CommId::WORLD, number: 0, end, peer: Rank(peer), bytes: Bytes(8), span }
    }

    fn sent(peer: u32, begin: u64, end: u64) -> Message {
        message(MessageEnd::Sent, peer, [begin, end])
    }

    fn received(peer: u32, begin: u64, end: u64) -> Message {
        message(MessageEnd::Received, peer, [begin, end])
    }

    fn of(messages: &[Message]) -> Vec<MessageStep> {
        steps(messages, |rank| Some(rank.0)).unwrap()
    }

    #[test]
    fn what_ends_before_the_next_begins_is_blocking() {
        let bytes = Bytes(8);
        let both = [received(1, 0, 5), sent(2, 5, 9)];
        assert_eq!(of(&both), [MessageStep::Recv { from: 1, bytes }, MessageStep::Send { to: 2, bytes }]);
    }

    #[test]
    fn a_send_within_a_receive_is_both_at_once() {
        let bytes = Bytes(8);
        let both = [received(1, 0, 9), sent(2, 1, 5)];
        assert_eq!(of(&both), [MessageStep::Sendrecv { to: 2, sent: bytes, from: 1, received: bytes }]);
    }

    /// A pipeline with two receives in flight, as Open MPI's trees have it.
    #[test]
    fn what_is_under_way_is_waited_for_when_it_was() {
        let bytes = Bytes(8);
        let all = [received(0, 0, 4), received(0, 1, 9), sent(2, 5, 7), sent(3, 6, 8)];
        assert_eq!(
            of(&all),
            [
                MessageStep::Irecv { from: 0, bytes },
                MessageStep::Irecv { from: 0, bytes },
                MessageStep::Wait { nth: 0 },
                MessageStep::Isend { to: 2, bytes },
                MessageStep::Isend { to: 3, bytes },
                MessageStep::Wait { nth: 1 },
                MessageStep::Wait { nth: 1 },
                MessageStep::Wait { nth: 0 },
            ]
        );
    }

    #[test]
    fn a_stranger_is_named() {
        assert_eq!(steps(&[sent(7, 0, 1)], |_| None), Err(Rank(7)));
    }
}

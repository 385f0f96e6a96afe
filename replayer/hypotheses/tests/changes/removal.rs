//! Removing messages without content from any program gives the program that never had them.

use std::fmt::Write;

use proptest::prelude::*;

use super::support::{changed, lines, trace};

const RANKS: usize = 3;

/// A message of a program, and how it is sent and received.
#[derive(Clone, Debug)]
struct Message {
    from: usize,
    to: usize,
    tag: u32,
    bytes: u32,
    in_region: bool,
    is_isend: bool,
    receive: Receive,
}

#[derive(Clone, Copy, Debug)]
enum Receive {
    Blocking,
    Nonblocking,
    /// From any source and with any tag, matched when all receives are posted.
    Open,
}

fn message() -> impl Strategy<Value = Message> {
    let receive = prop::sample::select(vec![Receive::Blocking, Receive::Nonblocking, Receive::Open]);
    let flags = (any::<bool>(), any::<bool>());
    (0..RANKS, 0..RANKS, 0..2_u32, 0..3_u32, flags, receive).prop_map(
        |(from, to, tag, bytes, (in_region, is_isend), receive)| Message {
            from,
            to,
            tag,
            bytes,
            in_region,
            is_isend,
            receive,
        },
    )
}

/// The program that sends these messages, one after the other, except for those that are not `kept`.
fn program(messages: &[Message], kept: impl Fn(&Message) -> bool) -> String {
    let mut ranks = vec![String::new(); RANKS];
    let mut ends = vec![String::new(); RANKS];
    for (id, message) in messages.iter().enumerate() {
        let &Message { from, to, tag, bytes, in_region, is_isend, receive } = message;
        let is_kept = kept(message);
        let mark = |ranks: &mut Vec<String>, end: &str| {
            if in_region {
                writeln!(ranks[from], "{from} region_{end} foo").unwrap();
            }
        };
        mark(&mut ranks, "begin");
        if is_kept && is_isend {
            writeln!(ranks[from], "{from} isend {to} {tag} {bytes} 6 {id}").unwrap();
            writeln!(ends[from], "{from} wait_of {id}").unwrap();
        } else if is_kept {
            writeln!(ranks[from], "{from} send {to} {tag} {bytes}").unwrap();
        }
        mark(&mut ranks, "end");
        let request = 1000 + id;
        match receive {
            _ if !is_kept => {}
            Receive::Blocking => writeln!(ranks[to], "{to} recv {from} {tag} 64").unwrap(),
            Receive::Nonblocking => {
                writeln!(ranks[to], "{to} irecv {from} {tag} 64 6 {request}").unwrap();
                writeln!(ends[to], "{to} wait_of {request}").unwrap();
            }
            Receive::Open => {
                writeln!(ranks[to], "{to} irecv * * 64 6 {request} any").unwrap();
                writeln!(ends[to], "{to} matched {request} {from} {tag}\n{to} wait_of {request}").unwrap();
            }
        }
    }
    ranks.iter().zip(&ends).map(|(rank, end)| rank.clone() + end).collect()
}

proptest! {
    #[test]
    fn any_program_loses_the_selected_messages_and_nothing_else(
        messages in prop::collection::vec(message(), 1..40),
        rank in prop::option::of(0..RANKS),
        to in prop::option::of(0..RANKS),
        tag in prop::option::of(0..2_u32),
        region in any::<bool>(),
    ) {
        let is_selected = |message: &Message| {
            rank.is_none_or(|rank| message.from == rank)
                && to.is_none_or(|to| message.to == to)
                && tag.is_none_or(|tag| message.tag == tag)
                && message.bytes == 0
                && (!region || message.in_region)
        };
        let mut change = "[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\n".to_owned();
        rank.iter().for_each(|rank| writeln!(change, "ranks = {rank}").unwrap());
        to.iter().for_each(|to| writeln!(change, "to = {to}").unwrap());
        tag.iter().for_each(|tag| writeln!(change, "tag = {tag}").unwrap());
        if region {
            change.push_str("region = 'foo'");
        }
        let expected = lines(&trace(RANKS as u32, &program(&messages, |message| !is_selected(message)))).unwrap();
        match changed(&change, RANKS as u32, &program(&messages, |_| true)) {
            Ok(removed) => prop_assert_eq!(removed, expected),
            Err(error) => prop_assert!(!messages.iter().any(is_selected), "{}", error),
        }
    }
}

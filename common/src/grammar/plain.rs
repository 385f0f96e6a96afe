//! A fast parser for the most frequent lines: a rank, one of the words below and a few integers, separated by single
//! blanks.
//!
//! All other lines, and all lines with mistakes, are left to [`Parser`](super::Parser), which gives the same results.

use super::fields::size_of_datatype;
use crate::event::{CommId, Incoming, Outgoing, Rank, RequestKey, Tag, Wildcard};
use crate::event_buffer::PlainEvent;
use crate::units::{Bytes, Instructions};

/// A number has fewer digits than this, so that it fits a float too.
const DIGITS: usize = 16;

/// The rank and event of a line of a world of `world` ranks, where elements without a datatype have `element` bytes.
#[inline]
pub(super) fn line(line: &[u8], world: u32, element: Bytes) -> Option<(Rank, PlainEvent)> {
    let (rank, rest) = number(line)?;
    let rest = rest.strip_prefix(b" ")?;
    let (word, mut rest) = rest.split_at(rest.iter().position(|&byte| byte == b' ')?);
    let mut numbers = [0; 4];
    let mut count = 0;
    while let [b' ', after @ ..] = rest {
        (*numbers.get_mut(count)?, rest) = number(after)?;
        count += 1;
    }
    if !rest.is_empty() {
        return None;
    }
    let peer = |rank: u64| (rank < u64::from(world)).then_some(Rank(rank as u32));
    let tag = |tag: u64| i32::try_from(tag).ok().map(Tag);
    let event = match (word, numbers.get(..count)?) {
        (b"compute", &[work]) => PlainEvent::Compute(Instructions(work as f64)),
        (b"wait", &[from, to, named]) => {
            PlainEvent::Wait(RequestKey { from: Some(peer(from)?), to: peer(to)?, tag: Some(tag(named)?) })
        }
        (_, &[with, named, elements, ref datatype @ ..]) => {
            let element = match datatype {
                [] => element,
                [datatype] => size_of_datatype(datatype.cast_signed())?,
                _ => return None,
            };
            let (comm, with, tag, bytes) = (CommId::WORLD, peer(with)?, tag(named)?, element.times(elements));
            let outgoing = Outgoing { comm, to: with, tag, bytes };
            let incoming = Incoming { comm, from: Some(with), tag: Some(tag), bytes, wildcard: Wildcard::NONE };
            match word {
                b"send" => PlainEvent::Send(outgoing),
                b"recv" => PlainEvent::Recv(incoming),
                b"isend" => PlainEvent::Isend(outgoing),
                b"irecv" => PlainEvent::Irecv(incoming),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some((Rank(u32::try_from(rank).ok()?), event))
}

/// The whole number that `text` starts with, and what follows.
#[inline]
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (at > 0).then(|| (value, text.get(at..).unwrap_or_default()));
        }
        if at == DIGITS - 1 {
            return None;
        }
        value = 10 * value + u64::from(digit);
    }
    (!text.is_empty()).then_some((value, &[]))
}

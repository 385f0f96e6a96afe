//! The words of a line.

use titr_common::event::{Collective, CollectiveKind, CommId, Rank, Volumes};
use titr_common::units::{Bytes, Instructions, Seconds};

/// The most bytes of a message whose receive does not say how many it expects.
const ANY_SIZE: Bytes = Bytes(1 << 40);
/// The sizes of datatypes, by their numbers: double, int, char, short, long, float, byte.
const SIZES: [u64; 7] = [8, 4, 1, 2, 8, 4, 1];

/// An event of a line.
#[derive(Debug, PartialEq)]
pub(super) enum FirstTiLine {
    Init,
    Finalize,
    /// The number of ranks, which every rank states.
    CommSize(u32),
    Compute(Instructions),
    Sleep(Seconds),
    Send(Rank, Bytes, FirstTiIsBlocking),
    Recv(Rank, Bytes, FirstTiIsBlocking),
    Wait,
    WaitAll,
    Collective(Collective),
}

/// Whether a call waits for its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstTiIsBlocking(pub bool);

/// The rank in a word such as `p12`.
pub(super) fn rank_of(word: &[u8]) -> Option<Rank> {
    let digits = word.strip_prefix(b"p").filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    std::str::from_utf8(digits).ok()?.parse().ok().map(Rank)
}

/// The arguments of an event.
struct FirstTiWords<'l> {
    words: Vec<&'l str>,
    next: usize,
    /// The size of an element, where the event does not name its datatype.
    default: u64,
}

impl<'l> FirstTiWords<'l> {
    fn next(&mut self) -> Option<&'l str> {
        let word = self.words.get(self.next).copied();
        self.next += 1;
        word
    }

    fn number(&mut self, what: &str) -> Result<f64, String> {
        let word = self.next().ok_or_else(|| format!("{what} is missing"))?;
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| format!("'{word}' is not {what}"))
    }

    fn elements(&mut self, what: &str) -> Result<u64, String> {
        self.number(what).map(|number| number as u64)
    }

    fn peer(&mut self, ranks: u32) -> Result<Rank, String> {
        let word = self.next().ok_or("a rank is missing")?;
        let rank = rank_of(word.as_bytes()).or_else(|| word.parse().ok().map(Rank));
        let rank = rank.ok_or_else(|| format!("'{word}' is no rank"))?;
        if rank.0 < ranks { Ok(rank) } else { Err(format!("rank {} of {ranks}", rank.0)) }
    }

    /// The root, which is rank 0 unless it is named.
    fn root(&mut self, ranks: u32) -> Result<Rank, String> {
        if self.next < self.words.len() { self.peer(ranks) } else { Ok(Rank(0)) }
    }

    /// The size of the datatype that comes next, if there is one.
    fn datatype(&mut self) -> Result<u64, String> {
        let Some(word) = self.next() else { return Ok(self.default) };
        let size = word.parse::<usize>().ok().and_then(|number| SIZES.get(number));
        size.copied().ok_or_else(|| format!("'{word}' is no datatype"))
    }

    fn list(&mut self, ranks: u32) -> Result<Vec<u64>, String> {
        (0..ranks).map(|_| self.elements("a number of elements")).collect()
    }
}

/// The event in the words after the rank; `default` is the size of an element.
pub(super) fn parse(text: &str, ranks: u32, default: u64) -> Result<FirstTiLine, String> {
    let mut words = text.split_ascii_whitespace().skip(1);
    let name = words.next().ok_or("an event is missing")?.to_ascii_lowercase();
    let mut w = FirstTiWords { words: words.collect(), next: 0, default };
    let volume = |elements: u64, size: u64| Bytes(elements.saturating_mul(size));
    Ok(match name.as_str() {
        "init" => FirstTiLine::Init,
        "finalize" => FirstTiLine::Finalize,
        "comm_size" => FirstTiLine::CommSize(w.elements("a number of ranks")? as u32),
        "compute" => FirstTiLine::Compute(Instructions(w.number("a volume")?)),
        "sleep" => FirstTiLine::Sleep(Seconds(w.number("a time")?)),
        "send" | "isend" => {
            let (to, elements) = (w.peer(ranks)?, w.elements("a size")?);
            FirstTiLine::Send(to, volume(elements, w.datatype()?), FirstTiIsBlocking(name == "send"))
        }
        "recv" | "irecv" => {
            let from = w.peer(ranks)?;
            let room = if w.words.len() > 1 { volume(w.elements("a size")?, w.datatype()?) } else { ANY_SIZE };
            FirstTiLine::Recv(from, room, FirstTiIsBlocking(name == "recv"))
        }
        "wait" => FirstTiLine::Wait,
        "waitall" => FirstTiLine::WaitAll,
        _ => FirstTiLine::Collective(collective(&name, &mut w, ranks)?),
    })
}

fn collective(name: &str, w: &mut FirstTiWords<'_>, ranks: u32) -> Result<Collective, String> {
    use CollectiveKind as Kind;
    let each = |elements: u64, size: u64| Volumes::Each(Bytes(elements.saturating_mul(size)));
    let listed = |list: &[u64], size: u64| {
        Volumes::PerMember(list.iter().map(|elements| Bytes(elements.saturating_mul(size))).collect())
    };
    let of = |kind| Collective { kind, ..Collective::barrier(CommId::WORLD) };
    let element = |size: u64| Bytes(size.max(1));
    Ok(match name {
        "barrier" => of(Kind::Barrier),
        "bcast" => {
            let (elements, root) = (w.elements("a size")?, Some(w.root(ranks)?));
            let size = w.datatype()?;
            Collective { send: each(elements, size), root, element: element(size), ..of(Kind::Bcast) }
        }
        "reduce" | "allreduce" => {
            let (elements, work) = (w.elements("a size")?, Instructions(w.number("a volume")?));
            let (kind, root) = match name {
                "reduce" => (Kind::Reduce, Some(w.root(ranks)?)),
                _ => (Kind::Allreduce, None),
            };
            let size = w.datatype()?;
            Collective { send: each(elements, size), root, element: element(size), work, ..of(kind) }
        }
        "gather" | "alltoall" | "allgather" => {
            let (given, taken) = (w.elements("a size")?, w.elements("a size")?);
            let (kind, root) = match name {
                "gather" => (Kind::Gather, Some(w.root(ranks)?)),
                "alltoall" => (Kind::Alltoall, None),
                _ => (Kind::Allgather, None),
            };
            let (sent, received) = (w.datatype()?, w.datatype()?);
            Collective {
                send: each(given, sent),
                recv: each(taken, received),
                root,
                element: element(sent),
                ..of(kind)
            }
        }
        "gatherv" | "allgatherv" => {
            let (given, taken) = (w.elements("a size")?, w.list(ranks)?);
            let (kind, root) = match name {
                "gatherv" => (Kind::Gatherv, Some(w.root(ranks)?)),
                _ => (Kind::Allgatherv, None),
            };
            let (sent, received) = (w.datatype()?, w.datatype()?);
            Collective {
                send: each(given, sent),
                recv: listed(&taken, received),
                root,
                element: element(sent),
                ..of(kind)
            }
        }
        "alltoallv" => {
            let (_buffer, given) = (w.elements("a size")?, w.list(ranks)?);
            let (_room, taken) = (w.elements("a size")?, w.list(ranks)?);
            let (sent, received) = (w.datatype()?, w.datatype()?);
            Collective {
                send: listed(&given, sent),
                recv: listed(&taken, received),
                element: element(received),
                ..of(Kind::Alltoallv)
            }
        }
        "reducescatter" => {
            let (taken, work) = (w.list(ranks)?, Instructions(w.number("a volume")?));
            let size = w.datatype()?;
            Collective { recv: listed(&taken, size), element: element(size), work, ..of(Kind::ReduceScatter) }
        }
        other => return Err(format!("'{other}' is no event of this format")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_of_elements() {
        assert_eq!(parse("p0 send p1 1e3", 2, 1), Ok(FirstTiLine::Send(Rank(1), Bytes(1000), FirstTiIsBlocking(true))));
        assert_eq!(parse("p0 Isend 1 10", 2, 8), Ok(FirstTiLine::Send(Rank(1), Bytes(80), FirstTiIsBlocking(false))));
        assert_eq!(parse("p0 recv p1", 2, 1), Ok(FirstTiLine::Recv(Rank(1), ANY_SIZE, FirstTiIsBlocking(true))));
        let Ok(FirstTiLine::Collective(reduce)) = parse("p0 reduce 5 1e6 1 5", 2, 1) else { panic!() };
        assert_eq!(
            (reduce.send, reduce.work, reduce.root),
            (Volumes::Each(Bytes(20)), Instructions(1e6), Some(Rank(1)))
        );
        let Ok(FirstTiLine::Collective(all)) = parse("p0 allGatherV 3 3 4", 2, 1) else { panic!() };
        assert_eq!(all.recv, Volumes::PerMember(vec![Bytes(3), Bytes(4)]));
        for wrong in ["p0", "p0 send p2 1", "p0 send p1", "p0 send p1 -1", "p0 jump", "p0 bcast 1 0 9"] {
            assert!(parse(wrong, 2, 1).is_err(), "{wrong}");
        }
    }
}

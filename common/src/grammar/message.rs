//! The fields of a point-to-point message, in a world of a given size, and partitioned messages as text.
//!
//! | line, after the rank | event |
//! | --- | --- |
//! | `psend_init TO TAG BYTES REQ PARTS` | a send in this many parts is set up; preceded by `on C` |
//! | `precv_init FROM TAG BYTES REQ PARTS [WILDCARD]` | a receive in this many parts is set up; preceded by `on C` |
//! | `pready REQ PARTS` | these parts of a started send are ready |
//! | `parrived REQ PART` | this part of a started receive has arrived |

use super::ParseError;
use super::fields::Fields;
use super::line::Line;
use super::world_of;
use crate::event::{CommId, Incoming, Outgoing, Partitioned, Wildcard};
use crate::units::Bytes;

/// `DESTINATION TAG BYTES`.
pub(super) fn outgoing(comm: CommId, world: u32, f: &mut Fields) -> Result<Outgoing, ParseError> {
    let column = f.column();
    let to = f.rank("a destination rank")?;
    if to.0 >= world {
        return Err(stranger(column, world, "destination"));
    }
    Ok(Outgoing { comm, to, tag: f.tag()?, bytes: f.bytes("a number of bytes", Bytes(1))? })
}

/// `SOURCE TAG BYTES`.
pub(super) fn incoming(comm: CommId, world: u32, f: &mut Fields) -> Result<Incoming, ParseError> {
    let column = f.column();
    let from = f.source()?;
    if from.is_some_and(|from| from.0 >= world) {
        return Err(stranger(column, world, "source"));
    }
    let tag = f.tag_or_any()?;
    // SimGrid: a negative count is a receive of any size.
    let bytes = Bytes(f.float("a number of bytes")?.max(0.0) as u64);
    Ok(Incoming { comm, from, tag, bytes, wildcard: Wildcard { source: from.is_none(), tag: tag.is_none() } })
}

/// The wildcards of a receive: as the line says at its end, and a source or tag that is not known yet.
pub(super) fn wildcard(message: &Incoming, f: &mut Fields) -> Result<Wildcard, ParseError> {
    let said = f.wildcard()?;
    Ok(Wildcard { source: said.source || message.from.is_none(), tag: said.tag || message.tag.is_none() })
}

/// The error of a peer that is not in the world.
pub(super) fn stranger(column: usize, world: u32, peer: &str) -> ParseError {
    ParseError { column, what: format!("the {peer} is not in {}", world_of(world)) }
}

impl Partitioned {
    /// The word of the grammar.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::SendInit(..) => "psend_init",
            Self::RecvInit(..) => "precv_init",
            Self::Ready(..) => "pready",
            Self::Arrived(..) => "parrived",
        }
    }
}

/// Appends the whole event.
pub(super) fn write<'l, 'o>(line: &'l mut Line<'o>, event: &Partitioned) -> &'l mut Line<'o> {
    let word = event.word();
    match event {
        Partitioned::SendInit(message, parts, request) => {
            line.on(message.comm).word(word).outgoing(message).request(*request).number(u64::from(*parts))
        }
        Partitioned::RecvInit(message, parts, request) => {
            line.on(message.comm).word(word).incoming(message).request(*request).number(u64::from(*parts));
            line.wildcard(message.wildcard)
        }
        Partitioned::Ready(request, parts) => line.word(word).request(*request).list(parts.iter().copied()),
        Partitioned::Arrived(request, part) => line.word(word).request(*request).number(u64::from(*part)),
    }
}

/// The event that `word` names; `None` if it is none of these.
pub(super) fn read(word: &[u8], comm: CommId, world: u32, f: &mut Fields) -> Result<Option<Partitioned>, ParseError> {
    Ok(Some(match word {
        b"psend_init" => {
            let (message, request) = (outgoing(comm, world, f)?, f.request()?);
            Partitioned::SendInit(message, f.small("a number of partitions")?, request)
        }
        b"precv_init" => {
            let (message, request) = (incoming(comm, world, f)?, f.request()?);
            let parts = f.small("a number of partitions")?;
            Partitioned::RecvInit(Incoming { wildcard: wildcard(&message, f)?, ..message }, parts, request)
        }
        b"parrived" => Partitioned::Arrived(f.request()?, f.small("a partition")?),
        b"pready" => Partitioned::Ready(f.request()?, f.list("a list of partitions", |part| part)?),
        _ => return Ok(None),
    }))
}

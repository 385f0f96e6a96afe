//! The fields of a point-to-point message, in a world of a given size.

use super::ParseError;
use super::fields::Fields;
use super::world_of;
use crate::event::{CommId, Incoming, Outgoing, Wildcard};
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

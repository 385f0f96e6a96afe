//! Partitioned messages as text.
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
use super::message::{self, wildcard};
use crate::event::{CommId, Incoming, Partitioned};

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
            let (message, request) = (message::outgoing(comm, world, f)?, f.request()?);
            Partitioned::SendInit(message, f.small("a number of partitions")?, request)
        }
        b"precv_init" => {
            let (message, request) = (message::incoming(comm, world, f)?, f.request()?);
            let parts = f.small("a number of partitions")?;
            Partitioned::RecvInit(Incoming { wildcard: wildcard(&message, f)?, ..message }, parts, request)
        }
        b"parrived" => Partitioned::Arrived(f.request()?, f.small("a partition")?),
        b"pready" => Partitioned::Ready(f.request()?, f.list("a list of partitions", |part| part)?),
        _ => return Ok(None),
    }))
}

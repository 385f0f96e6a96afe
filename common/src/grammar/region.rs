//! Regions as text.
//!
//! | line, after the rank | event |
//! | --- | --- |
//! | `region_begin NAME`, `region_end NAME` | a region that the program has named |
//! | `pcontrol LEVEL` | `MPI_Pcontrol` |

use super::error::ParseError;
use super::fields::Fields;
use super::line::Line;
use crate::event::Region;

impl Region {
    /// The word of the grammar.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Begin(_) => "region_begin",
            Self::End(_) => "region_end",
            Self::Control(_) => "pcontrol",
        }
    }
}

/// Appends the whole event.
pub(super) fn write<'l, 'o>(line: &'l mut Line<'o>, event: &Region) -> &'l mut Line<'o> {
    let word = event.word();
    match event {
        Region::Begin(name) | Region::End(name) => line.word(word).word(name),
        Region::Control(level) => line.word(word).signed(*level),
    }
}

/// The event that `word` names; `None` if it is none of these.
pub(super) fn read(word: &[u8], f: &mut Fields) -> Result<Option<Region>, ParseError> {
    Ok(Some(match word {
        b"region_begin" => Region::Begin(f.text("the name of a region")?.into()),
        b"region_end" => Region::End(f.text("the name of a region")?.into()),
        b"pcontrol" => Region::Control(f.signed("a level")?),
        _ => return Ok(None),
    }))
}

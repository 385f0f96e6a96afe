//! Reads a template.

use std::io::{BufReader, Read};
use std::sync::{Arc, OnceLock};

use flate2::bufread::MultiGzDecoder;

use super::column::Column;
use super::rank_list::RankList;
use super::text::PLACE;
use super::{COLUMN, RANKS};
use crate::event::Rank;
use crate::grammar::{HEADER, ParseError};
use crate::trace::error::TraceError;
use crate::trace::lines::Lines;
use crate::trace::section::Section;

/// About how much text is in memory at most while the columns are read, and the longest text that all columns may take.
const KEPT: usize = 64 << 10;
const LONGEST_COLUMNS: usize = 16 << 20;
/// The longest template that is unpacked once for all ranks; a longer one is unpacked by each.
const UNPACKED: usize = 4 << 20;
/// Number of bytes of a line that an error shows.
const SHOWN: usize = 80;

/// The stream of several ranks.
#[derive(Debug)]
pub(in crate::trace) struct StreamTemplate {
    file: Section,
    ranks: RankList,
    /// The columns of the places from 1 on.
    columns: Vec<Column>,
    /// The text, unless it is long or torn; none before it is needed.
    text: OnceLock<Option<Section>>,
}

/// The numbers of one rank in the places of a template.
pub(in crate::trace) struct Places {
    template: Arc<StreamTemplate>,
    rank: Rank,
    /// The place of the rank among the ranks of the template.
    index: usize,
}

impl StreamTemplate {
    /// Reads the ranks and the columns of the template in `file`.
    ///
    /// # Errors
    /// If it cannot be read, or a column does not have a number for each rank.
    pub(in crate::trace) fn open(file: Section) -> Result<Self, TraceError> {
        let mut lines = Lines::of(file.clone(), KEPT)?;
        let first = lines.next()?.map(String::from_utf8_lossy).unwrap_or_default().into_owned();
        if first.trim_end() != HEADER {
            let what = format!("'{}', and this titr reads '{HEADER}'", shown(first.as_bytes()));
            return Err(TraceError::Directory { path: file.name().into(), what });
        }
        let second = lines.next()?.unwrap_or_default().to_owned();
        let ranks = match second.strip_prefix(RANKS.as_bytes()) {
            Some(ranks) => RankList::parse(String::from_utf8_lossy(ranks).trim_end()),
            None => Err(format!("'{RANKS}' and a list of ranks are expected")),
        };
        let ranks = ranks.map_err(|what| wrong(&file, 2, &second, 1, what))?;
        let mut columns = Vec::new();
        let mut length = 0;
        while let Some(line) = lines.next()? {
            let Some(said) = line.strip_prefix(COLUMN.as_bytes()) else { break };
            length += line.len();
            let read = column(said, columns.len() + 1, ranks.len()).and_then(|column| match length {
                0..=LONGEST_COLUMNS => Ok(column),
                _ => Err((0, format!("the columns take more than {LONGEST_COLUMNS} bytes"))),
            });
            let line = line.to_owned();
            columns.push(read.map_err(|(at, what)| wrong(&file, lines.line(), &line, COLUMN.len() + at + 1, what))?);
        }
        Ok(Self { file, ranks, columns, text: OnceLock::new() })
    }

    pub(in crate::trace) fn ranks(&self) -> &RankList {
        &self.ranks
    }

    pub(in crate::trace) fn file(&self) -> &Section {
        &self.file
    }

    /// The text, which is unpacked at most once unless it is long.
    pub(in crate::trace) fn text(&self) -> Section {
        self.text.get_or_init(|| self.unpacked()).as_ref().unwrap_or(&self.file).clone()
    }

    /// `None` if the text is long or cannot be unpacked: the readers of the file then say why.
    fn unpacked(&self) -> Option<Section> {
        let mut text = Vec::new();
        let unpacked = MultiGzDecoder::new(BufReader::new(self.file.clone()));
        unpacked.take(UNPACKED as u64 + 1).read_to_end(&mut text).ok()?;
        text.shrink_to_fit();
        (text.len() <= UNPACKED).then(|| Section::of_bytes(self.file.name().into(), text))
    }
}

impl Places {
    /// The numbers of `rank`; `None` if it is none of the template's ranks.
    pub(in crate::trace) fn of(template: &Arc<StreamTemplate>, rank: Rank) -> Option<Self> {
        Some(Self { template: Arc::clone(template), rank, index: template.ranks.index(rank)? })
    }

    /// Writes a line of the template, with the numbers of the rank, to `out`.
    ///
    /// # Errors
    /// The column of a place for which there is no number.
    pub(in crate::trace) fn fill(&self, line: &[u8], out: &mut Vec<u8>) -> Result<(), ParseError> {
        out.clear();
        let mut rest = line;
        // The places of columns are no places.
        while let Some(at) = memchr::memchr(PLACE, rest).filter(|_| !line.starts_with(COLUMN.as_bytes())) {
            out.extend_from_slice(&rest[..at]);
            let column = line.len() - rest.len() + at + 1;
            let after = &rest[at + 1..];
            let digits = after.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(after.len());
            let (place, after) = after.split_at(digits);
            let number = self.number(place).map_err(|what| ParseError { column, what })?;
            out.extend_from_slice(number.to_string().as_bytes());
            rest = after;
        }
        out.extend_from_slice(rest);
        Ok(())
    }

    /// The number in a place, which has these digits.
    fn number(&self, place: &[u8]) -> Result<u64, String> {
        let Rank(rank) = self.rank;
        let shown = String::from_utf8_lossy(place);
        let place = shown.parse::<usize>().ok();
        let Some(column) = place.and_then(|place| place.checked_sub(1)) else {
            return match place {
                Some(_) => Ok(rank.into()),
                None => Err("the number of a place is expected after $".to_owned()),
            };
        };
        let Some(column) = self.template.columns.get(column) else {
            return Err(format!("no column for ${shown}: there are {}", self.template.columns.len()));
        };
        let negative = || match column.signed(self.index, rank) {
            Some(number) => format!("${shown} is {number} for rank {rank}: no number of a trace is negative"),
            None => format!("${shown} is too large for rank {rank}"),
        };
        column.get(self.index, rank).ok_or_else(negative)
    }
}

/// The column that the line of place `place` says, after `$`, for this many ranks; or where it is wrong, and how.
fn column(said: &[u8], place: usize, ranks: usize) -> Result<Column, (usize, String)> {
    let said = std::str::from_utf8(said).map_err(|error| (error.valid_up_to(), "no text".to_owned()))?.trim_end();
    let (number, text) = said.split_once(' ').unwrap_or((said, ""));
    if number.parse() != Ok(place) {
        return Err((0, format!("place {place} is expected here")));
    }
    let at = number.len() + 1;
    let expected = |wrong| (at + wrong, "numbers such as 5, 5*3 or 5*3+1 are expected".to_owned());
    let column = Column::parse(text).map_err(expected)?;
    match column.len() {
        len if len == ranks => Ok(column),
        len => Err((at, format!("{len} numbers for {ranks} ranks"))),
    }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).into_owned()
}

fn wrong(file: &Section, line: u64, text: &[u8], column: usize, what: String) -> TraceError {
    TraceError::Line { path: file.name().into(), line, text: shown(text), error: ParseError { column, what } }
}

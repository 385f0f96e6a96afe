//! Reads a template.

use std::io::{BufReader, Read};
use std::str::Utf8Error;
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

/// About how much text is in memory at most while the columns are read, and the longest text that the ranks and all columns may take.
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
        let second = lines.next()?.unwrap_or_default();
        let mut room = LONGEST_COLUMNS;
        let ranks = ranks(second, &mut room).map_err(|(at, what)| wrong(&file, 2, second, at + 1, what))?;
        let mut columns = Vec::new();
        while let Some(line) = lines.next()?.filter(|line| line.starts_with(COLUMN.as_bytes())) {
            let place = columns.len() + 1;
            let read = column(line, place, ranks.len(), &mut room);
            columns.push(read.map_err(|(at, what)| wrong(&file, 2 + place as u64, line, at + 1, what))?);
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

/// The ranks that the second line says; or where it is wrong, and how.
fn ranks(line: &[u8], room: &mut usize) -> Result<RankList, (usize, String)> {
    let text = after(RANKS, line, room)?;
    RankList::parse(text).map_err(|(at, what)| (RANKS.len() + at, what))
}

/// The column that the line of place `place` says for this many ranks; or where it is wrong, and how.
fn column(line: &[u8], place: usize, ranks: usize, room: &mut usize) -> Result<Column, (usize, String)> {
    let said = after(COLUMN, line, room)?;
    let (number, text) = said.split_once(' ').unwrap_or((said, ""));
    if number.parse() != Ok(place) {
        return Err((COLUMN.len(), format!("place {place} is expected here")));
    }
    let at = COLUMN.len() + number.len() + 1;
    let column = Column::parse(text, ranks).map_err(|(wrong, what)| (at + wrong, what))?;
    match column.len() {
        len if len == ranks => Ok(column),
        len => Err((at, format!("{len} numbers for {ranks} ranks"))),
    }
}

/// The text after the beginning of a line, if the line is no longer than `room`, which then is smaller.
fn after<'l>(beginning: &str, line: &'l [u8], room: &mut usize) -> Result<&'l str, (usize, String)> {
    let Some(text) = line.strip_prefix(beginning.as_bytes()) else {
        return Err((0, format!("a line that begins with '{beginning}' is expected")));
    };
    let too_long = || (0, format!("the ranks and columns take more than {LONGEST_COLUMNS} bytes"));
    *room = room.checked_sub(line.len()).ok_or_else(too_long)?;
    let no_text = |error: Utf8Error| (beginning.len() + error.valid_up_to(), "no text".to_owned());
    str::from_utf8(text).map(str::trim_end).map_err(no_text)
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).into_owned()
}

fn wrong(file: &Section, line: u64, text: &[u8], column: usize, what: String) -> TraceError {
    TraceError::Line { path: file.name().into(), line, text: shown(text), error: ParseError { column, what } }
}

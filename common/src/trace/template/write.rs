//! Finds the ranks of a trace whose streams differ in numbers alone, and gives them one stream.

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use flate2::Crc;
use flate2::bufread::MultiGzDecoder;

use super::StreamTemplate;
use super::column::{Column, ColumnBuilder};
use super::rank_list::RankList;
use super::text::Split;
use super::{COLUMN, RANKS};
use crate::event::Rank;
use crate::grammar::HEADER;
use crate::trace::directory;
use crate::trace::error::TraceError;
use crate::trace::manifest::{Manifest, RankEntry, VERSION_WITH_TEMPLATES};
use crate::trace::rank_file::RankFile;
use crate::trace::section::Section;
use crate::trace::writer::{FinishedStream, StreamWriter};
use crate::units::Bytes;

/// The longest stream that is compared with others, in bytes of text.
const LONGEST: u64 = 16 << 20;
/// About the size of a run of numbers on disk, in bytes.
const RUN: u64 = 3;
/// Text in a gzip member, and how hard it is compressed.
const MEMBER: usize = 128 << 10;
const LEVEL: u32 = 6;

/// Completes a trace in `directory` whose ranks have streams of their own: [replaces](share) those that differ in numbers alone,
/// and writes the manifest.
///
/// # Errors
/// If a stream cannot be read, or a file cannot be written.
pub fn complete(directory: &Path, mut manifest: Manifest) -> io::Result<()> {
    share(directory, &mut manifest)?;
    manifest.write(directory)
}

/// Replaces the streams in `directory` that differ in numbers alone by one for all of their ranks, and enters the sizes and
/// checksums in `manifest`.
///
/// # Errors
/// If a stream cannot be read or written. The directory then has some streams twice.
fn share(directory: &Path, manifest: &mut Manifest) -> io::Result<()> {
    let own = |entry: &RankEntry| RankFile::Own(Section::closed(directory::stream(directory, Rank(entry.rank))));
    let mut streams: Vec<RankFile> = manifest.per_rank.iter().map(own).collect();
    for rank in share_streams(&mut streams, manifest, directory).map_err(io::Error::other)? {
        let path = directory::stream(directory, rank);
        fs::remove_file(&path)?;
        // Fails as long as the folder has other files.
        let _ = path.parent().filter(|folder| *folder != directory).map(fs::remove_dir);
    }
    Ok(())
}

/// Finds the streams that differ in numbers alone, writes one for all of their ranks into `directory`, which takes their places in
/// `streams`, and enters the sizes and checksums in `manifest`. A rank keeps its own stream if its numbers would take more space, or
/// if its stream is not whole. A trace of more than half a million ranks does not change.
///
/// Returns the ranks that share a stream now.
///
/// # Errors
/// If a stream cannot be read or written.
pub(in crate::trace) fn share_streams(
    streams: &mut [RankFile],
    manifest: &mut Manifest,
    directory: &Path,
) -> Result<Vec<Rank>, TraceError> {
    let mut shared = Vec::new();
    if manifest.per_rank.len() > RankList::MOST {
        return Ok(shared);
    }
    let mut classes = Classes::default();
    for (entry, stream) in manifest.per_rank.iter().zip(streams.iter()) {
        if let (RankFile::Own(file), Some(_)) = (stream, entry.crc32) {
            classes.add(OwnStream { file, entry })?;
        }
    }
    let classes: Vec<Shared> = classes.all.into_values().filter_map(Class::into_shared).collect();
    for class in classes {
        let (text, written) = class.write(directory).map_err(TraceError::io(directory))?;
        let file = Section::closed(directory::template(directory, class.ranks.first()));
        let template = Arc::new(StreamTemplate::open(file)?);
        for rank in class.ranks.iter() {
            if let (Some(entry), Some(stream)) =
                (manifest.per_rank.get_mut(rank as usize), streams.get_mut(rank as usize))
            {
                (entry.text, entry.disk, entry.crc32) = (text, written.size, Some(written.crc32));
                *stream = RankFile::Template(Arc::clone(&template));
            }
            shared.push(Rank(rank));
        }
        manifest.titr = VERSION_WITH_TEMPLATES;
    }
    Ok(shared)
}

/// The stream of a rank, and what the manifest says of it.
#[derive(Clone, Copy)]
struct OwnStream<'s> {
    file: &'s Section,
    entry: &'s RankEntry,
}

/// The ranks of a trace, by a hash of their streams without the numbers.
#[derive(Default)]
struct Classes<'s> {
    all: HashMap<u64, Class<'s>>,
    hasher: RandomState,
}

/// The ranks whose streams have the same hash.
enum Class<'s> {
    One(OwnStream<'s>),
    Shared(Shared),
}

/// Ranks whose streams differ in numbers alone.
struct Shared {
    ranks: RankList,
    /// The stream of the first rank.
    text: Split,
    /// The index of the column of each number of the text.
    column_of: Vec<usize>,
    /// The columns, all different.
    columns: Vec<ColumnBuilder>,
}

impl<'s> Classes<'s> {
    /// Adds a rank.
    fn add(&mut self, stream: OwnStream<'s>) -> Result<(), TraceError> {
        let Some(text) = stream.read()? else { return Ok(()) };
        let class = self.all.entry(self.hasher.hash_one(&text.rest)).or_insert(Class::One(stream));
        let rank = Rank(stream.entry.rank);
        if let Class::One(first) = *class
            && first.entry.rank != rank.0
            && let Some(text) = first.read()?
        {
            *class = Class::Shared(Shared::of(Rank(first.entry.rank), text));
        }
        if let Class::Shared(shared) = class {
            shared.add(rank, &text, stream.entry.disk);
        }
        Ok(())
    }
}

impl OwnStream<'_> {
    /// The text after its header; `None` if it is long, has the sign of a place, or is not what its rank has written.
    fn read(self) -> Result<Option<Split>, TraceError> {
        if self.file.remaining().map_err(TraceError::io(self.file.name()))? > LONGEST {
            return Ok(None);
        }
        let (mut packed, mut crc) = (Vec::new(), Crc::new());
        self.file.clone().read_pieces(|bytes| {
            crc.update(bytes);
            packed.extend_from_slice(bytes);
            Ok(())
        })?;
        let mut text = Vec::new();
        let unpacked = MultiGzDecoder::new(packed.as_slice()).take(LONGEST).read_to_end(&mut text);
        // A wrong stream stays as it is; its readers report that.
        if unpacked.is_err() || self.entry.crc32 != Some(crc.sum()) || text.len() as u64 == LONGEST {
            return Ok(None);
        }
        let events = text.strip_prefix(HEADER.as_bytes()).and_then(|text| text.strip_prefix(b"\n"));
        Ok(events.and_then(Split::of))
    }
}

impl Class<'_> {
    fn into_shared(self) -> Option<Shared> {
        match self {
            Self::Shared(shared) if shared.ranks.len() > 1 => Some(shared),
            Self::One(_) | Self::Shared(_) => None,
        }
    }
}

impl Shared {
    /// The class of one rank. Equal numbers have one column until they differ in another rank.
    fn of(rank: Rank, text: Split) -> Self {
        let mut ranks = RankList::default();
        ranks.push(rank.0);
        let (mut columns, mut known) = (Vec::new(), HashMap::new());
        let column = |&number: &i64| {
            *known.entry(number).or_insert_with(|| {
                let mut column = ColumnBuilder::default();
                column.push(rank.0, number);
                columns.push(column);
                columns.len() - 1
            })
        };
        let column_of = text.numbers.iter().map(column).collect();
        Self { ranks, text, column_of, columns }
    }

    /// Adds a rank with this stream, unless its numbers take more space than its stream, `disk`.
    fn add(&mut self, Rank(rank): Rank, text: &Split, disk: Bytes) {
        // Streams of the same hash may differ.
        if text.rest != self.text.rest {
            return;
        }
        // The number of each column; and the columns that are divided, with the number of the new part.
        let mut numbers = vec![None; self.columns.len()];
        let mut parts: Vec<(usize, i64)> = Vec::new();
        let mut part_of: HashMap<(usize, i64), usize> = HashMap::new();
        let mut column_of = self.column_of.clone();
        for (column, &number) in column_of.iter_mut().zip(&text.numbers) {
            if *numbers[*column].get_or_insert(number) != number {
                *column = *part_of.entry((*column, number)).or_insert_with(|| {
                    parts.push((*column, number));
                    self.columns.len() + parts.len() - 1
                });
            }
        }
        let added = |(column, number): (usize, i64)| self.columns[column].runs_added(rank, number);
        let known = || numbers.iter().enumerate().filter_map(|(column, number)| Some((column, (*number)?)));
        let runs: usize = known().map(added).sum();
        let in_parts: usize = parts.iter().map(|&part| self.columns[part.0].runs() + added(part)).sum();
        if (runs + in_parts) as u64 * RUN > disk.0 || !self.ranks.push(rank) {
            return;
        }
        let whole: Vec<(usize, i64)> = known().collect();
        let parts_of = |&(column, _): &(usize, i64)| self.columns[column].clone();
        let divided: Vec<ColumnBuilder> = parts.iter().map(parts_of).collect();
        let first_part = self.columns.len();
        self.columns.extend(divided);
        let new = (first_part..).zip(parts).map(|(column, (_, number))| (column, number));
        for (column, number) in whole.into_iter().chain(new) {
            self.columns[column].push(rank, number);
        }
        self.column_of = column_of;
    }

    /// Writes the template. Returns the size of its text, and the facts about its file.
    fn write(&self, directory: &Path) -> io::Result<(Bytes, FinishedStream)> {
        let columns: Vec<Column> = self.columns.iter().map(ColumnBuilder::build).collect();
        let mut text = format!("{RANKS}{}\n", Column::from(&self.ranks)).into_bytes();
        // The text of each column in the places where it is.
        let mut shown: Vec<Option<String>> = vec![None; columns.len()];
        let mut places = 0;
        for &column in &self.column_of {
            if shown[column].is_none() {
                shown[column] = Some(match columns[column].constant() {
                    Some(number) => number.to_string(),
                    None if columns[column].is_rank() => "$0".to_owned(),
                    None => {
                        places += 1;
                        writeln!(text, "{COLUMN}{places} {}", columns[column])?;
                        format!("${places}")
                    }
                });
            }
        }
        let number = |out: &mut Vec<u8>, place: usize| {
            let shown = self.column_of.get(place).and_then(|&column| shown[column].as_deref());
            out.extend_from_slice(shown.unwrap_or_default().as_bytes());
        };
        self.text.fill(&mut text, number);
        let mut stream = StreamWriter::create_template(directory, self.ranks.first(), LEVEL)?;
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let end = rest.iter().skip(MEMBER).position(|&byte| byte == b'\n').map_or(rest.len(), |at| MEMBER + at + 1);
            let (member, after) = rest.split_at(end.min(rest.len()));
            stream.write_member(member)?;
            rest = after;
        }
        Ok((Bytes(text.len() as u64), stream.written()))
    }
}

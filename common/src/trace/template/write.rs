//! Finds the ranks of a trace whose streams differ in numbers alone, and gives them one stream.

use std::collections::HashMap;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::column::{Column, ColumnBuilder};
use super::rank_list::RankList;
use super::text::Split;
use super::{COLUMN, RANKS};
use crate::event::Rank;
use crate::grammar::HEADER;
use crate::trace::directory;
use crate::trace::manifest::{Manifest, RankEntry, VERSION_WITH_TEMPLATES};
use crate::trace::writer::{FinishedStream, StreamWriter};
use crate::units::Bytes;

/// The longest stream that is compared with others, in bytes of text.
const LONGEST: u64 = 16 << 20;
/// About the size of a run of numbers on disk, in bytes.
const RUN: u64 = 3;
/// Text in a gzip member, and how hard it is compressed.
const MEMBER: usize = 128 << 10;
const LEVEL: u32 = 6;

/// Replaces the streams in `directory` that differ in numbers alone by one for all of their ranks, and enters the sizes and
/// checksums in `manifest`. A rank keeps its own stream if its numbers would take more space, or if it did not end its stream. A
/// trace of more than half a million ranks does not change.
///
/// # Errors
/// If a stream cannot be read or written. The directory then has some streams twice.
pub fn share(directory: &Path, manifest: &mut Manifest) -> io::Result<()> {
    if manifest.per_rank.len() > RankList::MOST {
        return Ok(());
    }
    let mut classes = Classes::default();
    for entry in manifest.per_rank.iter().filter(|entry| entry.crc32.is_some()) {
        classes.add(directory, entry)?;
    }
    for class in classes.all.into_values().filter_map(Class::into_shared) {
        let (text, written) = class.write(directory)?;
        for rank in class.ranks.iter() {
            let path = directory::stream(directory, Rank(rank));
            fs::remove_file(&path)?;
            // Fails as long as the folder has other files.
            let _ = path.parent().filter(|folder| *folder != directory).map(fs::remove_dir);
            if let Some(entry) = manifest.per_rank.get_mut(rank as usize) {
                (entry.text, entry.disk, entry.crc32) = (text, written.size, Some(written.crc32));
            }
        }
        manifest.titr = VERSION_WITH_TEMPLATES;
    }
    Ok(())
}

/// The ranks of a trace, by a hash of their streams without the numbers.
#[derive(Default)]
struct Classes {
    all: HashMap<u64, Class>,
    hasher: RandomState,
}

/// The ranks whose streams have the same hash.
enum Class {
    One(Rank),
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

impl Classes {
    /// Adds the rank of `entry`.
    fn add(&mut self, directory: &Path, entry: &RankEntry) -> io::Result<()> {
        let rank = Rank(entry.rank);
        let Some(text) = read(directory, rank)? else { return Ok(()) };
        let class = self.all.entry(self.hasher.hash_one(&text.rest)).or_insert(Class::One(rank));
        if let Class::One(first) = *class
            && first != rank
            && let Some(text) = read(directory, first)?
        {
            *class = Class::Shared(Shared::of(first, text));
        }
        if let Class::Shared(shared) = class {
            shared.add(rank, &text, entry.disk);
        }
        Ok(())
    }
}

/// The text of a rank's stream after its header; `None` if it is long, or has the sign of a place.
fn read(directory: &Path, rank: Rank) -> io::Result<Option<Split>> {
    let file = File::open(directory::stream(directory, rank))?;
    let mut text = Vec::new();
    MultiGzDecoder::new(BufReader::new(file)).take(LONGEST).read_to_end(&mut text)?;
    let is_whole = (text.len() as u64) < LONGEST;
    let events = text.strip_prefix(HEADER.as_bytes()).and_then(|text| text.strip_prefix(b"\n"));
    Ok(events.filter(|_| is_whole).and_then(Split::of))
}

impl Class {
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
        let mut text = format!("{RANKS}{}\n", String::from(self.ranks.clone())).into_bytes();
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

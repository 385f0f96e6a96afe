//! A rank's file: its index, and the parts that the index names.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use titr_common::input;
use titr_common::trace::TraceError;

use super::bytes::{Cursor, DumpiWindow};
use super::functions::DumpiFunction;
use super::records::DumpiRecords;

/// The eight bytes that a file begins with, and its index.
pub(super) const MAGIC: u64 = 0xffaa_dd44_554d_5049;
/// The eight bytes that a footer begins with.
pub(super) const FOOTER_MAGIC: u64 = 0xf007_fee7;
/// Where the body of a file begins: after the magic number.
const FIRST_BODY: u64 = 8;
/// The most offsets that an index has. Older versions have fewer.
const MOST_OFFSETS: usize = 7;
/// The fewest offsets that an index has: of the header, the body, the footer and the keyvals.
const FEWEST_OFFSETS: usize = 4;
/// The most that is read of a part that has no records. There are at most as many sizes as there are handles.
const LONGEST_PART: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct DumpiRankFile {
    path: PathBuf,
    /// The offset of the first record, and of what follows the records.
    records: (u64, u64),
    /// The seconds that the wall clock had shown when the file was begun. Records count from there.
    started: u64,
    pub host: String,
    /// The version of the library.
    pub version: [u8; 3],
    /// The sizes of datatypes, by number; none in old files.
    pub sizes: Vec<i32>,
    /// The number of calls that were recorded, by function.
    pub calls: Vec<u32>,
    /// The number of calls that were made and not recorded, by function.
    pub ignored: Vec<u32>,
    /// Whether the file has no index, and so none of the tables: it was cut.
    pub is_cut: bool,
}

impl DumpiRankFile {
    /// Whether a file that begins with these bytes is one of DUMPI.
    pub(super) fn begins_with(head: &[u8]) -> bool {
        head.starts_with(&MAGIC.to_be_bytes())
    }

    pub(super) fn open(path: &Path) -> Result<Self, TraceError> {
        let mut file = Parts::open(path)?;
        if !Self::begins_with(&file.part(0, 8)?) {
            return Err(file.error("byte 0", "the file does not begin as DUMPI's do"));
        }
        let Some(index) = Index::read(&mut file)? else { return Self::cut(path, &mut file) };
        let (version, host) = header(&mut file, index.header)?;
        if version[0] == 0 {
            let [major, minor, patch] = version;
            let what = format!("version {major}.{minor}.{patch} of DUMPI; titr reads versions from 1.0 on");
            return Err(file.error("the header", &what));
        }
        let started = file.part(index.body, 8)?;
        let mut started = Cursor::new(&started);
        // The first number is for the clock of CPU time.
        let started = started.u32().and(started.u32()).ok_or_else(|| file.cut("the body", index.body))?;
        let sizes = if index.sizes == 0 { Vec::new() } else { sizes(&mut file, index.sizes)? };
        let (calls, ignored) = if index.footer == 0 { Default::default() } else { footer(&mut file, index.footer)? };
        let records = (index.body + 8, file.length);
        let started = u64::from(started);
        Ok(Self { path: path.into(), records, started, host, version, sizes, calls, ignored, is_cut: false })
    }

    /// A file without an index. Its records begin where they do in a whole one.
    fn cut(path: &Path, file: &mut Parts) -> Result<Self, TraceError> {
        let started = file.part(FIRST_BODY, 8)?;
        let mut started = Cursor::new(&started);
        let started = u64::from(started.u32().and(started.u32()).unwrap_or(0));
        Ok(Self {
            path: path.into(),
            records: ((FIRST_BODY + 8).min(file.length), file.length),
            started,
            host: String::new(),
            version: [0; 3],
            sizes: Vec::new(),
            calls: Vec::new(),
            ignored: Vec::new(),
            is_cut: true,
        })
    }

    /// The error for a reader who needs the whole file.
    ///
    /// # Errors
    /// If the file was cut.
    pub(super) fn whole(&self) -> Result<&Self, TraceError> {
        if !self.is_cut {
            return Ok(self);
        }
        Err(TraceError::Foreign {
            path: self.path.clone(),
            place: "its end".to_owned(),
            what: "the file has no index at its end: it was cut, or its program ended before MPI_Finalize; --partial takes \
                   what there is"
                .to_owned(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The records, from the first.
    pub(super) fn records(&self) -> Result<DumpiRecords, TraceError> {
        let (start, end) = self.records;
        let file = input::open(&self.path).map_err(TraceError::io(&self.path))?;
        let window = DumpiWindow::new(file, start, end).map_err(TraceError::io(&self.path))?;
        Ok(DumpiRecords::new(self.path.clone(), window, self.started))
    }

    /// The number of recorded calls of functions that make a communicator or a group; `None` if the file does not count
    /// calls.
    pub(super) fn communicator_calls(&self) -> Option<u64> {
        let counted = self.calls.iter().zip(0..);
        let counts = counted.filter(|&(_, number)| DumpiFunction(number).changes_communicators());
        (!self.calls.is_empty()).then(|| counts.map(|(&calls, _)| u64::from(calls)).sum())
    }
}

/// The offsets of the parts; 0 for one that there is not.
struct Index {
    sizes: u64,
    header: u64,
    body: u64,
    footer: u64,
}

impl Index {
    /// Reads the index at the end of the file: the magic number, and as many offsets as the version has. `None` if there is
    /// no index.
    fn read(file: &mut Parts) -> Result<Option<Self>, TraceError> {
        for number in (FEWEST_OFFSETS..=MOST_OFFSETS).rev() {
            let Some(at) = file.length.checked_sub(8 * (number as u64 + 1)) else { continue };
            let bytes = file.part(at, 8 * (number as u64 + 1))?;
            let mut bytes = Cursor::new(&bytes);
            if bytes.u64() == Some(MAGIC) {
                let offsets: Vec<u64> = std::iter::from_fn(|| bytes.u64()).collect();
                return Self::of(file, &offsets, at).map(Some);
            }
        }
        Ok(None)
    }

    fn of(file: &Parts, offsets: &[u64], end: u64) -> Result<Self, TraceError> {
        let from_last = |back: usize| offsets.len().checked_sub(back).and_then(|at| offsets.get(at)).copied();
        let [sizes, header, body, footer] = [7, 4, 3, 2].map(|back| from_last(back).unwrap_or(0));
        if header == 0 || body == 0 || [sizes, header, body, footer].iter().any(|&offset| offset > end) {
            let what = format!("offsets {offsets:?} in a file of {} bytes: the file is damaged", file.length);
            return Err(file.error("the index", &what));
        }
        Ok(Self { sizes, header, body, footer })
    }
}

fn header(file: &mut Parts, offset: u64) -> Result<([u8; 3], String), TraceError> {
    let part = file.part(offset, LONGEST_PART)?;
    let mut bytes = Cursor::new(&part);
    let mut read = || Some(([bytes.u8()?, bytes.u8()?, bytes.u8()?], bytes.u64().and(bytes.text())?));
    read().ok_or_else(|| file.cut("the header", offset))
}

fn sizes(file: &mut Parts, offset: u64) -> Result<Vec<i32>, TraceError> {
    let part = file.part(offset, LONGEST_PART)?;
    let sizes = Cursor::new(&part).integers().ok_or_else(|| file.cut("the sizes of datatypes", offset))?;
    Ok(sizes.collect())
}

fn footer(file: &mut Parts, offset: u64) -> Result<(Vec<u32>, Vec<u32>), TraceError> {
    let part = file.part(offset, LONGEST_PART)?;
    let mut bytes = Cursor::new(&part);
    if bytes.u64() != Some(FOOTER_MAGIC) {
        return Err(file.error(&format!("byte {offset}"), "the index names this place, but there is no footer"));
    }
    let mut counts = || (0..DumpiFunction::COUNTED).map(|_| bytes.u32()).collect::<Option<Vec<u32>>>();
    counts().zip(counts()).ok_or_else(|| file.cut("the footer", offset))
}

/// A file whose parts are read one by one.
struct Parts {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Parts {
    fn open(path: &Path) -> Result<Self, TraceError> {
        let mut file = input::open(path).map_err(TraceError::io(path))?;
        let length = file.seek(SeekFrom::End(0)).map_err(TraceError::io(path))?;
        Ok(Self { path: path.into(), file, length })
    }

    /// The bytes from `offset` on, at most `most` of them.
    fn part(&mut self, offset: u64, most: u64) -> Result<Vec<u8>, TraceError> {
        let mut part = Vec::new();
        self.file.seek(SeekFrom::Start(offset)).map_err(TraceError::io(&self.path))?;
        (&self.file).take(most).read_to_end(&mut part).map_err(TraceError::io(&self.path))?;
        Ok(part)
    }

    fn cut(&self, what: &str, offset: u64) -> TraceError {
        self.error(&format!("byte {offset}"), &format!("the file ends in {what}"))
    }

    fn error(&self, place: &str, what: &str) -> TraceError {
        TraceError::Foreign { path: self.path.clone(), place: place.to_owned(), what: what.to_owned() }
    }
}

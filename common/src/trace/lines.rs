//! Lines of a file, plain or gzipped, with bounded memory and precise errors about its end.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use super::error::TraceError;
use super::section::Section;
use crate::input::{BYTE_ORDER_MARK, other_encoding};

/// Lines longer than this are no trace. An `alltoallw` among 100,000 ranks takes about 2 MB.
const LONGEST_LINE: usize = 64 << 20;
/// Members up to this size are checked against their checksum before any of their lines is used; titr's own are far
/// smaller. Larger ones (a whole trace gzipped at once) are used as they are read.
const CHECKED_MEMBER: usize = 4 << 20;
/// The number of bytes that are read at a time.
const PIECE: usize = 16 << 10;

/// The lines of a file, one after another.
pub struct Lines {
    path: PathBuf,
    input: Unread,
    /// About how much text is in memory at most, unless a line is longer.
    kept: usize,
    /// Text that is read; from `start` on it is not yet given out.
    text: Vec<u8>,
    start: usize,
    /// The line given out last, in `text`.
    last: Range<usize>,
    /// Its number.
    line: u64,
}

/// The part of a file that is not read yet, by how it is read.
enum Unread {
    /// All of it, and how is not known yet.
    All(Section),
    Plain(Section),
    /// Gzip members; the next one begins here.
    Gzip(Section),
    /// The rest of a gzip member that was verified, which is larger than the buffer.
    BufferTail(Box<BufferTail>),
    /// The rest of a gzip member that is too large to check first.
    Member(Box<GzipMember>),
    Ended,
}

impl Unread {
    /// What follows a member.
    fn after(member: GzipMember) -> Self {
        let file = after(member);
        if file.is_at_end() { Self::Ended } else { Self::Gzip(file) }
    }
}

/// A gzip member of which only the beginning was delivered. Decompressing it again up to there takes less memory than
/// keeping its text, or a decoder's state, for each of thousands of files.
struct BufferTail {
    /// The beginning of the member.
    member: Section,
    /// The length of the text that was delivered.
    given: usize,
    /// The length of its text.
    length: usize,
}

/// A gzip member that is being unpacked.
type GzipMember = GzDecoder<BufReader<Section>>;

// A decoder has 44 KB of state, and thousands of files have one small member each: they share a decoder and a piece of text.
thread_local! {
    static DECODER: Cell<Option<GzipMember>> = const { Cell::new(None) };
    static TEXT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Lines {
    /// The lines of the file at `path`.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        Ok(Self::of(Section::open(path)?, CHECKED_MEMBER))
    }

    /// The lines of `file`, of whose text at most about `kept` bytes are in memory at a time.
    pub(super) fn of(file: Section, kept: usize) -> Self {
        let path = file.name().to_owned();
        Self { path, input: Unread::All(file), kept: kept.max(1), text: Vec::new(), start: 0, last: 0..0, line: 0 }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the line given out last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The line given out last.
    pub fn again(&self) -> &[u8] {
        self.text.get(self.last.clone()).unwrap_or_default()
    }

    /// The next line without its newline; `None` at the end.
    ///
    /// # Errors
    /// If the file cannot be read, or is empty.
    #[allow(clippy::should_implement_trait)] // The line is borrowed from the reader.
    pub fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let mut searched = self.start;
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.text[searched..]) {
                let line = self.start + self.mark()?..searched + length;
                self.give(line.clone());
                return Ok(Some(&self.text[line]));
            }
            let pending = self.text.len() - self.start;
            if pending > LONGEST_LINE {
                let (path, line) = (self.path.clone(), self.line + 1);
                return Err(TraceError::LongLine { path, line, limit: LONGEST_LINE });
            }
            self.text.drain(..self.start);
            self.start = 0;
            searched = pending;
            if !self.refill()? {
                if pending == 0 {
                    return Ok(None);
                }
                // A last line without a newline is a line.
                let line = self.mark()?..pending;
                self.give(line.clone());
                self.start = pending;
                return Ok(Some(&self.text[line]));
            }
        }
    }

    /// The next line is given out, with its newline.
    #[inline]
    fn give(&mut self, line: Range<usize>) {
        self.start = line.end + 1;
        self.line += 1;
        self.last = line;
    }

    /// The bytes of a byte-order mark before the next line, which only the first line may have.
    fn mark(&self) -> Result<usize, TraceError> {
        let text = &self.text[self.start..];
        if self.line > 0 {
            return Ok(0);
        }
        match other_encoding(text) {
            Some(encoding) => Err(TraceError::Directory { path: self.path.clone(), what: encoding.to_owned() }),
            None => Ok(if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }),
        }
    }

    /// Gives the next line to `take`, if all of it is in memory, and says whether `take` has taken it; if not, it is
    /// still the next one.
    #[inline]
    pub(super) fn next_if(&mut self, take: impl FnOnce(&[u8]) -> bool) -> bool {
        let Some(length) = memchr::memchr(b'\n', &self.text[self.start..]) else { return false };
        let line = self.start..self.start + length;
        let taken = take(&self.text[line.clone()]);
        if taken {
            self.give(line);
        }
        taken
    }

    /// Reads more text; false at the end of the file.
    fn refill(&mut self) -> Result<bool, TraceError> {
        let mut piece = TEXT.take();
        piece.resize(PIECE, 0);
        let refilled = self.refill_by(&mut piece);
        TEXT.set(piece);
        refilled
    }

    /// Reads more text by pieces; false at the end of the file.
    fn refill_by(&mut self, piece: &mut [u8]) -> Result<bool, TraceError> {
        let before = self.text.len();
        while self.text.len() == before {
            match std::mem::replace(&mut self.input, Unread::Ended) {
                Unread::Ended => {
                    self.text.shrink_to_fit();
                    return Ok(false);
                }
                Unread::All(mut file) => {
                    // One byte is enough: no text starts with gzip's first (RFC 1952 §2.3.1), and a file torn after it is known.
                    self.input = match file.first().map_err(TraceError::io(&self.path))? {
                        None => return Err(TraceError::Empty { path: self.path.clone() }),
                        Some(0x1f) => Unread::Gzip(file),
                        Some(_) => Unread::Plain(file),
                    };
                }
                Unread::Plain(mut file) => {
                    let room = PIECE.min(self.room());
                    let read = read_some(&mut file, &mut piece[..room]).map_err(TraceError::io(&self.path))?;
                    self.append(&piece[..read]);
                    if read > 0 {
                        self.input = Unread::Plain(file);
                    }
                }
                Unread::Gzip(file) => self.member(file, piece)?,
                Unread::BufferTail(rest) => self.rest(*rest, piece).map_err(|error| self.torn(&error))?,
                Unread::Member(mut member) => match read_some(&mut member, piece) {
                    Ok(0) => self.input = Unread::after(*member),
                    Ok(read) => {
                        self.append(&piece[..read]);
                        self.input = Unread::Member(member);
                    }
                    Err(error) => return Err(self.torn(&error)),
                },
            }
        }
        Ok(true)
    }

    /// Adds text that was read, and takes no more memory than for that.
    fn append(&mut self, text: &[u8]) {
        self.text.reserve_exact(text.len());
        self.text.extend_from_slice(text);
    }

    /// The number of bytes that may be added to the present text.
    fn room(&self) -> usize {
        self.kept.checked_sub(self.text.len()).filter(|&room| room > 0).unwrap_or(self.kept)
    }

    /// Unpacks the member that begins here, so that its checksum is known to be right, or its first part if it is large.
    fn member(&mut self, file: Section, piece: &mut [u8]) -> Result<(), TraceError> {
        let start = file.clone();
        let mut member = begun(file);
        if member.get_mut().fill_buf().map_err(TraceError::io(&self.path))?.is_empty() {
            after(member);
            return Ok(());
        }
        let (before, room, mut length) = (self.text.len(), self.room(), 0);
        loop {
            let read = match read_some(&mut member, piece) {
                Ok(read) => read,
                Err(error) => {
                    self.text.truncate(before);
                    return Err(self.torn(&error));
                }
            };
            let given = length.min(room);
            length += read;
            self.append(&piece[..length.min(room) - given]);
            let given = length.min(room);
            self.input = match read {
                0 if given == length => Unread::after(member),
                0 => {
                    after(member);
                    Unread::BufferTail(Box::new(BufferTail { member: start, given, length }))
                }
                _ if length <= CHECKED_MEMBER => continue,
                _ if given == length => Unread::Member(Box::new(member)),
                _ => Unread::Member(Box::new(skipped(start, given).map_err(|error| self.torn(&error))?)),
            };
            return Ok(());
        }
    }

    /// Unpacks more of a member that was checked.
    fn rest(&mut self, rest: BufferTail, piece: &mut [u8]) -> io::Result<()> {
        let mut member = skipped(rest.member.clone(), rest.given)?;
        let end = rest.length.min(rest.given + self.room());
        let mut given = rest.given;
        while given < end {
            let room = piece.len().min(end - given);
            match read_some(&mut member, &mut piece[..room])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => {
                    self.append(&piece[..read]);
                    given += read;
                }
            }
        }
        self.input = if given < rest.length {
            Unread::BufferTail(Box::new(BufferTail { given, ..rest }))
        } else {
            // Nothing but the checksum is left.
            while read_some(&mut member, piece)? > 0 {}
            Unread::after(member)
        };
        Ok(())
    }

    fn torn(&self, error: &io::Error) -> TraceError {
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => "the file ends within a gzip member".to_owned(),
            _ => format!("the gzip member that follows is damaged ({error})"),
        };
        TraceError::Torn { path: self.path.clone(), line: self.line, reason }
    }
}

/// The member that begins at `file`.
fn begun(file: Section) -> GzipMember {
    let new = || GzDecoder::new(BufReader::with_capacity(PIECE, Section::default()));
    let mut member = DECODER.take().unwrap_or_else(new);
    let mut reader = std::mem::replace(member.get_mut(), BufReader::with_capacity(0, Section::default()));
    reader.consume(reader.buffer().len());
    *reader.get_mut() = file;
    member.reset(reader);
    member
}

/// The member that begins at `file`, from after the first `given` bytes of its text on.
fn skipped(file: Section, given: usize) -> io::Result<GzipMember> {
    let mut member = begun(file);
    let passed = io::copy(&mut member.by_ref().take(given as u64), &mut io::sink())?;
    if passed == given as u64 { Ok(member) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The file from where a member ended.
fn after(mut member: GzipMember) -> Section {
    let reader = member.get_mut();
    let ahead = reader.buffer().len() as u64;
    let mut file = std::mem::take(reader.get_mut());
    file.back(ahead);
    DECODER.set(Some(member));
    file
}

/// Reads some of `input`: how much, and nothing only at its end.
fn read_some(input: &mut impl Read, piece: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    proptest! {
        /// A text has the same lines for any division into members, some of which may be empty, and any buffer size.
        #[test]
        fn a_text_has_the_same_lines_however_it_is_cut(
            words in prop::collection::vec("(\u{feff})?[a-c]{0,40}", 0..60),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
            kept in 1_usize..200,
            ends in any::<bool>(),
        ) {
            let mut text = words.join("\n");
            text.push_str(if ends { "\n" } else { "" });
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let packed: Vec<u8> = cuts.windows(2).flat_map(|cut| member(&text.as_bytes()[cut[0]..cut[1]])).collect();
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), packed).unwrap();
            let mut read = Lines::of(Section::closed(file.path().into()), kept);
            let without_mark = text.strip_prefix('\u{feff}').unwrap_or(&text);
            for line in without_mark.split_terminator('\n') {
                prop_assert_eq!(read.next().unwrap(), Some(line.as_bytes()));
            }
            prop_assert_eq!(read.next().unwrap(), None);
            prop_assert_eq!(read.next().unwrap(), None);
        }
    }

    /// Three lists of lines, each a member; the last is larger than the part that is verified.
    fn members() -> [String; 3] {
        [10, 20_000, 500_000].map(|lines| (0..lines).map(|line| format!("line {line}\n")).collect())
    }

    fn lines(path: &Path, kept: usize) -> (Vec<u8>, usize) {
        let mut lines = Lines::of(Section::closed(path.into()), kept);
        let (mut text, mut most) = (Vec::new(), 0);
        while let Some(line) = lines.next().unwrap() {
            text.extend_from_slice(line);
            text.push(b'\n');
            most = most.max(lines.text.capacity());
        }
        (text, most)
    }

    #[test]
    fn a_file_reads_alike_however_little_of_it_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let (gzip, plain) = (directory.path().join("gzip"), directory.path().join("plain"));
        let members = members();
        std::fs::write(&plain, members.concat()).unwrap();
        std::fs::write(&gzip, members.each_ref().map(|text| member(text.as_bytes())).concat()).unwrap();
        for kept in [100_000, CHECKED_MEMBER] {
            assert!(lines(&gzip, kept).0 == members.concat().as_bytes(), "{kept}");
            assert!(lines(&plain, kept).0 == members.concat().as_bytes(), "{kept}");
        }
    }

    #[test]
    fn no_more_text_is_in_memory_than_was_said() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("gzip");
        let text = &members()[1];
        std::fs::write(&path, member(text.as_bytes())).unwrap();
        for kept in [1000, 8 << 10, 64 << 10] {
            let (read, most) = lines(&path, kept);
            assert!(read == text.as_bytes());
            assert!(most <= kept, "{most} bytes where {kept} were said");
        }
    }
}

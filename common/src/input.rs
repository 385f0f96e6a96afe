//! Input files named by users: traces, platforms, tables.
//!
//! A regular file is opened directly. A pipe (a FIFO, `/dev/stdin`, `<(command)`) can be read only once, but most files
//! are read more than once: the pipe is copied to a temporary file, from which every later opening of the same name
//! reads. Directories and devices are rejected. What a command has opened here is none of its [outputs](crate::output). Small files are read as a whole ([`read`], [`read_text`]), up to a
//! limit.

use std::collections::BTreeMap;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, BufReader, Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{env, process, thread};

use flate2::bufread::MultiGzDecoder;

use crate::format::volume;
use crate::output;
use crate::terminal::say;
use crate::units::Bytes;

/// The most that is read of a file that people write.
pub const WRITTEN_BY_HAND: Bytes = Bytes(64 << 20);
/// The most that is read of a file that a program writes, such as a result or a platform of many routes.
pub const WRITTEN_BY_PROGRAM: Bytes = Bytes(1 << 30);

/// Time that a pipe may have no writer before standard error reports it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The first bytes of a text in UTF-8 that some editors write.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The pipes that were copied, by their names.
static COPIES: Mutex<BTreeMap<PathBuf, File>> = Mutex::new(BTreeMap::new());

/// Opens a file for reading from its beginning. A pipe is copied first.
///
/// # Errors
/// If there is no such file, it is a directory or a device, or standard output goes there.
pub fn open(path: &Path) -> io::Result<File> {
    open_up_to(path, u64::MAX)
}

/// Records that a file is an input, which is going to be opened when it is needed.
///
/// # Errors
/// If there is no such file, or standard output goes there.
pub fn announce(path: &Path) -> io::Result<()> {
    Ok(output::read(&fs::metadata(path)?, None)?)
}

/// Opens a file, as [`open`] does. A gzipped file is unpacked first, to a temporary file.
///
/// # Errors
/// As [`open`], and if a gzipped file is torn or the temporary file cannot be written.
pub fn open_unpacked(path: &Path) -> io::Result<File> {
    let mut file = open(path)?;
    let mut first = [0];
    let read = file.read(&mut first)?;
    file.rewind()?;
    if (read, first) != (1, [0x1f]) {
        return Ok(file);
    }
    let mut copy = copy(MultiGzDecoder::new(BufReader::new(file)))?;
    copy.rewind()?;
    Ok(copy)
}

/// The contents of a small file, of at most `most` bytes.
///
/// # Errors
/// As [`open`], and if the file is larger.
pub fn read(path: &Path, most: Bytes) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    up_to(open_up_to(path, most.0)?, most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a small file, of at most `most` bytes, without a byte-order mark.
///
/// # Errors
/// As [`read`], and if the file is not valid UTF-8.
pub fn read_text(path: &Path, most: Bytes) -> io::Result<String> {
    let mut bytes = read(path, most)?;
    if let Some(encoding) = other_encoding(&bytes) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, encoding));
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + memchr::memchr_iter(b'\n', &error.as_bytes()[..at]).count();
        io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is no text in UTF-8"))
    })
}

/// Advice for a text that begins with `head` and is not UTF-8; `None` if its encoding is unknown.
#[must_use]
pub fn other_encoding(head: &[u8]) -> Option<&'static str> {
    let are_of_text =
        |one: u8, other: u8| [one, other].iter().all(|&byte| matches!(byte, b'\t' | b'\r' | b'\n' | b' '..=b'~'));
    let is_utf_16 = match *head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [0, one, 0, other, ..] | [one, 0, other, 0, ..] => are_of_text(one, other),
        _ => false,
    };
    is_utf_16.then_some("the text is UTF-16: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)")
}

/// A reader of `input`, which fails where there is more than `most`.
pub(crate) fn up_to(input: impl Read, most: Bytes) -> impl Read {
    Limited { input, most, left: most.0 }
}

/// The kind of a file that cannot be read like a regular one, in words; `None` for a regular file and a pipe.
pub(crate) fn unreadable_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_dir() {
        Some("a directory where a file is expected")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("a device or a terminal where a file or a pipe is expected")
    } else if kind.is_socket() {
        Some("a socket where a file or a pipe is expected")
    } else {
        None
    }
}

/// The error of a file that is missing, with the name of one that may be meant.
pub(crate) fn with_near(path: &Path, error: io::Error) -> io::Error {
    match near(path).filter(|_| error.kind() == io::ErrorKind::NotFound) {
        Some(near) => io::Error::new(error.kind(), format!("{error}; did you mean {}?", near.display())),
        None => error,
    }
}

/// What has the name of `path` in a directory nearby, or almost its name beside it.
fn near(path: &Path) -> Option<PathBuf> {
    /// The most files of a directory that are looked at.
    const MOST: usize = 1000;
    let (parent, name) = (path.parent()?, path.file_name()?);
    let here = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let beside = fs::read_dir(here).into_iter().flatten().flatten().take(MOST);
    let mut beside: Vec<PathBuf> = beside.map(|entry| parent.join(entry.file_name())).collect();
    beside.sort();
    let elsewhere = [PathBuf::from(name), parent.join("..").join(name)];
    let same = beside.iter().map(|directory| directory.join(name)).chain(elsewhere).find(|path| path.exists());
    let name = name.to_string_lossy();
    let differs = |path: &PathBuf| strsim::levenshtein(&name, &path.file_name().unwrap_or_default().to_string_lossy());
    // Another number is another file.
    let is_near = |path: &&PathBuf| {
        4 * differs(path) <= name.len()
            && letters(&path.file_name().unwrap_or_default().to_string_lossy()) != letters(&name)
    };
    let almost = || beside.iter().filter(is_near).min_by_key(|path| differs(path)).cloned();
    same.or_else(almost)
}

fn letters(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

fn open_up_to(path: &Path, most: u64) -> io::Result<File> {
    // The kind is asked before the file is opened: opening a FIFO waits for a writer, and reading a device may never end.
    let found = fs::metadata(path).map_err(|error| with_near(path, error))?;
    output::read(&found, None)?;
    let kind = found.file_type();
    match unreadable_kind(kind) {
        Some(what) => Err(io::Error::new(io::ErrorKind::InvalidInput, what)),
        None if kind.is_fifo() => copy_of_pipe(path, most),
        None => File::open(path),
    }
}

/// The copy of a pipe, which is made at the first request. It has no name, so it disappears when titr ends.
fn copy_of_pipe(path: &Path, most: u64) -> io::Result<File> {
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    if !copies.contains_key(path) {
        let pipe = up_to(open_pipe(path)?, Bytes(most));
        let copy = copy(pipe).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => error,
            kind => io::Error::new(kind, format!("cannot copy the pipe to {}: {error}", env::temp_dir().display())),
        })?;
        copies.insert(path.to_owned(), copy);
    }
    let fd = copies.get(path).map_or(-1, File::as_raw_fd);
    File::open(format!("/proc/self/fd/{fd}"))
}

fn copy(mut pipe: impl Read) -> io::Result<File> {
    let name = env::temp_dir().join(format!(".titr-pipe-{}-{:p}", process::id(), &raw const pipe));
    let mut copy = OpenOptions::new().read(true).write(true).create_new(true).open(&name)?;
    fs::remove_file(&name)?;
    io::copy(&mut pipe, &mut copy)?;
    Ok(copy)
}

/// Opens a pipe, and reports on standard error that it waits if there is no writer.
fn open_pipe(path: &Path) -> io::Result<File> {
    let (opened, is_open) = channel::<()>();
    let shown = path.display().to_string();
    let watch = thread::Builder::new().spawn(move || {
        if is_open.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            say(format_args!("titr: waiting until a program writes to the pipe {shown}"));
        }
    });
    let pipe = File::open(path);
    drop(opened);
    // Without the watch the pipe is read all the same.
    drop(watch);
    pipe
}

/// A reader with a limit.
struct Limited<R> {
    input: R,
    most: Bytes,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A byte more than allowed tells a file that ends here from one that is too large.
        let room = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.input.read(&mut buffer[..room])?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                let what = format!("larger than {}, the most that is read of such a file", volume(self.most));
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_text_has_no_byte_order_mark_and_is_utf_8() {
        let folder = tempfile::tempdir().unwrap();
        let read = |bytes: &[u8]| {
            let path = folder.path().join("file");
            fs::write(&path, bytes).unwrap();
            read_text(&path, Bytes(100)).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"\xef\xbb\xbfa = 1\n"), Ok("a = 1\n".to_owned()));
        assert_eq!(read(b""), Ok(String::new()));
        for utf_16 in [&b"\xff\xfea\0 \0"[..], b"\xfe\xff\0a\0 ", b"<\0?\0", b"\0<\0?"] {
            assert!(read(utf_16).unwrap_err().contains("UTF-16"), "{utf_16:?}");
        }
        assert_eq!(read(b"a\nb\n\xff\n"), Err("line 3 is no text in UTF-8".to_owned()));
    }

    #[test]
    fn a_file_is_read_up_to_the_limit_and_no_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(super::read(&path, Bytes(5)).unwrap(), b"12345");
        let error = super::read(&path, Bytes(4)).unwrap_err().to_string();
        assert_eq!(error, "larger than 4 B, the most that is read of such a file");
        // A terabyte without a block on disk.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(super::read(&path, Bytes(4)).is_err());
    }

    #[test]
    fn directories_and_devices_are_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/dev/zero", &link).unwrap();
        let refusal = |path: &Path| open(path).unwrap_err().to_string();
        assert_eq!(refusal(&link), "a device or a terminal where a file or a pipe is expected");
        assert_eq!(refusal(folder.path()), "a directory where a file is expected");
    }

    #[test]
    fn a_pipe_can_be_read_more_than_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let writer = {
            let path = path.clone();
            thread::spawn(move || OpenOptions::new().write(true).open(path).unwrap().write_all(b"text").unwrap())
        };
        for _ in 0..3 {
            assert_eq!(super::read(&path, Bytes(100)).unwrap(), b"text");
        }
        writer.join().unwrap();
    }
}

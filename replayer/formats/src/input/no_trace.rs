//! Files that users give in place of a trace, each named for what it is.

use std::fs;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use titr_common::format::counted;
use titr_common::input;
use titr_common::trace::{Candidate, Trace, TraceError, TraceFormat, directory};

use super::{FOREIGN, Readings};

/// A file that is no trace. Asked after the formats of other tools, and before titr's own, which take every text.
pub(super) struct NoTrace;

impl TraceFormat for NoTrace {
    fn name(&self) -> &'static str {
        "no trace"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        described(candidate).is_some()
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or(Path::new(""));
        let what = described(&Candidate::new(paths)?).unwrap_or_else(|| "no trace".to_owned());
        Err(TraceError::Directory { path: path.to_owned(), what })
    }
}

/// What a trace may be, for messages.
const LOOKED_FOR: &str = "no trace of titr, SimGrid, OTF2, DUMPI, liballprof, Paraver, GOAL or Chakra";

/// The most traces of a directory that a message names.
const NAMED: usize = 5;

/// A beginning of a file, and what has it.
const BEGINNINGS: [(&[u8], &str); 11] = [
    (b"\x7fELF", "a program or a library, not a trace: `mpirun -np N titrace PROGRAM` records one"),
    (b"#!", "a script, not a trace: `mpirun -np N titrace SCRIPT` records what it runs"),
    (b"PK\x03\x04", "a ZIP archive: unpack it, and give the trace in it"),
    (b"\xfd7zXZ\0", "compressed by xz: unpack it (unxz), and give the trace in it"),
    (b"BZh", "compressed by bzip2: unpack it (bunzip2), and give the trace in it"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it (unzstd), and give the trace in it"),
    (b"<?xml", "an XML file, such as a platform of SimGrid's, which --platform takes"),
    (b"<!DOCTYPE html", "a page for a browser, not a trace"),
    (b"<!doctype html", "a page for a browser, not a trace"),
    (b"p0 ", "a trace of SimGrid up to 3.10, whose format titr no longer reads: record it with a newer SimGrid"),
    (b"{", "a JSON object, such as a result or a manifest: give the directory of the trace"),
];

/// A sentence about a file that is no trace; `None` if it may be one.
fn described(candidate: &Candidate) -> Option<String> {
    if let Some(directory) = candidate.directory() {
        return of_directory(directory).map(|what| part_of(directory).unwrap_or(what));
    }
    let path = candidate.file()?;
    if let Some(what) = part_of(path) {
        return Some(what);
    }
    let head = &candidate.head;
    let is_binary = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    if let Some((_, what)) = BEGINNINGS.iter().find(|(beginning, _)| head.trim_ascii_start().starts_with(beginning)) {
        return Some((*what).to_owned());
    }
    if head.starts_with(b"\x1f\x8b") && is_archive(path) {
        return Some("a compressed archive: unpack it (tar xzf), and give the trace in it".to_owned());
    }
    let line = candidate.first_line().ok()??;
    let line = line.trim_ascii();
    let may_be_text = input::other_encoding(head).is_some() || head.get(USTAR) == Some(b"ustar");
    if !may_be_text && !line.first().is_some_and(u8::is_ascii_digit) && line.iter().any(is_binary) {
        return Some(format!("{LOOKED_FOR}, but a binary file of another kind"));
    }
    let is_table = line.starts_with(b"[") && line.ends_with(b"]");
    let is_key = before(line, b'=').is_some_and(|key| !key.is_empty() && key.iter().all(is_of_key));
    (is_table || is_key).then(|| "a TOML file, such as a platform, which --platform takes".to_owned())
}

/// A sentence about a file or directory of a trace that another file stands for.
fn part_of(path: &Path) -> Option<String> {
    let with = |ending: &str| path.with_extension(ending);
    let whole = match path.extension().unwrap_or_default().as_encoded_bytes() {
        b"pcf" | b"row" => [with("prv"), with("prv.gz")],
        b"def" | b"evt" => [with("otf2"), path.parent()?.with_extension("otf2")],
        b"" => [with("otf2"), with("otf2")],
        _ => return None,
    };
    let whole = whole.into_iter().find(|whole| whole.is_file())?;
    Some(format!("a part of a trace: give {}, which stands for all of it", whole.display()))
}

/// The part of a text before a byte, without blanks around it.
fn before(text: &[u8], byte: u8) -> Option<&[u8]> {
    let at = text.iter().position(|&one| one == byte)?;
    text.get(..at).map(<[u8]>::trim_ascii)
}

fn is_of_key(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-\"".contains(byte)
}

/// The place of the magic word of an archive (POSIX ustar).
const USTAR: Range<usize> = 257..262;

/// Whether a gzipped file is an archive of files.
fn is_archive(path: &Path) -> bool {
    let mut head = Vec::new();
    let unpacked = input::open(path).map(GzDecoder::new);
    unpacked.is_ok_and(|file| file.take(USTAR.end as u64).read_to_end(&mut head).is_ok())
        && head.get(USTAR) == Some(b"ustar")
}

/// A sentence about a directory with streams of SimGrid's but no manifest of titr's.
fn of_directory(directory: &Path) -> Option<String> {
    let entries = fs::read_dir(directory).ok()?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).take(1000).collect();
    files.sort();
    if files.is_empty() {
        return Some("an empty directory, not a trace".to_owned());
    }
    let is_of_titr = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("rank-") && (name.ends_with(".json") || name.contains(".tit"))
    };
    if files.contains(&directory::manifest(directory)) || files.iter().any(is_of_titr) {
        return None;
    }
    let first_line = |file: &PathBuf| Candidate::new(&[file]).ok()?.first_line().ok()?;
    let names_another = |file: &&PathBuf| {
        let line = first_line(file).and_then(|line| String::from_utf8(line).ok()).unwrap_or_default();
        let name = Path::new(line.trim()).file_name();
        name.is_some_and(|name| files.iter().any(|other| other != *file && other.file_name() == Some(name)))
    };
    if let Some(index) = files.iter().filter(|file| file.is_file()).take(NAMED).find(names_another) {
        return Some(format!("a directory of streams: give {}, which lists them", index.display()));
    }
    let first = files.iter().find(|file| file.is_file());
    let line = first.and_then(first_line).unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace);
    if words.next().is_some_and(|rank| !rank.is_empty() && rank.iter().all(u8::is_ascii_digit))
        && words.next() == Some(b"init")
    {
        return Some(
            "streams of single ranks, as SimGrid writes them: give the file that lists them, a line for each rank, which is \
             mostly beside this directory"
                .to_owned(),
        );
    }
    let near: Vec<_> = files.iter().filter(|path| is_trace(path)).map(|path| path.display().to_string()).collect();
    let found = match near.as_slice() {
        [] => String::new(),
        near => format!("; give what is in it: {}", near.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", or ")),
    };
    let (files, directories): (Vec<_>, Vec<_>) = files.iter().partition(|path| path.is_file());
    let (files, directories) =
        (counted(files.len() as u64, "file", "files"), counted(directories.len() as u64, "directory", "directories"));
    Some(format!("{LOOKED_FOR}, but {files} and {directories}{found}"))
}

/// Whether a file or a directory is a trace that has a name of its own.
fn is_trace(path: &Path) -> bool {
    let (paths, readings) = ([path], Readings::default());
    let Ok(candidate) = Candidate::new(&paths) else { return false };
    let is_known = || FOREIGN[..FOREIGN.len() - 1].iter().any(|format| format(&readings).recognises(&candidate));
    directory::manifest(path).is_file() || candidate.head.get(USTAR) == Some(b"ustar") || is_known()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// The sentence about a file with this content.
    fn about(content: &[u8]) -> Option<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, content).unwrap();
        described(&Candidate::new(&[&path]).unwrap())
    }

    fn gzipped(content: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(content).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn files_that_are_no_traces_are_named() {
        let mut archive = vec![0_u8; 512];
        archive[257..262].copy_from_slice(b"ustar");
        let cases: [(&[u8], &str); 7] = [
            (b"\x7fELF\x02\x01", "a program"),
            (b"# a platform\nschema = 1\n", "a TOML file"),
            (b"[hosts]\n", "a TOML file"),
            (b"<?xml version='1.0'?>", "an XML file"),
            (b"\n{\"simulated_time\":1}", "a JSON object"),
            (b"#!/bin/sh\n", "a script"),
            (&gzipped(&archive), "a compressed archive"),
        ];
        for (content, what) in cases {
            assert!(about(content).is_some_and(|said| said.starts_with(what)), "{what}: {:?}", about(content));
        }
    }

    #[test]
    fn traces_and_lists_of_traces_may_be_traces() {
        for content in [&b"0 init\n0 finalize\n"[..], b"traces/rank-0.txt\n", b"", b"# nothing\n"] {
            assert_eq!(about(content), None, "{content:?}");
        }
        assert_eq!(about(&gzipped(b"0 init\n")), None);
    }

    #[test]
    fn a_directory_of_streams_wants_its_index() {
        let directory = tempfile::tempdir().unwrap();
        let about = || described(&Candidate::new(&[directory.path()]).unwrap());
        assert_eq!(about().as_deref(), Some("an empty directory, not a trace"));
        fs::write(directory.path().join("rank-0.txt"), "0 init\n").unwrap();
        assert!(about().is_some_and(|said| said.starts_with("streams of single ranks")));
        fs::write(directory.path().join("manifest.json"), "{}").unwrap();
        assert_eq!(about(), None);
    }

    #[test]
    fn a_part_of_a_trace_names_the_file_that_stands_for_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("traces")).unwrap();
        for name in ["traces.otf2", "traces.def", "traces/0.evt", "lu.prv", "lu.pcf", "lu.row"] {
            fs::write(path(name), "x").unwrap();
        }
        for (part, whole) in [("traces", "traces.otf2"), ("traces/0.evt", "traces.otf2"), ("lu.row", "lu.prv")] {
            let said = described(&Candidate::new(&[path(part).as_path()]).unwrap()).unwrap();
            assert!(said.contains(&format!("give {}", path(whole).display())), "{said}");
        }
    }
}

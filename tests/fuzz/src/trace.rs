//! Complete traces, in a file or in an archive.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use flate2::Compression;
use flate2::read::GzEncoder;
use titr_common::event::Rank;
use titr_common::trace::{ArchiveWriter, Trace, TraceError};

use crate::{folder, has_wide_range};

/// Ranks whose events are read.
const RANKS: u32 = 8;

/// A trace in one file: the bytes as they are, or, where the first says so, as the text in gzip members, one for each
/// zero byte, cut where the second byte says.
///
/// # Panics
/// If a file cannot be written.
pub fn stream(data: &[u8]) {
    if has_wide_range(data) {
        return;
    }
    let bytes = match data {
        [b'z', cut, text @ ..] => {
            let mut members: Vec<u8> = text.split(|&byte| byte == 0).flat_map(member).collect();
            members.truncate(members.len() - members.len() * usize::from(*cut) / 256);
            members
        }
        bytes => bytes.to_owned(),
    };
    let file = folder().join("trace");
    fs::write(&file, bytes).unwrap();
    read_all(Trace::open(&file));
}

/// The files of a trace of two ranks.
const PIECES: [&str; 6] = [
    "manifest.json",
    "rank-000000.json",
    "rank-000000.tit.gz",
    "rank-000001.json",
    "rank-000001.tit.gz",
    "ranks-000000.tit.gz",
];

/// A trace in an archive: the bytes as they are, or, where the first says so, one of these pieces, which zero bytes
/// end. The next byte says which of them are in the archive and which in a directory beside it; then three say which
/// byte of the archive is damaged, and how.
///
/// # Panics
/// If a file cannot be written.
pub fn archive(data: &[u8]) {
    if has_wide_range(data) {
        return;
    }
    let (folder, archive) = (folder().join("one"), folder().join("archive"));
    drop(fs::remove_file(&archive));
    let [b'a', inside, high, low, damage, pieces @ ..] = data else {
        fs::write(&archive, data).unwrap();
        return read_all(Trace::open(&archive));
    };
    let mut writer = ArchiveWriter::create_at(&archive, Ok).unwrap();
    let pieces = pieces.split(|&byte| byte == 0).map(Some).chain([None; PIECES.len()]);
    for ((place, name), piece) in PIECES.into_iter().enumerate().zip(pieces) {
        let bytes = piece.map(|piece| if name.ends_with(".gz") { member(piece) } else { piece.to_owned() });
        drop(fs::remove_file(folder.join(name)));
        let Some(bytes) = bytes else { continue };
        if inside >> place & 1 == 1 {
            writer.begin(Path::new(name), bytes.len() as u64).and_then(|()| writer.write(&bytes)).unwrap();
        } else {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
    writer.finish().unwrap();
    let mut packed = fs::read(&archive).unwrap();
    let at = usize::from(u16::from_be_bytes([*high, *low])) % packed.len();
    packed[at] ^= damage;
    seal(&mut packed[at / BLOCK * BLOCK..][..BLOCK]);
    fs::write(&archive, packed).unwrap();
    read_all(Trace::open(&archive));
    read_all(Trace::open_all(&[&folder, &archive]));
}

/// The unit of an archive.
const BLOCK: usize = 512;

/// Gives a header the correct sum of its bytes, so that a reader does not stop at the sum (pax, "ustar Interchange
/// Format").
fn seal(block: &mut [u8]) {
    if block[257..262] == *b"ustar" {
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
}

/// Reads the first ranks of a trace.
fn read_all(source: Result<Trace, TraceError>) {
    let Ok(source) = source else { return };
    let source = source.partial(true);
    for rank in 0..source.ranks().min(RANKS) {
        let Ok(mut stream) = source.stream(Rank(rank)) else { return };
        while matches!(stream.next_event(), Ok(Some(_))) {}
    }
}

/// A text as a gzip member.
fn member(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(text, Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

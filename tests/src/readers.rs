//! Every reader of a file that somebody else may have written, as a function of bytes: what the fuzz targets run, and
//! what the tests run on the inputs that fuzzing found. Whatever the bytes, a reader ends, with what it read or with an
//! error that can be shown, and what it read it can write and read again.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzEncoder;
use miette::{GraphicalReportHandler, GraphicalTheme};
use tempfile::TempDir;
use titr_common::event::{CommId, Event, Rank};
use titr_common::event_buffer::{EventBuffer, EventRef};
use titr_common::grammar::{EventReader, EventWriter, Parser, write_event};
use titr_common::trace::{ArchiveWriter, Manifest, Trace, TraceError};
use titr_network::topology::{HostId, Topology};
use titr_platform::Platform;

/// The world that lines are read in.
const WORLD: u32 = 8;
/// Ranks whose events are read.
const RANKS: u32 = 8;
/// Hosts that routes are asked between.
const HOSTS: u32 = 8;

/// Reads whatever it is given.
pub type Reader = fn(&[u8]);

/// The readers, each by the name of its fuzz target and of the folder with its seeds.
pub const ALL: [(&str, Reader); 6] = [
    ("lines", lines),
    ("stream", stream),
    ("manifest", manifest),
    ("archive", archive),
    ("platform", platform),
    ("simgrid", simgrid),
];

/// Lines of a rank's trace, up to the first that is wrong or another rank's.
///
/// # Panics
/// Where what was read is not what is read after it was written.
pub fn lines(data: &[u8]) {
    if has_wide_range(data) {
        return;
    }
    let mut reader = EventReader::new(WORLD);
    if data.first().is_some_and(|first| first % 2 == 1) {
        reader.remember();
    }
    let (mut rank, mut sizes) = (None, HashMap::new());
    let mut events = Vec::new();
    for line in data.split(|&byte| byte == b'\n') {
        let mut read = EventBuffer::default();
        match reader.line(line, &mut read) {
            Ok(actor) if actor.is_none_or(|actor| *rank.get_or_insert(actor.rank) == actor.rank) => {
                let read: Vec<Event> = read.iter().map(EventRef::to_event).collect();
                // What comes again may be older than its communicator: a replay refuses it, and no writer writes it.
                if read.iter().any(|event| changes_size(event, &mut sizes)) {
                    break;
                }
                events.extend(read);
            }
            Ok(_) | Err(_) => break,
        }
    }
    let rank = rank.unwrap_or(Rank(0));
    let (mut spelled, mut again) = (Vec::new(), Vec::new());
    let mut writer = EventWriter::new(rank);
    for event in &events {
        write_event(&mut spelled, rank, event);
        writer.write(&mut again, event);
    }
    writer.end_line(&mut again);

    let mut parser = Parser::new(WORLD);
    let mut twice = Vec::new();
    for line in spelled.split_inclusive(|&byte| byte == b'\n') {
        let read = parser.line(line.trim_ascii_end()).unwrap_or_else(|error| panic!("{error}: {}", text(line)));
        let (actor, event) = read.unwrap_or_else(|| panic!("no event: {}", text(line)));
        write_event(&mut twice, actor, &event);
    }
    assert!(spelled == twice, "{}\n---\n{}", text(&spelled), text(&twice));

    let mut reader = EventReader::new(WORLD);
    reader.remember();
    let mut events = EventBuffer::default();
    for line in again.split(|&byte| byte == b'\n') {
        reader.line(line, &mut events).unwrap_or_else(|error| panic!("{error}: {}", text(line)));
    }
    let mut unfolded = Vec::new();
    events.iter().for_each(|moment| write_event(&mut unfolded, rank, &moment.to_event()));
    assert!(spelled == unfolded, "{}\n---\n{}\n---\n{}", text(&spelled), text(&again), text(&unfolded));
}

/// Whether an event makes a communicator under the number of one that had more or fewer members.
fn changes_size(event: &Event, sizes: &mut HashMap<CommId, usize>) -> bool {
    let Event::CommCreate(_, _, Some(group)) = event else { return false };
    let size = group.members.len();
    *sizes.entry(group.id).or_insert(size) != size
}

/// Whether there might be a list of millions, `0-4000000`, which rightly takes its time: how long it may be is tested where
/// lists are read.
fn has_wide_range(data: &[u8]) -> bool {
    let mut ends = data.split(|&byte| byte == b'-').skip(1);
    ends.any(|end| end.iter().take_while(|byte| byte.is_ascii_digit()).count() > 4)
}

/// A trace in one file: the bytes as they are, or, where the first says so, as the text in gzip members, one for each
/// zero byte, cut where the second byte says.
///
/// # Panics
/// Where a file cannot be written.
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

/// Reads the first ranks of a trace.
fn read_all(source: Result<Trace, TraceError>) {
    let Ok(source) = source else { return };
    let source = source.partial(true);
    for rank in 0..source.ranks().min(RANKS) {
        let Ok(mut stream) = source.stream(Rank(rank)) else { return };
        while matches!(stream.next_event(), Ok(Some(_))) {}
    }
}

/// A manifest, and after a zero byte the entries of ranks 0 and 1 in files of their own.
///
/// # Panics
/// Where what was read is not what is read after it was written.
pub fn manifest(data: &[u8]) {
    let (folder, other) = (folder().join("one"), folder().join("other"));
    let parts = data.splitn(3, |&byte| byte == 0).map(Some).chain([None; 2]);
    for (part, name) in parts.zip(["manifest.json", "rank-000000.json", "rank-000001.json"]) {
        match part {
            Some(part) => fs::write(folder.join(name), part).unwrap(),
            None => drop(fs::remove_file(folder.join(name))),
        }
    }
    if let Ok(manifest) = Manifest::read(&folder) {
        drop(Trace::open(&folder));
        manifest.write(&other).unwrap();
        let again = Manifest::read(&other).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(format!("{manifest:?}"), format!("{again:?}"));
    }
}

/// The files of a trace of two ranks.
const PIECES: [&str; 5] =
    ["manifest.json", "rank-000000.json", "rank-000000.tit.gz", "rank-000001.json", "rank-000001.tit.gz"];

/// A trace in an archive: the bytes as they are, or, where the first says so, one of these
/// pieces, which zero bytes end.
/// The next byte says which of them are in the archive and which in a directory beside it; then three say which byte of the archive
/// is damaged, and how.
///
/// # Panics
/// Where a file cannot be written.
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
    let mut writer = ArchiveWriter::create(&archive).unwrap();
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

/// Gives a header the sum of its bytes, so that damage to it is seen by whoever reads on (pax, "ustar Interchange Format").
fn seal(block: &mut [u8]) {
    if block[257..262] == *b"ustar" {
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
}

/// A platform in titr's TOML.
pub fn platform(data: &[u8]) {
    if !data.trim_ascii_start().starts_with(b"<") {
        any_platform("cluster.toml", data);
    }
}

/// A platform in SimGrid's XML.
pub fn simgrid(data: &[u8]) {
    if data.trim_ascii_start().starts_with(b"<") {
        any_platform("cluster.xml", data);
    }
}

/// Reads a platform and asks it everything, or has its mistake drawn.
fn any_platform(name: &str, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Platform::parse(Path::new(name), text.to_owned(), &[]) {
        Ok(platform) => {
            let _ = platform.place(HOSTS);
            let topology = platform.topology.as_ref();
            routes(topology);
            let _ = (topology.name(), platform.network().next_event());
        }
        // Drawing takes far longer than reading, so not every mistake is.
        Err(error) if data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)).is_multiple_of(8) => {
            let mut drawn = String::new();
            let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(120);
            handler.render_report(&mut drawn, &error).unwrap();
        }
        Err(_) => {}
    }
}

/// Asks for the routes between the first hosts, and what the links on them are called.
fn routes(topology: &dyn Topology) {
    let hosts = topology.hosts().min(HOSTS);
    let mut route = Vec::new();
    for (from, to) in (0..hosts).flat_map(|from| (0..hosts).map(move |to| (HostId(from), HostId(to)))) {
        topology.route(from, to, &mut route);
        for link in route.drain(..) {
            let _ = (&topology.links()[link.index()], topology.link_name(link));
        }
    }
}

/// Where this thread's files lie; made once, as millions of inputs are tried.
fn folder() -> PathBuf {
    thread_local! {
        static FOLDER: TempDir = {
            let folder = TempDir::new().unwrap();
            fs::create_dir(folder.path().join("one")).unwrap();
            fs::create_dir(folder.path().join("other")).unwrap();
            folder
        };
    }
    FOLDER.with(|folder| folder.path().to_owned())
}

/// A text as a gzip member.
fn member(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(text, Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

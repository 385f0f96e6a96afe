//! The anchor of an archive, `NAME.otf2`: how its other files are to be read.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use titr_common::input;
use titr_common::trace::TraceError;

use super::fields::{ByteOrder, Otf2Fields};

/// The most that is read of an anchor.
const LIMIT: u64 = 1 << 20;

/// The number of the substrate that keeps each file of the archive as a file.
const POSIX: u8 = 1;
/// The number of files that are not compressed.
const UNCOMPRESSED: u8 = 1;

/// An archive as its anchor describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Anchor {
    /// The size of the chunks of events.
    pub event_chunk: u64,
    /// The size of the chunks of definitions.
    pub definition_chunk: u64,
    /// The tool that wrote the archive.
    pub creator: String,
    /// The version of OTF2.
    pub version: [u8; 3],
    /// Whether messages are known to be missing.
    pub lacks_messages: bool,
}

/// Whether a file that begins with `head` is an anchor.
pub(super) fn is_anchor(head: &[u8]) -> bool {
    matches!(head, [3, mark, b'O', b'T', b'F', b'2', 0, ..] if ByteOrder::of_mark(*mark).is_some())
}

pub(super) fn in_directory(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let named = entries.filter(|path| path.extension().is_some_and(|extension| extension == "otf2"));
    let mut anchors: Vec<_> = named
        .filter(|path| {
            let mut head = [0; 7];
            input::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok()) && is_anchor(&head)
        })
        .collect();
    anchors.sort();
    anchors
}

impl Anchor {
    /// Reads the anchor at `path`.
    pub(super) fn read(path: &Path) -> Result<Self, TraceError> {
        let mut bytes = Vec::new();
        let file = input::open(path).map_err(TraceError::io(path))?;
        file.take(LIMIT).read_to_end(&mut bytes).map_err(TraceError::io(path))?;
        let refuse = |what: String| TraceError::Directory { path: path.into(), what };
        let Some((anchor, substrate, compression)) = Self::parse(&bytes) else {
            return Err(refuse("the anchor of this OTF2 archive is cut or damaged".to_owned()));
        };
        if substrate != POSIX {
            return Err(refuse(
                "the archive is in a SION container, which titr does not read: record it with the POSIX substrate"
                    .to_owned(),
            ));
        }
        if compression != UNCOMPRESSED {
            return Err(refuse(
                "the archive is compressed with zlib, which titr does not read: record it without compression"
                    .to_owned(),
            ));
        }
        if anchor.event_chunk == 0 || anchor.definition_chunk == 0 {
            return Err(refuse("the anchor says that chunks have no bytes".to_owned()));
        }
        Ok(anchor)
    }

    /// The anchor, its substrate and its compression.
    fn parse(bytes: &[u8]) -> Option<(Self, u8, u8)> {
        let order = bytes.get(1).copied().and_then(ByteOrder::of_mark)?;
        let mut fields = Otf2Fields::new(bytes.get(7..)?, order);
        let _formats = (fields.byte()?, fields.byte()?);
        let version = [fields.byte()?, fields.byte()?, fields.byte()?];
        let (event_chunk, definition_chunk) = (fields.full_u64()?, fields.full_u64()?);
        let (substrate, compression) = (fields.byte()?, fields.byte()?);
        let _numbers = (fields.full_u64()?, fields.full_u64()?);
        let (_machine, creator, _description) = (fields.text()?, fields.text()?, fields.text()?);
        let mut lacks_messages = false;
        for _ in 0..fields.full_u32()? {
            let (name, value) = (fields.text()?, fields.text()?);
            lacks_messages |= (name, value) == (b"OTF2::MPI_COMMUNICATION_COMPLETE", b"false");
        }
        let creator = String::from_utf8_lossy(creator).into_owned();
        Some((Self { event_chunk, definition_chunk, creator, version, lacks_messages }, substrate, compression))
    }
}

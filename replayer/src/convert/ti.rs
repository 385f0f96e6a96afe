//! A time-independent trace of titr's own, from an extended one or from any other that can be read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use titr_common::event::{Event, Rank};
use titr_common::grammar::EventWriter;
use titr_common::trace::manifest::{Counter, Ended, Mode, RankEntry, VERSION};
use titr_common::trace::{Manifest, Source, StreamWriter};
use titr_common::units::Bytes;

use super::ConvertError;

/// Text in a gzip member, and how hard it is compressed: as the tracer does it.
const BUFFER: usize = 128 << 10;
const LEVEL: u32 = 3;

/// What was converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Events of the new trace.
    pub events: u64,
    /// Times and messages that were left out.
    pub seen: u64,
}

/// Writes the trace into `directory`, which is created or empty.
///
/// # Errors
/// Where the trace cannot be read or the directory cannot be written.
pub fn convert(source: &Source, directory: &Path) -> Result<Folded, ConvertError> {
    let failed = |error| ConvertError::Output { path: directory.into(), error };
    fs::create_dir_all(directory).map_err(failed)?;
    if fs::read_dir(directory).map_err(failed)?.next().is_some() {
        return Err(ConvertError::Occupied { path: directory.into() });
    }
    let mut manifest = source.manifest().cloned().unwrap_or_else(|| unknown(source.ranks()));
    manifest.mode = Mode::Ti;
    manifest.config.remove("TITRACE_MODE");
    manifest.config.remove("TITRACE_COLLECTIVES");
    let mut all = Folded::default();
    for entry in &mut manifest.per_rank {
        let folded = stream(source, directory, entry)?;
        entry.opaque.clear();
        entry.clock = None;
        all.events += folded.events;
        all.seen += folded.seen;
    }
    manifest.write(directory).map_err(failed)?;
    Ok(all)
}

/// Writes one rank's stream, and into its entry how long that is.
fn stream(source: &Source, directory: &Path, entry: &mut RankEntry) -> Result<Folded, ConvertError> {
    let failed = |error| ConvertError::Output { path: directory.into(), error };
    let rank = Rank(entry.rank);
    let mut events = source.stream(rank)?;
    let mut file = StreamWriter::create(directory, rank, LEVEL).map_err(failed)?;
    let (mut writer, mut text) = (EventWriter::new(rank), Vec::with_capacity(BUFFER));
    let (mut folded, mut length) = (Folded::default(), 0);
    while let Some(event) = events.next_event()? {
        if let Event::Seen(_) = event {
            folded.seen += 1;
            continue;
        }
        folded.events += 1;
        writer.switch(&mut text, events.thread());
        writer.write(&mut text, &event);
        if text.len() >= BUFFER {
            writer.end_line(&mut text);
            length += text.len() as u64;
            file.write_member(&text).map_err(failed)?;
            text.clear();
        }
    }
    writer.end_line(&mut text);
    length += text.len() as u64;
    file.write_member(&text).map_err(failed)?;
    entry.events = folded.events;
    entry.text = Bytes(length);
    let written = file.finish(folded.events).map_err(failed)?;
    (entry.disk, entry.crc32) = (written.size, Some(written.crc32));
    Ok(folded)
}

/// The manifest of a trace that has none.
fn unknown(ranks: u32) -> Manifest {
    let entry = |rank| RankEntry {
        run: String::new(),
        rank,
        host: String::new(),
        cpu: String::new(),
        pid: 0,
        ended: Ended::Finalize,
        events: 0,
        text: Bytes(0),
        disk: Bytes(0),
        crc32: None,
        counter: Counter {
            kind: "unknown".into(),
            unit: "instruction".into(),
            rate: None,
            resolution: 1.0,
            precision: 0.0,
            hook: 0.0,
            yardstick: None,
        },
        clock: None,
        threads: 1,
        stalls: 0,
        lost_events: 0,
        error: None,
        untraced: BTreeMap::new(),
        opaque: BTreeMap::new(),
        local: BTreeMap::new(),
        null_peer: BTreeMap::new(),
    };
    Manifest {
        titr: VERSION,
        mode: Mode::Ti,
        ranks,
        command: Vec::new(),
        mpi: String::new(),
        config: BTreeMap::new(),
        per_rank: (0..ranks).map(entry).collect(),
    }
}

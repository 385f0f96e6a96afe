//! An archive in the Open Trace Format 2, with MPI's events.
//!
//! The archive has a location for each thread of each rank, and the records that Score-P writes: regions, messages, requests, collectives,
//! communicators, and the counter of instructions. Most calls are described by their records in full. Where titr's trace says
//! more, such as the size of an element, the record that enters the call has a list of attributes with the text of the event,
//! from which titr reads the archive again as the trace that it was.
//!
//! Ranks are written one after another, and the definitions after all of them.

mod calls;
mod chunks;
mod definitions;
mod rank;

use std::fs;
use std::io::Error;
use std::path::Path;

use titr_common::event::Rank;
use titr_common::format::{count, counted, plural};
use titr_common::output::{OutputDirectory, OutputFile, named};
use titr_common::program::Communicators;
use titr_common::trace::Trace;
use titr_common::trace::manifest::Mode;

use super::{ConversionNotes, ConvertError, OutputFormat};
use crate::input::otf2::own::CREATOR;
use chunks::{CHUNK, ChunkedFile, RecordBody};
use definitions::ArchiveDefinitions;
use rank::{ArchiveCounts, EventFailure, RankRecords};

pub(super) use calls::sum;

pub(super) const OTF2: OutputFormat = OutputFormat {
    name: "otf2",
    about: "An archive for Score-P's tools, Vampir, and the readers of OTF2",
    files: |_| Vec::new(),
    convert: |trace, _, directory| {
        let written = convert(trace, directory)?;
        let (ranks, of) = (trace.ranks(), plural(u64::from(trace.ranks()), "rank", "ranks"));
        let mut differences = Vec::new();
        if written.left_out > 0 {
            let messages = counted(written.left_out, "message", "messages");
            differences.push(format!("{messages} inside of collectives are left out: OTF2 has the collectives"));
        }
        let written = format!(
            "{}: {} calls of {ranks} {of}: {} sends, {} receives, {} parts of collectives",
            directory.join(ANCHOR).display(),
            count(written.calls),
            count(written.sent),
            count(written.received),
            count(written.collectives)
        );
        Ok(ConversionNotes { written, differences })
    },
};

/// The files of an archive.
const ANCHOR: &str = "traces.otf2";
const DEFINITIONS: &str = "traces.def";
const EVENTS: &str = "traces";

/// The sizes of chunks of events and of definitions.
const EVENT_CHUNK: usize = 1 << 20;
const DEFINITION_CHUNK: usize = 1 << 24;
/// The nanoseconds of an instruction in a trace without times.
const PACE: f64 = 1.0;

/// Writes an archive into `directory`.
fn convert(trace: &Trace, directory: &Path) -> Result<ArchiveCounts, ConvertError> {
    let output = OutputDirectory::create(directory)?;
    let folder = directory.join(EVENTS);
    fs::create_dir(&folder).map_err(|error| named(&folder, error))?;
    let mut definitions = ArchiveDefinitions::new(trace.ranks());
    let mut communicators = Communicators::new(trace.ranks() as usize);
    let mut written = ArchiveCounts::default();
    let is_timed = trace.manifest().is_some_and(|manifest| manifest.mode == Mode::Extended);
    let pace = if is_timed { 0.0 } else { PACE };
    for rank in (0..trace.ranks()).map(Rank) {
        let clock = trace.manifest().and_then(|manifest| manifest.of_rank(rank)?.clock);
        let times = (clock, pace);
        let mut records = RankRecords::begin(rank, &mut definitions, &mut communicators, &folder, times, &mut written)?;
        let mut events = trace.stream(rank)?;
        while let Some(event) = events.next_event()? {
            records.switch(events.location().thread)?;
            records.event(&event).map_err(|failure| match failure {
                EventFailure::Output(error) => error.into(),
                EventFailure::Graph => {
                    let what = format!("rank {}: a graph cannot be written as OTF2, whose events are in order", rank.0);
                    ConvertError::Output(Error::other(what))
                }
                EventFailure::Fault(fault) => ConvertError::at(rank, &events, fault),
            })?;
        }
        records.finish()?;
    }
    let mut file = ChunkedFile::create(&directory.join(DEFINITIONS), DEFINITION_CHUNK)?;
    let locations = definitions.locations();
    let number = definitions.write(&mut file, written.end + 1, trace.manifest())?;
    file.finish()?;
    OutputFile::write(&directory.join(ANCHOR), &anchor(locations, number))?;
    output.finish();
    Ok(written)
}

/// The anchor of an archive with this number of locations and of global definitions.
fn anchor(locations: u64, definitions: u64) -> Vec<u8> {
    let creator = format!("{CREATOR} {}", env!("CARGO_PKG_VERSION"));
    let [format, trace_format, posix, uncompressed] = [3, 2, 1, 1];
    let body = RecordBody::default()
        .text("OTF2")
        .byte(format)
        .byte(trace_format)
        .byte(3)
        .byte(0)
        .byte(0)
        .full_u64(EVENT_CHUNK as u64)
        .full_u64(DEFINITION_CHUNK as u64)
        .byte(posix)
        .byte(uncompressed)
        .full_u64(locations)
        .full_u64(definitions)
        .text("")
        .text(&creator)
        .text("")
        .full_u32(0)
        .full_u64(0)
        .full_u32(0)
        .full_u32(0)
        .byte(2)
        .byte(0);
    [CHUNK.to_vec(), body.into_bytes()].concat()
}

//! Archives in the Open Trace Format 2.

use std::fs;

use titr_common::event::Rank;
use titr_common::trace::Trace;
use titr_formats::input;

/// The files of an archive with one location, in the order of an input: the anchor, the definitions, those of the location,
/// and its events.
const FILES: [&str; 4] = ["trace.otf2", "trace.def", "trace/0.def", "trace/0.evt"];

/// Reads an archive. Each file is preceded by its length, in two bytes.
pub fn otf2(data: &[u8]) {
    let folder = super::folder().join("otf2");
    fs::create_dir_all(folder.join("trace")).unwrap();
    let mut rest = data;
    for name in FILES {
        let (length, after) = rest
            .split_first_chunk()
            .map_or((0, &[][..]), |(length, after)| (usize::from(u16::from_le_bytes(*length)), after));
        let (file, after) = after.split_at(length.min(after.len()));
        fs::write(folder.join(name), file).unwrap();
        rest = after;
    }
    // An archive that does not look like one is left to other readers.
    if !data.get(2..).is_some_and(|anchor| anchor.starts_with(&[3, 0x42]) || anchor.starts_with(&[3, 0x23])) {
        return;
    }
    match input::open(&[folder.join(FILES[0])]) {
        Ok(trace) => read(&trace),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Reads a few ranks.
fn read(trace: &Trace) {
    for partial in [false, true] {
        let trace = trace.clone().partial(partial);
        for rank in 0..trace.ranks().min(3) {
            let events = || {
                let mut stream = trace.stream(Rank(rank))?;
                while stream.next_event()?.is_some() {}
                Ok(())
            };
            let result: Result<(), titr_common::trace::TraceError> = events();
            result.unwrap_or_else(|error| assert!(!error.to_string().is_empty()));
        }
        for sentence in trace.untranslated() {
            assert!(!sentence.is_empty());
        }
    }
}

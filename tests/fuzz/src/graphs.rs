//! Traces that are graphs: GOAL in both forms, and Chakra.

use std::fs;
use std::path::Path;

use titr_common::event::Rank;
use titr_formats::input;

/// Reads a GOAL text or a binary file.
pub fn goal(data: &[u8]) {
    let text = b"num_ranks ";
    let binary = 4223_u64.to_le_bytes();
    let path = super::folder().join("graph.goal");
    for magic in [&text[..], &binary] {
        fs::write(&path, [magic, data].concat()).unwrap();
        read(&path);
    }
}

/// Reads a Chakra trace of one rank.
pub fn chakra(data: &[u8]) {
    let folder = super::folder().join("chakra");
    fs::create_dir_all(&folder).unwrap();
    // A description without a field precedes the nodes.
    fs::write(folder.join("graph.0.et"), [&[0], data].concat()).unwrap();
    read(&folder);
}

fn read(path: &Path) {
    let trace = match input::open(&[path]) {
        Ok(trace) => trace,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for rank in 0..trace.ranks().min(3) {
        let read = trace.stream(Rank(rank)).and_then(|mut stream| {
            while stream.next_event()?.is_some() {}
            Ok(())
        });
        assert!(read.map_or_else(|error| !error.to_string().is_empty(), |()| true));
    }
    let _ = trace.untranslated();
}

//! Traces of other tools that have a file for each rank, or one text.

use std::fs;
use std::path::Path;

use titr_common::event::Rank;
use titr_formats::input;

/// A trace of DUMPI with a rank or two, of the same records.
pub fn dumpi(data: &[u8]) {
    let folder = super::folder().join("dumpi");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("x-0000.bin"), data).unwrap();
    fs::write(folder.join("x-0001.bin"), data).unwrap();
    if data.starts_with(&[0xff, 0xaa, 0xdd, 0x44]) {
        read(&folder);
    }
}

/// A trace of liballprof: zero bytes are between the texts of two ranks.
pub fn liballprof(data: &[u8]) {
    let folder = super::folder().join("liballprof");
    fs::create_dir_all(&folder).unwrap();
    let mut texts = data.splitn(2, |&byte| byte == 0);
    for rank in 0..2 {
        fs::write(folder.join(format!("x-rank-{rank}.txt")), texts.next().unwrap_or_default()).unwrap();
    }
    if data.starts_with(b"MPI_") {
        read(&folder);
    }
}

/// A trace of SimGrid up to 3.10, or one for Paraver.
pub fn foreign_text(data: &[u8]) {
    if data.starts_with(b"p") || data.starts_with(b"#Paraver") {
        let file = super::folder().join("foreign-text");
        fs::write(&file, data).unwrap();
        read(&file);
    }
}

/// Reads a few ranks.
fn read(path: &Path) {
    match input::open(&[path]) {
        Ok(trace) => {
            for rank in 0..trace.ranks().min(3) {
                let mut stream = match trace.stream(Rank(rank)) {
                    Ok(stream) => stream,
                    Err(error) => return assert!(!error.to_string().is_empty()),
                };
                while let Ok(Some(_)) = stream.next_event() {}
            }
            assert!(trace.untranslated().iter().all(|sentence| !sentence.is_empty()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

//! The lines of a trace, in the order of time, in a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use titr_common::output::named;

/// The lines of a trace.
pub(super) struct PrvBody {
    path: PathBuf,
    file: BufWriter<File>,
    /// Lines that are not written yet, in the order of time, then as they came.
    ahead: BTreeMap<(u64, u64), String>,
    lines: u64,
    /// The time up to which all lines are written.
    written: u64,
    end: u64,
}

impl PrvBody {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = File::create_new(path).map_err(|error| named(path, error))?;
        let (file, ahead) = (BufWriter::new(file), BTreeMap::new());
        Ok(Self { path: path.into(), file, ahead, lines: 0, written: 0, end: 0 })
    }

    /// Adds a line with this time, or after what is written already.
    pub(super) fn line(&mut self, at: u64, line: String) {
        self.lines += 1;
        self.ahead.insert((at.max(self.written), self.lines), line);
        self.reach(at);
    }

    /// Takes note of a time that the trace has.
    pub(super) fn reach(&mut self, time: u64) {
        self.end = self.end.max(time);
    }

    /// Writes the lines up to `time`: none of an earlier time will come, except messages.
    pub(super) fn write_until(&mut self, time: u64) -> io::Result<()> {
        while let Some(first) = self.ahead.first_entry().filter(|first| first.key().0 <= time) {
            writeln!(self.file, "{}", first.remove()).map_err(|error| named(&self.path, error))?;
        }
        self.written = self.written.max(time);
        Ok(())
    }

    /// Writes all lines, and returns the end of the trace.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.write_until(u64::MAX)?;
        self.file.flush().map_err(|error| named(&self.path, error))?;
        Ok(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_comes_late_follows_what_is_written() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("body");
        let mut body = PrvBody::create(&path).unwrap();
        body.line(5, "five".to_owned());
        body.line(3, "three".to_owned());
        body.write_until(4).unwrap();
        body.line(1, "late".to_owned());
        assert_eq!(body.finish().unwrap(), 5);
        assert_eq!(std::fs::read_to_string(path).unwrap(), "three\nlate\nfive\n");
    }
}

//! An index for `smpirun -replay`: one path per line, relative to the working directory or to the index, of one file
//! for all ranks or of one for each.

use std::path::{Path, PathBuf};

use super::text::Text;
use super::titr::OneFileEach;
use super::{Candidate, TraceFormat};
use crate::input;
use crate::trace::error::TraceError;
use crate::trace::lines::Lines;
use crate::trace::opened::Trace;
use crate::trace::section::Section;
use crate::trace::text_stream::is_first_format;

/// An index of trace files, as SimGrid has it.
pub(super) struct SimgridIndex;

impl TraceFormat for SimgridIndex {
    fn name(&self) -> &'static str {
        "simgrid-index"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        candidate.file().is_some()
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or(Path::new(""));
        let mut lines = Lines::open(path)?;
        let mut files = Vec::new();
        while let Some(text) = lines.next()? {
            let name = String::from_utf8_lossy(text).trim().to_owned();
            if name.is_empty() || name.starts_with('#') {
                continue;
            }
            if is_first_format(text) {
                return Err(TraceError::FirstFormat { path: path.into(), line: lines.line(), text: shown(&name) });
            }
            let beside = path.parent().unwrap_or(Path::new("")).join(&name);
            let candidates = [PathBuf::from(&name), beside];
            match candidates.into_iter().find(|candidate| candidate.is_file()) {
                Some(file) => {
                    input::announce(&file).map_err(TraceError::io(&file))?;
                    files.push(file);
                }
                None if files.is_empty() => {
                    let what = format!(
                        "neither events of ranks nor an index of their files: line {}, '{}', is no event (`0 init`), and no file has \
                         this name, here or beside it",
                        lines.line(),
                        shown(&name)
                    );
                    return Err(TraceError::Directory { path: path.into(), what });
                }
                None => {
                    return Err(TraceError::Index { path: path.into(), line: lines.line(), name: shown(&name) });
                }
            }
        }
        match files.as_slice() {
            [one] => Text.open(&[one]),
            _ => {
                let own = |path| Some(Section::closed(path));
                let files: Vec<_> = files.into_iter().map(own).collect();
                Ok(Trace::new(files.len() as u32, OneFileEach { files, untraced: None }))
            }
        }
    }
}

/// `name`, shortened for an error message.
fn shown(name: &str) -> String {
    name.chars().take(100).collect()
}

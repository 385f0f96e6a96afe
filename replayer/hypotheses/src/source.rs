//! The text of a hypotheses file, with mistakes shown in it.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use titr_common::trace::TraceError;

/// Characters of a line that a mistake shows at most.
const LONGEST: usize = 200;

/// Bytes of the file.
pub type Place = Range<usize>;

/// A file of hypotheses.
#[derive(Debug)]
pub struct Source {
    /// The file's name.
    pub name: String,
    /// The file's text.
    pub text: String,
}

/// Something wrong in a file of hypotheses, shown with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistake {
    file: String,
    line: usize,
    column: usize,
    /// The text of the line, or the part of it around the mistake.
    shown: String,
    /// The number of characters of `shown` before the mistake.
    indent: usize,
    /// The number of characters that are wrong.
    width: usize,
    message: String,
}

impl Source {
    /// The text of the file at `path`.
    pub fn new(path: &Path, text: String) -> Arc<Self> {
        Arc::new(Self { name: path.display().to_string(), text })
    }

    /// A mistake at a place of the file.
    pub fn mistake(&self, place: &Place, message: impl Into<String>) -> Mistake {
        let before = self.text.get(..place.start).unwrap_or_default();
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[begin..].chars().count() + 1;
        let width =
            self.text.get(place.clone()).map_or(1, |text| text.lines().next().unwrap_or_default().chars().count());
        let line = before.matches('\n').count() + 1;
        let whole = self.text[begin..].lines().next().unwrap_or_default();
        // For a line that is too long for a terminal, the part around the mistake.
        let skipped = if whole.len() > LONGEST { (column - 1).saturating_sub(LONGEST / 4) } else { 0 };
        let shown = whole.chars().skip(skipped).take(LONGEST).collect();
        let width = width.clamp(1, LONGEST);
        let (file, message) = (self.name.clone(), message.into());
        Mistake { file, line, column, shown, indent: column - 1 - skipped, width, message }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, shown, indent, width, message } = self;
        let (number, margin) = (line.to_string(), " ".repeat(line.to_string().len()));
        let (indent, marks) = (" ".repeat(*indent), "^".repeat(*width));
        write!(f, "{file}:{line}:{column}: {message}\n {number} | {shown}\n {margin} | {indent}{marks}")
    }
}

impl From<Mistake> for TraceError {
    fn from(mistake: Mistake) -> Self {
        Self::Change(Box::new(mistake))
    }
}

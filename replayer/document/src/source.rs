//! The text of a file and of its overrides, the place of each value in them, and mistakes shown there.
//!
//! Overrides are from the command line ([`Part`]). Places count through the file first and then through each override in
//! turn, so a place alone identifies the part.

use std::fmt::Display;
use std::ops::Range;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource};
use thiserror::Error;
use titr_common::trace::TraceError;
use toml::Spanned;

/// Bytes of the longest line that a mistake is shown in.
const WIDEST: usize = 1000;

/// The columns at which messages are wrapped.
const COLUMNS: usize = 120;

/// The name of an override.
const OVERRIDE: &str = "--set";

/// A range of bytes in the text.
pub type Place = Range<usize>;

/// Something that was understood of a file, or the first mistake in it.
pub type Checked<T> = Result<T, Mistake>;

/// The text of a file, and of the overrides on top of it.
#[derive(Debug)]
pub struct Source {
    /// The file.
    pub file: Part,
    /// The overrides.
    pub overrides: Vec<Part>,
}

/// The file, or one override.
#[derive(Debug)]
pub struct Part {
    /// The file's name, or `--set`.
    name: String,
    /// The text as the reader of files or of overrides gets it.
    pub text: String,
    /// The place of the text's first byte.
    pub start: usize,
}

/// Something wrong in a file, drawn without colours with the place that it is about.
#[derive(Debug, Error)]
#[error("{}", .0.drawn())]
pub struct Mistake(Box<Report>);

/// The parts of a mistake.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
struct Report {
    message: String,
    #[source_code]
    text: NamedSource<String>,
    #[label(collection)]
    at: Option<LabeledSpan>,
    #[help]
    help: Option<String>,
    /// The number of the override that the mistake is in; `None` for the file.
    override_number: Option<usize>,
}

impl Source {
    /// A file's text, and on top of it the overrides in their order.
    pub fn new(name: &str, text: String, overrides: impl IntoIterator<Item = String>) -> Self {
        let mut source = Self { file: Part { name: name.to_owned(), text, start: 0 }, overrides: Vec::new() };
        for text in overrides {
            let last = source.overrides.last().unwrap_or(&source.file);
            // A byte between parts, so that the end of one is not the start of the next.
            let start = last.start + last.text.len() + 1;
            source.overrides.push(Part { name: OVERRIDE.to_owned(), text, start });
        }
        source
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.file.text
    }

    /// The place of a character of the file, by line and column from 1.
    #[must_use]
    pub fn at(&self, line: usize, column: usize) -> Place {
        let text = self.text();
        let start = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        let before = text[start..].chars().take(column - 1).map(char::len_utf8).sum::<usize>();
        start + before..start + before
    }

    /// A place of the file for people: `file:line:column`.
    #[must_use]
    pub fn name_of(&self, place: &Place) -> String {
        place_in(&self.file.name, self.text(), place.start)
    }

    /// A mistake at a place, or of the file as a whole.
    pub fn mistake(&self, place: impl Into<Option<Place>>, message: impl Into<String>) -> Mistake {
        let (place, message) = (place.into(), message.into());
        let at = place.as_ref().map_or(0, |place| place.start);
        let override_number = self.overrides.iter().rposition(|part| part.start <= at);
        let part = override_number.map_or(&self.file, |number| &self.overrides[number]);
        let Part { name, text, start: offset } = part;
        let (message, text, at) = match place.map(|place| place.start - offset..place.end - offset) {
            Some(place) if is_too_wide(text, &place) => {
                (format!("{}: {}", place_in(name, text, place.start), cut(&message)), String::new(), None)
            }
            place => (message, text.clone(), place.map(|place| LabeledSpan::new_with_span(None, place))),
        };
        let text = NamedSource::new(name, text);
        Mistake(Box::new(Report { message, text, at, help: None, override_number }))
    }

    /// A mistake in a value.
    pub fn wrong<T>(&self, written: &Spanned<T>, message: impl Into<String>) -> Mistake {
        self.mistake(written.span(), message)
    }
}

/// A place of a text for people: `file:line:column`.
fn place_in(name: &str, text: &str, start: usize) -> String {
    let before = text.get(..start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    format!("{name}:{}:{}", before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Whether a line is too long to be shown: no terminal has this many columns, and miette counts at most 65,535.
fn is_too_wide(text: &str, place: &Place) -> bool {
    let begin = text.get(..place.start).unwrap_or_default().rfind('\n').map_or(0, |newline| newline + 1);
    let end = text.get(place.end..).unwrap_or_default().find('\n').map_or(text.len(), |length| place.end + length);
    text.get(begin..end).unwrap_or_default().split('\n').any(|line| line.len() > WIDEST)
}

/// The beginning of a message that quotes a long text.
fn cut(message: &str) -> String {
    match message.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

impl Mistake {
    /// The mistake, with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// The number of the override that the mistake is in; `None` if it is in the file.
    #[must_use]
    pub fn override_number(&self) -> Option<usize> {
        self.0.override_number
    }

    /// The advice, if there is any.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The message alone, without place and advice.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl Report {
    fn drawn(&self) -> String {
        let mut text = String::new();
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(COLUMNS);
        match handler.render_report(&mut text, self) {
            Ok(()) => text.trim().to_owned(),
            Err(_) => self.message.clone(),
        }
    }
}

impl From<Mistake> for TraceError {
    fn from(mistake: Mistake) -> Self {
        Self::Change(Box::new(mistake))
    }
}

/// A value that does not fit the schema, or a text that is not TOML.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct DocumentError {
    message: String,
    /// The innermost value or key that is known to be wrong.
    place: Option<Place>,
}

/// Words of serde and toml, each with the word of the documentation.
const IN_OUR_WORDS: [(&str, &str); 3] =
    [("unknown field", "unknown key"), ("missing field", "missing key"), ("unknown variant", "unknown choice")];

/// Types that serde expects, each in words.
const EXPECTED: [(&str, &str); 4] =
    [("u32", "a whole number"), ("u64", "a whole number"), ("f64", "a number"), ("a boolean", "true or false")];

impl DocumentError {
    /// A mistake that the TOML reader found in a text whose first byte is at `start`.
    pub(crate) fn of_toml(error: &toml::de::Error, start: usize) -> Self {
        let place = error.span().map(|span| span.start + start..span.end + start);
        Self { message: error.message().to_owned(), place }
    }

    /// The mistake, which is at `place` if it is not known to be at a place within.
    pub(crate) fn or_at(mut self, place: Place) -> Self {
        self.place.get_or_insert(place);
        self
    }

    /// The mistake in the text.
    #[must_use]
    pub fn shown_in(self, source: &Source) -> Mistake {
        let (message, help) = match self.message.split_once(", expected ") {
            Some((message, expected)) => {
                let known = EXPECTED.iter().find(|(theirs, _)| *theirs == expected);
                (message, Some(format!("expected {}", known.map_or(expected, |(_, ours)| ours))))
            }
            None => (self.message.as_str(), None),
        };
        let message = IN_OUR_WORDS.iter().fold(message.to_owned(), |said, (theirs, ours)| said.replace(theirs, ours));
        let mistake = source.mistake(self.place, message);
        match help {
            Some(help) => mistake.with_help(help),
            None => mistake,
        }
    }
}

impl serde::de::Error for DocumentError {
    fn custom<T: Display>(message: T) -> Self {
        Self { message: message.to_string(), place: None }
    }
}

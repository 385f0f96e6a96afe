//! The texts of a platform, the place of each value in them, and mistakes shown there.
//!
//! A platform is a file with overrides from the command line ([`Part`]). Places count through the file first and then
//! through each `--set` in turn, so a place alone identifies the part.

use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource};
use thiserror::Error;
use toml::Spanned;

/// Bytes of the longest line that a mistake is shown in.
const WIDEST: usize = 1000;

/// A range of bytes in the text.
pub type Place = Range<usize>;

/// Something that was understood of a platform, or the first mistake in it.
pub type Checked<T> = Result<T, Box<Mistake>>;

/// The texts of a platform: the file, then the overrides.
#[derive(Debug)]
pub struct Source {
    parts: Vec<Part>,
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

/// Something wrong in a platform, and where.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
pub struct Mistake {
    message: String,
    #[source_code]
    text: NamedSource<String>,
    #[label(collection)]
    at: Option<LabeledSpan>,
    #[help]
    help: Option<String>,
}

impl Source {
    /// A file's text, and on top of it the overrides in their order.
    pub fn new(name: &str, text: String, overrides: impl IntoIterator<Item = String>) -> Self {
        let mut source = Self { parts: vec![Part { name: name.to_owned(), text, start: 0 }] };
        for text in overrides {
            // A byte between parts, so that the end of one is not the start of the next.
            let start = source.parts.last().map_or(0, |last| last.start + last.text.len() + 1);
            source.parts.push(Part { name: "--set".to_owned(), text, start });
        }
        source
    }

    /// The texts; the first one is the file.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        self.parts.first().map_or("", |file| &file.text)
    }

    /// The place of a character of the file, by line and column from 1.
    pub fn at(&self, line: usize, column: usize) -> Place {
        let text = self.text();
        let start = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        let before = text[start..].chars().take(column - 1).map(char::len_utf8).sum::<usize>();
        start + before..start + before
    }

    /// A place of the file for people: `file:line:column`.
    pub fn name_of(&self, place: &Place) -> String {
        place_in(self.parts.first().map_or("", |file| &file.name), self.text(), place.start)
    }

    /// A mistake at a place.
    pub fn mistake(&self, place: Option<Place>, message: impl Into<String>) -> Box<Mistake> {
        let message = message.into();
        let start = place.as_ref().map_or(0, |place| place.start);
        let part = self.parts.iter().rev().find(|part| part.start <= start);
        let (name, text, offset) = part.map_or(("", "", 0), |part| (&part.name, &part.text, part.start));
        if let Some(place) = &place
            && is_too_wide(text, &(place.start - offset..place.end - offset))
        {
            let place = place_in(name, text, place.start - offset);
            let message = cut(&message);
            let text = NamedSource::new(name, String::new());
            return Box::new(Mistake { message: format!("{place}: {message}"), text, at: None, help: None });
        }
        Box::new(Mistake {
            message,
            text: NamedSource::new(name, text.to_owned()),
            at: place.map(|place| LabeledSpan::new_with_span(None, place.start - offset..place.end - offset)),
            help: None,
        })
    }

    /// A mistake in a value.
    pub fn wrong<T>(&self, written: &Spanned<T>, message: impl Into<String>) -> Box<Mistake> {
        self.mistake(Some(written.span()), message)
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
    pub fn with_help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}

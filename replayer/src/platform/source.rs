//! The text of a platform, where each value in it was written, and mistakes shown there.
//!
//! A platform is a file, and values given on the command line on top. Both are TOML; what is read is one table, each
//! value of which knows its place. Places count through the file first and then through each `--set` in turn, so that
//! a place alone says who wrote the value.

use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A place in what was written.
pub type Place = Range<usize>;

/// What was written: the file, then the overrides.
#[derive(Debug)]
pub struct Source {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    /// What to call it: the file's name, or `--set`.
    name: String,
    text: String,
    /// The place of its first byte.
    start: usize,
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
    /// A file's text and the `KEY=VALUE` given on top of it.
    pub fn new(name: &str, text: String, overrides: &[String]) -> Self {
        let mut source = Self { parts: Vec::new() };
        source.add(name, text);
        for setting in overrides {
            source.add("--set", as_toml(setting));
        }
        source
    }

    fn add(&mut self, name: &str, text: String) {
        // A byte between parts, so that the end of one is not the start of the next.
        let start = self.parts.last().map_or(0, |last| last.start + last.text.len() + 1);
        self.parts.push(Part { name: name.to_owned(), text, start });
    }

    /// The table that file and overrides make together.
    pub fn table(&self) -> Result<Spanned<DeTable<'_>>, Box<Mistake>> {
        let mut all = Spanned::new(0..0, DeTable::new());
        for part in &self.parts {
            let table = DeTable::parse(&part.text).map_err(|error| self.toml_mistake(error, part.start))?;
            let table = shifted(table, part.start);
            if part.start == 0 {
                all = table;
            } else {
                overlay(all.get_mut(), table.into_inner());
            }
        }
        Ok(all)
    }

    /// A mistake that the TOML reader found. `start` is where the text that it read begins.
    pub fn toml_mistake(&self, error: toml::de::Error, start: usize) -> Box<Mistake> {
        let place = error.span().map(|span| moved(span, start));
        let (message, help) = match error.message().split_once(", expected ") {
            Some((message, expected)) => (message, Some(format!("expected {expected}"))),
            None => (error.message(), None),
        };
        let message = IN_OUR_WORDS.iter().fold(message.to_owned(), |said, (theirs, ours)| said.replace(theirs, ours));
        Box::new(Mistake { help, ..*self.mistake(place, message) })
    }

    /// A mistake at a place.
    pub fn mistake(&self, place: Option<Place>, message: impl Into<String>) -> Box<Mistake> {
        let start = place.as_ref().map_or(0, |place| place.start);
        let part = self.parts.iter().rev().find(|part| part.start <= start);
        let (name, text, offset) = part.map_or(("", "", 0), |part| (&part.name, &part.text, part.start));
        Box::new(Mistake {
            message: message.into(),
            text: NamedSource::new(name, text.to_owned()),
            at: place.map(|place| LabeledSpan::new_with_span(None, place.start - offset..place.end - offset)),
            help: None,
        })
    }
}

impl Mistake {
    /// The mistake, with what to do about it.
    pub fn with_help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}

/// What serde and toml call things, and what the documentation of platforms does.
const IN_OUR_WORDS: [(&str, &str); 4] = [
    ("unknown field", "unknown key"),
    ("missing field", "missing key"),
    ("unknown variant", "unknown choice"),
    ("wanted exactly 1 element, more than 1 element", "there are several of which a platform has one"),
];

/// `KEY=VALUE` as TOML: what is not a TOML value is a string, so that quotes need not survive a shell.
fn as_toml(setting: &str) -> String {
    match setting.split_once('=') {
        Some((key, value)) if DeValue::parse(value.trim()).is_err() => {
            format!("{} = {}", key.trim(), toml::Value::from(value.trim()))
        }
        Some((key, value)) => format!("{} = {}", key.trim(), value.trim()),
        None => setting.to_owned(),
    }
}

/// Moves every place in `table` by `start`.
fn shifted(table: Spanned<DeTable<'_>>, start: usize) -> Spanned<DeTable<'_>> {
    let place = moved(table.span(), start);
    let entries = table.into_inner().into_iter();
    let entries = entries.map(|(key, value)| {
        let key_place = moved(key.span(), start);
        (Spanned::new(key_place, key.into_inner()), shifted_value(value, start))
    });
    Spanned::new(place, entries.collect())
}

fn shifted_value(value: Spanned<DeValue<'_>>, start: usize) -> Spanned<DeValue<'_>> {
    let place = moved(value.span(), start);
    let value = match value.into_inner() {
        DeValue::Table(table) => DeValue::Table(shifted(Spanned::new(0..0, table), start).into_inner()),
        DeValue::Array(mut items) => {
            for item in items.iter_mut() {
                let taken = std::mem::replace(item, Spanned::new(0..0, DeValue::Boolean(false)));
                *item = shifted_value(taken, start);
            }
            DeValue::Array(items)
        }
        scalar => scalar,
    };
    Spanned::new(place, value)
}

fn moved(place: Place, start: usize) -> Place {
    place.start + start..place.end + start
}

/// Keys whose value may be a table or, for short, one entry of it: `collectives = "mpich"` is `collectives.library`.
const SHORTHANDS: [(&str, &str); 1] = [("collectives", "library")];

/// Puts `top` over `base`: tables are merged key by key, all else is replaced.
fn overlay<'a>(base: &mut DeTable<'a>, top: DeTable<'a>) {
    for (key, value) in top {
        let place = value.span();
        if value.get_ref().is_table()
            && let Some((_, entry)) = SHORTHANDS.iter().find(|(short, _)| short == key.get_ref())
            && let Some(below) = base.get_mut(&key).filter(|below| below.get_ref().is_str())
        {
            let (place, short) = (below.span(), std::mem::replace(below.get_mut(), DeValue::Boolean(false)));
            let entry = (Spanned::new(place.clone(), (*entry).into()), Spanned::new(place, short));
            *below.get_mut() = DeValue::Table(DeTable::from_iter([entry]));
        }
        let value = match (base.get_mut(&key).map(Spanned::get_mut), value.into_inner()) {
            (Some(DeValue::Table(below)), DeValue::Table(above)) => {
                overlay(below, above);
                continue;
            }
            (_, value) => value,
        };
        base.remove(&key);
        base.insert(key, Spanned::new(place, value));
    }
}

//! The text of a platform, where each value in it was written, and mistakes shown there.
//!
//! A platform is a file, and values given on the command line on top. Both are TOML, or mean some ([`Translation`]); what
//! is read is one table, each value of which knows its place. Places count through the file first and then through each
//! `--set` in turn, so that a place alone says who wrote the value.

use std::collections::BTreeMap;
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
    /// What it means, where it is not TOML itself.
    translation: Option<Translation>,
}

/// What a file in another language says, in TOML.
#[derive(Debug, Default)]
pub struct Translation {
    /// The TOML.
    toml: String,
    /// Where in the file that is said which stands at a byte of the TOML.
    places: BTreeMap<usize, Place>,
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
        self.parts.push(Part { name: name.to_owned(), text, start, translation: None });
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        self.parts.first().map_or("", |file| &file.text)
    }

    /// Has the file read as its translation.
    pub fn translate(&mut self, translation: Translation) {
        if let Some(file) = self.parts.first_mut() {
            file.translation = Some(translation);
        }
    }

    /// The table that file and overrides make together.
    pub fn table(&self) -> Result<Spanned<DeTable<'_>>, Box<Mistake>> {
        let mut all = Spanned::new(0..0, DeTable::new());
        for part in &self.parts {
            let parsed = |text| DeTable::parse(text).map_err(|error| self.toml_mistake(error, part.start));
            let table = match &part.translation {
                None => relocated(parsed(&part.text)?, &|place| moved(place, part.start)),
                Some(translation) => relocated(parsed(&translation.toml)?, &|place| translation.place(place)),
            };
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

    /// The place of a character of the file, by line and column from 1.
    pub fn at(&self, line: usize, column: usize) -> Place {
        let text = self.text();
        let start = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        let before = text[start..].chars().take(column - 1).map(char::len_utf8).sum::<usize>();
        start + before..start + before
    }

    /// A place of the file for people: `file:line:column`.
    pub fn name_of(&self, place: &Place) -> String {
        let before = self.text().get(..place.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let name = self.parts.first().map_or("", |file| &file.name);
        format!("{name}:{}:{}", before.matches('\n').count() + 1, line.chars().count() + 1)
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

impl Translation {
    /// Begins a table: `[name]`, or `[[name]]` for one more of several.
    pub fn table(&mut self, header: &str) {
        self.toml += header;
        self.toml.push('\n');
    }

    /// Adds to the last table that was begun a key whose value is said at `place`.
    pub fn value(&mut self, key: &str, value: impl Into<toml::Value>, place: Place) {
        self.toml += key;
        self.toml += " = ";
        self.element(value, place);
        self.toml.push('\n');
    }

    /// Likewise a list, the elements of which are said at places of their own.
    pub fn list<V: Into<toml::Value>>(
        &mut self,
        key: &str,
        elements: impl IntoIterator<Item = (V, Place)>,
        place: Place,
    ) {
        self.toml += key;
        self.toml += " = ";
        self.places.insert(self.toml.len(), place);
        self.toml.push('[');
        for (value, place) in elements {
            self.element(value, place);
            self.toml += ", ";
        }
        self.toml += "]\n";
    }

    fn element(&mut self, value: impl Into<toml::Value>, place: Place) {
        self.places.insert(self.toml.len(), place);
        self.toml += &value.into().to_string();
    }

    /// Where that is said which stands at a place of the TOML.
    fn place(&self, place: Place) -> Place {
        self.places.range(..=place.start).next_back().map_or(0..0, |(_, place)| place.clone())
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

/// Has every place in `table` be another.
fn relocated<'a>(table: Spanned<DeTable<'a>>, to: &impl Fn(Place) -> Place) -> Spanned<DeTable<'a>> {
    let place = to(table.span());
    let entries = table.into_inner().into_iter();
    let entries =
        entries.map(|(key, value)| (Spanned::new(to(key.span()), key.into_inner()), relocated_value(value, to)));
    Spanned::new(place, entries.collect())
}

fn relocated_value<'a>(value: Spanned<DeValue<'a>>, to: &impl Fn(Place) -> Place) -> Spanned<DeValue<'a>> {
    let place = to(value.span());
    let value = match value.into_inner() {
        DeValue::Table(table) => DeValue::Table(relocated(Spanned::new(0..0, table), to).into_inner()),
        DeValue::Array(mut items) => {
            for item in items.iter_mut() {
                let taken = std::mem::replace(item, Spanned::new(0..0, DeValue::Boolean(false)));
                *item = relocated_value(taken, to);
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

//! Platforms of one line: `dragonfly:g=9,a=4,h=2,p=2 10Gbit/s 1us host:4`.
//!
//! The first word is a topology in its [short form](ShortForm). Each other word is recognised by its form: the bandwidth
//! and the latency of cables, the speed of a core, `host:CORES`, or a network model. The line becomes the tables of a
//! platform file, so all defaults, limits and mistakes are those of platform files.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use titr_common::units::{Bandwidth, Seconds, Written};
use titr_document::{Checked, Located, Mistake, Place, Source, Table, Value};

use crate::HostSpeed;
use crate::topology::{SHORT_FORMS, ShortForm};

/// The name of a line in messages.
pub(crate) const NAME: &str = "platform";

/// The topology of a line for messages.
const DEFAULT: &str = "torus";

/// The speed of hosts unless the line says another one.
const SPEED: &str = "1 x recorded";

/// Words that are no quantities, for messages.
const WORDS: [&str; 4] = ["host:4", "flow", "packet", "ideal"];

/// Units that a quantity may have been meant to have, for messages.
const UNITS: [&str; 14] = [
    "bit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Mb/s", "Gb/s", "Tb/s", "MB/s", "GB/s", "us", "ns", "ms", "Ginstr/s",
    "Gflop/s",
];

/// Letters by which a word may differ from the one that was meant.
const NEAR: usize = 2;

/// Words of the longest quantity: `1 x recorded`.
const QUANTITY_WORDS: usize = 3;

/// The line that is in place of a file of this name, if there is no such file.
pub(crate) fn in_place_of(path: &Path) -> Option<&str> {
    path.to_str().filter(|line| is_line(line) && !path.exists())
}

/// Whether a text is a platform of one line: a word before a colon, or the name of a topology.
pub(crate) fn is_line(text: &str) -> bool {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let is_word_before_colon = !name.is_empty() && rest.starts_with(':');
    let is_topology = form(name).is_some() && rest.chars().next().is_none_or(char::is_whitespace);
    !text.contains('\n') && (is_word_before_colon || is_topology && !rest.trim_start().starts_with('='))
}

/// The tables of the platform in a line.
pub(crate) fn read(source: &Source) -> Checked<Located> {
    let mut line = LineReader { source, table: Table::default(), set: BTreeSet::new() };
    let words = words(source.text());
    let place = words.first().map_or(0, |word| word.start)..words.last().map_or(0, |word| word.end);
    line.set("schema", Value::from(1), place.clone())?;
    let mut rest = words.as_slice();
    if let Some((first, others)) = words.split_first() {
        line.topology(first.clone())?;
        rest = others;
    }
    line.table.set("network", Located::new(Table::default(), place.clone()));
    while !rest.is_empty() {
        let taken = line.word(rest)?;
        rest = rest.get(taken..).unwrap_or_default();
    }
    line.table.set("hosts.speed", Located::new(SPEED, place.clone()));
    Ok(Located::new(line.table, place))
}

/// A mistake of a line, with an example of its topology if it has no other advice.
pub(crate) fn with_example(mistake: Mistake, line: &str) -> Mistake {
    match (mistake.help(), mistake.override_number()) {
        (None, None) => mistake.with_help(format!("for example: {}", example(line))),
        (Some(_), _) | (_, Some(_)) => mistake,
    }
}

/// A line with the first topology that `text` names, for messages.
pub(crate) fn example(text: &str) -> String {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    let form = words.find_map(form).or(form(DEFAULT)).map_or(DEFAULT, |form| form.example);
    format!("{form} 10Gbit/s 1us host:4")
}

/// The short form of a topology.
fn form(name: &str) -> Option<&'static ShortForm> {
    SHORT_FORMS.iter().find(|form| form.name() == name)
}

/// The word that was probably meant.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|known| (strsim::levenshtein(word, known), known)).filter(|(letters, _)| *letters <= NEAR);
    near.min_by_key(|(letters, _)| *letters).map(|(_, known)| known)
}

fn words(text: &str) -> Vec<Place> {
    parts(text, 0, char::is_whitespace).filter(|part| !part.is_empty()).collect()
}

/// The places of the parts of a text between separators, where the text begins at `start`.
fn parts(text: &str, start: usize, separates: impl Fn(char) -> bool) -> impl Iterator<Item = Range<usize>> {
    let begin = text.as_ptr() as usize;
    text.split(separates).map(move |part| {
        let at = start + (part.as_ptr() as usize - begin);
        at..at + part.len()
    })
}

/// A line that is being read.
struct LineReader<'a> {
    source: &'a Source,
    table: Table,
    /// The keys that the line sets.
    set: BTreeSet<String>,
}

impl LineReader<'_> {
    fn text(&self, place: &Place) -> &str {
        self.source.text().get(place.clone()).unwrap_or_default()
    }

    /// Sets a key that is not set yet.
    fn set(&mut self, key: &str, value: Value, place: Place) -> Checked<()> {
        if !self.set.insert(key.to_owned()) {
            return Err(self.source.mistake(place, format!("a second value for `{key}`")));
        }
        self.table.set(key, Located { value, place });
        Ok(())
    }

    fn topology(&mut self, word: Place) -> Checked<()> {
        let text = self.text(&word);
        let (name, shape) = text.split_once(':').unwrap_or((text, ""));
        let (name_place, shape_place) = (word.start..word.start + name.len(), word.end - shape.len()..word.end);
        let Some(form) = form(name) else {
            let mistake =
                self.source.mistake(name_place, format!("no file has this name, and no topology is `{name}`"));
            let near = nearest(name, SHORT_FORMS.iter().map(ShortForm::name)).and_then(form);
            let names: Vec<_> = SHORT_FORMS.iter().map(|form| format!("`{}`", form.example)).collect();
            return Err(mistake.with_help(match near {
                Some(near) => format!("did you mean `{}`?", near.example),
                None => format!("topologies are {}", names.join(", ")),
            }));
        };
        if shape.is_empty() {
            let mistake = self.source.mistake(word, format!("the size of the {name} is missing"));
            return Err(mistake.with_help(format!("for example: {} 10Gbit/s 1us", form.example)));
        }
        let path = format!("topology.{}", form.name());
        let places: Vec<_> = parts(shape, shape_place.start, |letter| letter == ',').collect();
        self.table.set(&path, Located::new(Table::default(), word));
        places.into_iter().enumerate().try_for_each(|(number, place)| self.value_of(form, number, place))
    }

    /// Reads a value of a topology: `9`, or `g=9`.
    fn value_of(&mut self, form: &ShortForm, number: usize, place: Place) -> Checked<()> {
        let text = self.text(&place);
        let (key, value) = match text.split_once('=') {
            Some(("", value)) => (None, value),
            Some((name, value)) => (form.keys().find(|key| [key.name, key.symbol].contains(&name)), value),
            None => (form.keys().nth(number), text),
        };
        let keys = || form.keys().map(|key| key.shown()).collect::<Vec<_>>().join(", ");
        let Some(key) = key else {
            let mistake = self.source.mistake(place.clone(), format!("a {} has no such value", form.name()));
            let name = text.split('=').next().unwrap_or_default();
            let near = nearest(name, form.keys().map(|key| key.name)).filter(|_| text.contains('='));
            return Err(mistake.with_help(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its keys are {}; for example: {}", keys(), form.example),
            }));
        };
        let value_place = place.end - value.len()..place.end;
        match key.value(value, &value_place) {
            Ok(value) => self.set(&key.path, value, value_place),
            Err(needed) => {
                let mistake = self.source.mistake(place, format!("`{}` needs {needed}", key.name));
                Err(mistake.with_help(format!("for example: {}", form.example)))
            }
        }
    }

    /// Reads a property of cables or hosts at the beginning of `words`, and returns how many words it has.
    fn word(&mut self, words: &[Place]) -> Checked<usize> {
        let Some(first) = words.first() else { return Ok(0) };
        for taken in (1..=QUANTITY_WORDS.min(words.len())).rev() {
            let place = first.start..words[taken - 1].end;
            if let Some(key) = quantity(self.text(&place)) {
                let text = Value::from(self.text(&place));
                return self.set(key, text, place).map(|()| taken);
            }
        }
        let text = self.text(first).to_owned();
        let place = first.clone();
        match (text.as_str(), text.strip_prefix("host:").map(str::parse::<u32>)) {
            ("flow" | "packet" | "ideal", _) => self.set("network.model", text.into(), place)?,
            (_, Some(Ok(cores))) => self.set("hosts.cores", cores.into(), place)?,
            (_, _) => {
                let mistake = self.source.mistake(place, format!("`{text}` is not understood"));
                return Err(mistake.with_help(meant(&text)));
            }
        }
        Ok(1)
    }
}

/// The key that a quantity is for.
fn quantity(text: &str) -> Option<&'static str> {
    if Bandwidth::written(text).is_ok() {
        Some("network.bandwidth")
    } else if Seconds::written(text).is_ok() {
        Some("network.latency")
    } else {
        HostSpeed::written(text).is_ok().then_some("hosts.speed")
    }
}

/// The unit that differs in the case of letters alone. That of a `b` stays, if it can.
fn in_other_case(unit: &str) -> Option<String> {
    let (first, rest) = unit.split_at_checked(1)?;
    let rests = [rest.to_owned(), rest.replace("/S", "/s"), rest.to_ascii_lowercase()];
    let firsts = [first.to_ascii_uppercase(), first.to_ascii_lowercase()];
    let mut spellings = rests.iter().flat_map(|rest| firsts.iter().map(move |first| format!("{first}{rest}")));
    spellings.find(|unit| quantity(&format!("1{unit}")).is_some())
}

/// Advice for a word that is not understood.
fn meant(word: &str) -> String {
    let unit = word.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let (number, _) = word.split_at(word.len() - unit.len());
    if number.parse() == Ok(0.0) && quantity(&format!("1{unit}")).is_some() {
        return "it must be above 0".to_owned();
    }
    // Another first letter would be another power of ten, or another quantity.
    let of_same_power = || nearest(unit, UNITS.into_iter().filter(|known| known.get(..1) == unit.get(..1)));
    let near = match number {
        "" => nearest(word, WORDS.into_iter()).map(str::to_owned),
        _ => in_other_case(unit).or_else(|| of_same_power().map(str::to_owned)),
    };
    match near {
        Some(near) => format!("did you mean `{number}{near}`?"),
        None => "after the topology come a bandwidth (10Gbit/s), a latency (1us) and, if you like, cores of a host \
                 (host:4), a speed of cores (2.5Ginstr/s) and a network model (packet)"
            .to_owned(),
    }
}

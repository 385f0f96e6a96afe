//! An axis of a study: a key, and the values that it takes.

use std::path::Path;

use titr_document::{Checked, Located, Place, Source, Table, Value};

use crate::studies::magnitude::{Magnitude, rounded};

/// The property that an axis varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AxisKey {
    /// The platform file.
    Platform,
    /// The trace.
    Trace,
    /// The file of hypotheses.
    WhatIf,
    /// A key of the platform.
    Set(String),
}

impl AxisKey {
    /// The name of the axis in tables.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Platform => "platform",
            Self::Trace => "trace",
            Self::WhatIf => "what-if",
            Self::Set(key) => key,
        }
    }
}

/// A value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    /// The value for people: a text without its quotes.
    pub(crate) shown: String,
    /// The name that the study gives to a file.
    pub(crate) name: Option<String>,
    /// The price of the machine, where the study has prices of whole machines.
    pub(crate) price: Option<f64>,
    /// The value in TOML.
    pub(crate) toml: String,
    /// The number in SI units, if the value is one.
    pub(crate) magnitude: Option<Magnitude>,
    /// The place of the value in the study.
    pub(crate) place: Place,
}

/// A key, and the values that it takes.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// The property that varies.
    pub(crate) key: AxisKey,
    /// The place of the key in the study.
    pub(crate) place: Place,
    pub(crate) values: Values,
}

#[derive(Clone, Debug)]
pub(crate) enum Values {
    List(Vec<Setting>),
    /// All numbers between two others, for a Latin hypercube.
    Between(Range),
}

/// The numbers from one to another, in the unit of the first.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    from: f64,
    to: f64,
    /// The unit as written; empty for numbers alone.
    unit: String,
    is_logarithmic: bool,
    is_whole: bool,
    place: Place,
}

/// The most values of an axis.
const MOST: u64 = 10_000;

impl Setting {
    /// A value as it is written in the study.
    pub(crate) fn of(written: &Located, source: &Source) -> Self {
        let toml = source.text().get(written.place.clone()).unwrap_or_default().to_owned();
        let shown = match &written.value {
            Value::Text(text) => text.clone(),
            _ => toml.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        Self {
            shown,
            name: None,
            price: None,
            toml,
            magnitude: Magnitude::of(&written.value),
            place: written.place.clone(),
        }
    }

    /// The name that the study gives to a file, or the file's own.
    pub(crate) fn file_name(&self) -> String {
        let stem = || Path::new(&self.shown).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        self.name.clone().or_else(stem).unwrap_or_else(|| self.shown.clone())
    }

    /// The value in a table whose column has a unit, and the unit: as written if all values of the column are, and in SI units
    /// otherwise.
    pub(crate) fn cell(&self, unit: Option<&str>) -> String {
        match (self.magnitude, unit) {
            (Some(_), Some(unit)) if unit == unit_of(&self.shown) => {
                self.shown.trim_end_matches(unit).trim().to_owned()
            }
            (Some(magnitude), Some(_)) => magnitude.number.to_string(),
            _ => self.shown.clone(),
        }
    }
}

impl Axis {
    /// A value in few words: of a file its name, and of a platform in one line the words that tell it from the others.
    pub(crate) fn name_of(&self, setting: &Setting) -> String {
        match self.key {
            AxisKey::Set(_) => return setting.shown.clone(),
            AxisKey::Platform if setting.name.is_none() && setting.shown.contains(' ') => {}
            AxisKey::Platform | AxisKey::Trace | AxisKey::WhatIf => return setting.file_name(),
        }
        let platforms = self.settings();
        let has = |other: &Setting, word: &str| other.shown.split_whitespace().any(|one| one == word);
        let is_common = |word: &&str| platforms.len() > 1 && platforms.iter().all(|other| has(other, word));
        let own: Vec<&str> = setting.shown.split_whitespace().filter(|word| !is_common(word)).collect();
        own.join(" ").replacen(':', " ", 1)
    }

    /// The axis of a key with a written value: one value, a list, or a range.
    pub(crate) fn read(key: AxisKey, place: Place, written: Located, source: &Source) -> Checked<Self> {
        let values = match written.value {
            Value::List(items) => Values::List(items.iter().map(|item| Setting::of(item, source)).collect()),
            Value::Table(table) => Self::range(table, &written.place, source)?,
            _ => Values::List(vec![Setting::of(&written, source)]),
        };
        if matches!(&values, Values::List(settings) if settings.is_empty()) {
            let mistake = source.mistake(written.place, format!("the axis {} has no value", key.name()));
            return Err(mistake.with_help("give a list of values, such as [1, 2, 4]"));
        }
        Ok(Self { key, place, values })
    }

    fn range(mut table: Table, place: &Place, source: &Source) -> Checked<Values> {
        let missing = |key: &str| {
            let mistake = source.mistake(place.clone(), format!("missing key `{key}`"));
            mistake.with_help("a range is { from, to, step } or { from, to, count, scale = \"log\" }")
        };
        let from = table.remove("from").ok_or_else(|| missing("from"))?;
        let to = table.remove("to").ok_or_else(|| missing("to"))?;
        let (step, count, scale) = (table.remove("step"), table.remove("count"), table.remove("scale"));
        if let Some((key, _)) = table.into_entries().next() {
            let mistake = source.wrong(&key, format!("unknown key `{}`", key.get_ref()));
            return Err(mistake.with_help("a range has the keys from, to, step, count and scale"));
        }
        let is_whole = [Some(&from), Some(&to), step.as_ref()].into_iter().flatten().all(is_whole);
        let is_logarithmic = match scale.as_ref().map(|scale| (scale, &scale.value)) {
            None => false,
            Some((_, Value::Text(name))) if name == "log" => true,
            Some((_, Value::Text(name))) if name == "linear" => false,
            Some((scale, _)) => {
                let mistake = source.mistake(scale.place.clone(), "unknown scale");
                return Err(mistake.with_help("there are \"linear\" and \"log\""));
            }
        };
        let [first, last] = [number(&from, source)?, number(&to, source)?];
        if first.unit != last.unit {
            return Err(source.mistake(to.place, "the end of the range has another unit than its beginning"));
        }
        if last.number < first.number || (is_logarithmic && first.number <= 0.0) {
            let mistake = match is_logarithmic {
                true => source.mistake(from.place, "a logarithmic range needs 0 < from <= to"),
                false => source.mistake(to.place, "the range ends before it begins"),
            };
            return Err(mistake);
        }
        let unit = match &from.value {
            Value::Text(text) => unit_of(text).to_owned(),
            _ => String::new(),
        };
        let worth = Magnitude::of_text(&format!("1 {unit}")).map_or(1.0, |one| one.number);
        let range = Range {
            from: first.number / worth,
            to: last.number / worth,
            unit,
            is_logarithmic,
            is_whole,
            place: place.clone(),
        };
        match (step, count) {
            (None, None) => Ok(Values::Between(range)),
            (Some(step), None) if !is_logarithmic => {
                let width = number(&step, source)?;
                let steps = (last.number - first.number) / width.number;
                if width.unit != first.unit || width.number <= 0.0 || steps > MOST as f64 {
                    let mistake = source.mistake(step.place, "the range has no end, or too many values");
                    return Err(mistake.with_help(format!("an axis has at most {MOST} values; a step is above 0")));
                }
                // A step that fits almost a whole number of times was rounded in its last digit.
                let steps = (steps + 1e-9).floor();
                let end = range.from + steps * width.number / worth;
                Ok(Values::List(Range { to: end, ..range }.points(steps as u64 + 1)))
            }
            (None, Some(count)) => match count.value {
                Value::Whole(count) if (1..=i128::from(MOST)).contains(&count) => {
                    Ok(Values::List(range.points(count as u64)))
                }
                _ => Err(source.mistake(count.place, format!("a range has from 1 to {MOST} values"))),
            },
            (Some(step), _) => {
                let mistake =
                    source.mistake(step.place, "a range has a step or a count, and a logarithmic one a count");
                Err(mistake.with_help("remove one of them"))
            }
        }
    }

    /// The values of a list; none of a range without steps.
    pub(crate) fn settings(&self) -> &[Setting] {
        match &self.values {
            Values::List(settings) => settings,
            Values::Between(_) => &[],
        }
    }

    /// The unit in SI of all values, if all are numbers of one unit.
    pub(crate) fn unit(&self) -> Option<&'static str> {
        match &self.values {
            Values::List(settings) => {
                let mut units = settings.iter().map(|setting| Some(setting.magnitude?.unit));
                let first = units.next()??;
                units.all(|unit| unit == Some(first)).then_some(first)
            }
            Values::Between(range) => Some(range.at(0.0).magnitude?.unit),
        }
    }

    /// The unit of the column of the axis in a table: the one that all values are written in, or that of SI.
    pub(crate) fn written_unit(&self) -> Option<&str> {
        let unit = self.unit()?;
        Some(match &self.values {
            Values::List(settings) => {
                let written = settings.first().map_or(unit, |first| unit_of(&first.shown));
                if settings.iter().all(|setting| unit_of(&setting.shown) == written) { written } else { unit }
            }
            Values::Between(range) => &range.unit,
        })
    }
}

impl Range {
    /// This many values, equally far from each other.
    fn points(&self, count: u64) -> Vec<Setting> {
        let part = |number: u64| if count > 1 { number as f64 / (count - 1) as f64 } else { 0.0 };
        let mut points: Vec<Setting> = (0..count).map(|number| self.at(part(number))).collect();
        // Whole numbers that are close to each other round to the same one.
        points.dedup_by(|one, other| one.toml == other.toml);
        points
    }

    /// The value at a part of the way from the beginning to the end.
    pub(crate) fn at(&self, part: f64) -> Setting {
        let Self { from, to, unit, is_logarithmic, is_whole, place } = self;
        let number = match is_logarithmic {
            true => from * (to / from).powf(part),
            false => from + (to - from) * part,
        };
        let number = if *is_whole { number.round() } else { rounded(number, 12) };
        let shown = if unit.is_empty() { number.to_string() } else { format!("{number} {unit}") };
        let (toml, magnitude) = match unit.as_str() {
            "" => (shown.clone(), Some(Magnitude::plain(number))),
            _ => (format!("\"{shown}\""), Magnitude::of_text(&shown)),
        };
        Setting { shown, name: None, price: None, toml, magnitude, place: place.clone() }
    }
}

fn is_whole(written: &Located) -> bool {
    matches!(written.value, Value::Whole(_))
}

fn number(written: &Located, source: &Source) -> Checked<Magnitude> {
    Magnitude::of(&written.value).ok_or_else(|| {
        let mistake = source.mistake(written.place.clone(), "neither a number nor a quantity");
        mistake.with_help("write a number such as 4, or a quantity such as \"10 us\"")
    })
}

/// The unit of a quantity as written; empty for a number alone.
fn unit_of(text: &str) -> &str {
    let is_of_number = |letter: char| letter.is_ascii_digit() || ".+-".contains(letter);
    let unit = text.trim().trim_start_matches(is_of_number);
    // An exponent: `1e3 s`.
    let unit = match unit.strip_prefix(['e', 'E']) {
        Some(rest) if rest.starts_with(|letter: char| is_of_number(letter)) => rest.trim_start_matches(is_of_number),
        _ => unit,
    };
    unit.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(value: &str) -> Result<Axis, String> {
        let source = Source::new("study.toml", format!("a = {value}"), []);
        let Value::Table(mut table) = source.parse(&source.file).unwrap().value else { unreachable!() };
        let written = table.remove("a").unwrap();
        Axis::read(AxisKey::Set("a".into()), 0..1, written, &source).map_err(|mistake| mistake.message().to_owned())
    }

    fn values(value: &str) -> Vec<String> {
        match axis(value).unwrap().values {
            Values::List(settings) => settings.into_iter().map(|setting| setting.toml).collect(),
            Values::Between(_) => panic!("{value} has infinitely many values"),
        }
    }

    #[test]
    fn a_list_has_its_values_as_they_are_written() {
        assert_eq!(values("[1, \"10 Gbit/s\", [4,\n 4], true]"), ["1", "\"10 Gbit/s\"", "[4,\n 4]", "true"]);
        assert_eq!(values("\"block\""), ["\"block\""]);
        assert_eq!(axis("[\"1 us\", \"2 ms\"]").unwrap().unit(), Some("s"));
        assert_eq!(axis("[\"1 us\", \"2 MB\"]").unwrap().unit(), None);
        assert_eq!(axis("[\"block\"]").unwrap().unit(), None);
    }

    #[test]
    fn a_range_has_the_values_between_its_ends() {
        assert_eq!(values("{ from = 1, to = 7, step = 2 }"), ["1", "3", "5", "7"]);
        assert_eq!(values("{ from = 0.1, to = 0.45, step = 0.1 }"), ["0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(values("{ from = \"1 us\", to = \"10 us\", count = 2 }"), ["\"1 us\"", "\"10 us\""]);
        assert_eq!(values("{ from = 1, to = 8, count = 4, scale = \"log\" }"), ["1", "2", "4", "8"]);
        assert_eq!(values("{ from = 1, to = 2, count = 5 }"), ["1", "2"], "whole numbers stay whole");
        let mixed = values("{ from = \"500 ns\", to = \"2 us\", count = 3, scale = \"log\" }");
        assert_eq!(mixed, ["\"500 ns\"", "\"1000 ns\"", "\"2000 ns\""]);
        assert!(matches!(axis("{ from = 1, to = 2.5 }").unwrap().values, Values::Between(_)));
    }

    #[test]
    fn a_range_without_end_is_refused() {
        for range in [
            "[]",
            "{ from = 1 }",
            "{ from = 2, to = 1, step = 1 }",
            "{ from = 1, to = 2, step = 0 }",
            "{ from = 1, to = 2, step = -1 }",
            "{ from = 1, to = inf, step = 1 }",
            "{ from = 1, to = 2, step = 1e-9 }",
            "{ from = 0, to = 2, count = 3, scale = \"log\" }",
            "{ from = 1, to = 2, count = 0 }",
            "{ from = 1, to = 2, count = 3, scale = \"square\" }",
            "{ from = 1, to = 2, by = 3 }",
            "{ from = \"1 us\", to = \"2 B\", count = 3 }",
            "{ from = 1, to = 4, step = 1, count = 3 }",
        ] {
            assert!(axis(range).is_err(), "{range}");
        }
    }
}

//! A study: the file that says which axes are varied, and which points count.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use titr_common::input::{self, WRITTEN_BY_HAND};
use titr_document::{Checked, Located, Mistake, Place, Source, Spanned, Table, Value};

use crate::studies::axis::{Axis, AxisKey, Setting, Values};
use crate::studies::cost::Cost;
use crate::studies::error::StudyError;
use crate::studies::expression::{Expression, Names};
use crate::studies::magnitude::Magnitude;
use crate::studies::sampling::{self, Sample, Settings};

/// The version of the format.
const SCHEMA: u32 = 1;

/// The most points of a study, and the most combinations of which constraints choose.
const MOST: u64 = 100_000;

/// The place of a mistake in the file as a whole.
pub(crate) const BEGINNING: Place = 0..0;

/// A study, read and checked as far as its own text goes.
#[derive(Debug)]
pub(crate) struct Study {
    pub(crate) source: Source,
    /// The folder to which the names of files are relative.
    folder: PathBuf,
    /// The axes: platform, trace, hypotheses, and then the keys in the order of the file.
    pub(crate) axes: Vec<Axis>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) cost: Option<Cost>,
    sample: Sample,
    /// How often each program runs, by its name or its trace; once, if it is not said.
    pub(crate) weights: BTreeMap<String, f64>,
    /// The number of runs of each point, with different seeds.
    pub(crate) repeats: u32,
    /// Whether the communication efficiency is split by a further replay of each point.
    pub(crate) split_communication: bool,
}

/// A condition that points have to meet.
#[derive(Debug)]
pub(crate) struct Constraint {
    pub(crate) condition: Expression,
    place: Place,
}

/// The keys of a study besides its axes and tables of expressions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Keys {
    schema: Spanned<u32>,
    #[serde(default)]
    sample: Option<Spanned<SampleKeys>>,
    #[serde(default)]
    weights: BTreeMap<String, Spanned<f64>>,
    #[serde(default)]
    repeats: Option<Spanned<u32>>,
    #[serde(default)]
    split_communication: bool,
}

/// The kinds of samples.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
enum SampleKeys {
    Grid,
    #[serde(rename_all = "kebab-case")]
    LatinHypercube {
        points: usize,
        #[serde(default)]
        seed: u64,
    },
}

impl Study {
    /// Reads a study.
    pub(crate) fn load(path: &Path) -> Result<Self, StudyError> {
        let text = input::read_text(path, WRITTEN_BY_HAND)
            .map_err(|error| StudyError::Unreadable { path: path.to_owned(), error })?;
        Ok(Self::parse(path, text)?)
    }

    /// Reads the text of a study. Files that the text names are relative to the folder of `path`.
    pub(crate) fn parse(path: &Path, text: String) -> Checked<Self> {
        let source = Source::new(&path.display().to_string(), text, []);
        let parsed = source.parse(&source.file)?;
        let whole = parsed.place.clone();
        let Value::Table(mut file) = parsed.value else {
            return Err(source.mistake(BEGINNING, "a study is a TOML file"));
        };
        let mut axes = Vec::new();
        for (name, key, is_required) in [
            ("platform", AxisKey::Platform, true),
            ("trace", AxisKey::Trace, true),
            ("what-if", AxisKey::WhatIf, false),
        ] {
            match file.remove(name) {
                Some(written) => axes.push(files(key, written, &source)?),
                None if is_required => {
                    let mistake = source.mistake(BEGINNING, format!("missing key `{name}`"));
                    return Err(mistake.with_help(format!("name a file, or a list of them: {name} = \"FILE\"")));
                }
                None => {}
            }
        }
        let [written_axes, constraints, cost] = ["axes", "constraints", "cost"].map(|name| file.remove(name));
        let keys: Keys = Located::new(file, whole).read().map_err(|error| keys_mistake(error.shown_in(&source)))?;
        if *keys.schema.get_ref() != SCHEMA {
            return Err(source.wrong(&keys.schema, format!("this version of titr reads schema {SCHEMA} only")));
        }
        if let Some(written) = written_axes {
            let mut found = Vec::new();
            set_axes(table(written, "axes", &source)?, "", &source, &mut found)?;
            // The order of the file, which columns keep.
            found.sort_by_key(|axis: &Axis| axis.place.start);
            axes.extend(found);
        }
        let names: Vec<&str> = axes.iter().map(|axis| axis.key.name()).collect();
        let constraints = constraints.map(|written| conditions(written, &names, &source)).transpose()?;
        let cost = cost.map(|written| Cost::read(table(written, "cost", &source)?, &names, &source)).transpose()?;
        let repeats = match &keys.repeats {
            Some(repeats) if !(1..=1000).contains(repeats.get_ref()) => {
                return Err(source.wrong(repeats, "a point has from 1 to 1000 runs"));
            }
            Some(repeats) => *repeats.get_ref(),
            None => 1,
        };
        let sample = sample(keys.sample.as_ref(), &axes, &source)?;
        let weights = weights(keys.weights, &axes, &source)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let split_communication = keys.split_communication;
        let study = Self {
            folder,
            axes,
            constraints: constraints.unwrap_or_default(),
            cost,
            sample,
            weights,
            repeats,
            split_communication,
            source,
        };
        let count = sampling::count(&study.axes, sample);
        if count > MOST {
            let mistake = study.source.mistake(BEGINNING, format!("the study has {count} points"));
            return Err(
                mistake.with_help(format!("a study has at most {MOST}: take fewer values, or a Latin hypercube"))
            );
        }
        Ok(study)
    }

    /// The path of a file that the study names.
    pub(crate) fn file(&self, setting: &Setting) -> PathBuf {
        self.folder.join(&setting.shown)
    }

    /// The values of all axes at each point, before constraints.
    pub(crate) fn points(&self) -> Vec<Settings> {
        sampling::points(&self.axes, self.sample)
    }

    /// The number of the axis with this key.
    pub(crate) fn axis(&self, key: &AxisKey) -> Option<usize> {
        self.axes.iter().position(|axis| axis.key == *key)
    }

    /// The axes that have several values, with their numbers.
    pub(crate) fn varied(&self) -> impl Iterator<Item = (usize, &Axis)> {
        self.axes.iter().enumerate().filter(|(_, axis)| match &axis.values {
            Values::List(settings) => settings.len() > 1 || matches!(axis.key, AxisKey::Set(_)),
            Values::Between(_) => true,
        })
    }

    /// Whether a point meets a constraint.
    pub(crate) fn meets(&self, constraint: &Constraint, names: &dyn Names) -> Result<bool, Mistake> {
        constraint.condition.holds(names).map_err(|why| self.source.mistake(constraint.place.clone(), why))
    }
}

/// A mistake in the keys of a study, of which some are read before the others.
fn keys_mistake(mistake: Mistake) -> Mistake {
    match mistake.message().starts_with("unknown key") {
        true => mistake.with_help(
            "a study has the keys schema, platform, trace, what-if, sample, repeats and split-communication, and the tables axes, \
             weights, constraints and cost",
        ),
        false => mistake,
    }
}

/// The table that a key of the study has.
fn table(written: Located, name: &str, source: &Source) -> Checked<Table> {
    match written.value {
        Value::Table(table) => Ok(table),
        _ => Err(source.mistake(written.place, format!("`{name}` is a table: write [{name}]"))),
    }
}

/// The axis of files that a key of the study names.
fn files(key: AxisKey, written: Located, source: &Source) -> Checked<Axis> {
    let place = written.place.clone();
    let name = key.name().to_owned();
    let items = match written.value {
        Value::List(items) => items,
        value => vec![Located { value, place: place.clone() }],
    };
    let named = items.into_iter().map(|item| named(item, key == AxisKey::Platform, &name, source));
    let (entries, files): (Vec<_>, Vec<_>) = named.collect::<Checked<Vec<_>>>()?.into_iter().unzip();
    let mut axis = Axis::read(key, place.clone(), Located { value: Value::List(files), place }, source)?;
    let Values::List(settings) = &mut axis.values else { return Ok(axis) };
    for (setting, Entry { name, price }) in settings.iter_mut().zip(entries) {
        (setting.name, setting.price) = (name, price);
    }
    if let (true, Some(setting)) = (
        settings.iter().any(|setting| setting.price.is_some()),
        settings.iter().find(|setting| setting.price.is_none()),
    ) {
        return Err(source.mistake(setting.place.clone(), "this machine has no price, and others have one"));
    }
    match settings.iter().find(|setting| !setting.toml.starts_with(['"', '\''])) {
        Some(setting) => {
            Err(source.mistake(setting.place.clone(), format!("`{name}` is the name of a file, in quotes")))
        }
        None => Ok(axis),
    }
}

/// What a study says of a file: `{ name = "fat-tree 2:1", file = "fat-tree.toml", price = 250000 }`.
#[derive(Default)]
struct Entry {
    name: Option<String>,
    price: Option<f64>,
}

/// A file, and what the study says of it.
fn named(item: Located, has_price: bool, key: &str, source: &Source) -> Checked<(Entry, Located)> {
    let place = item.place.clone();
    let Value::Table(mut table) = item.value else { return Ok((Entry::default(), item)) };
    let price = if has_price { table.remove("price") } else { None };
    let price = price.map(|written| {
        let price = Magnitude::of(&written.value).map(|price| price.number).filter(|price| *price >= 0.0);
        price.ok_or_else(|| source.mistake(written.place, "a price is a number from 0 on"))
    });
    match (table.remove("name").map(|name| name.value), table.remove("file"), table.entries().next()) {
        (Some(Value::Text(name)), Some(file), None) => {
            Ok((Entry { name: Some(name), price: price.transpose()? }, file))
        }
        _ => {
            let mistake = source.mistake(place, format!("`{key}` names a file, or a list of files"));
            Err(mistake.with_help("write \"FILE\", or { name = \"NAME\", file = \"FILE\" }"))
        }
    }
}

/// How often each program runs.
fn weights(written: BTreeMap<String, Spanned<f64>>, axes: &[Axis], source: &Source) -> Checked<BTreeMap<String, f64>> {
    let traces: Vec<&Setting> =
        axes.iter().filter(|axis| axis.key == AxisKey::Trace).flat_map(Axis::settings).collect();
    let read = |(name, weight): (String, Spanned<f64>)| {
        if !traces.iter().any(|trace| trace.shown == name || trace.name.as_ref() == Some(&name)) {
            let names: Vec<&str> =
                traces.iter().map(|trace| trace.name.as_ref().unwrap_or(&trace.shown).as_str()).collect();
            let mistake = source.wrong(&weight, format!("the study has no trace `{name}`"));
            return Err(mistake.with_help(format!("there are {}", names.join(", "))));
        }
        match *weight.get_ref() {
            runs if runs > 0.0 && runs.is_finite() => Ok((name, runs)),
            _ => Err(source.wrong(&weight, "a weight is a number above 0")),
        }
    };
    written.into_iter().map(read).collect()
}

/// Adds the axes in a table, whose own key is `path`. A table with a beginning and an end is a range.
fn set_axes(table: Table, path: &str, source: &Source, axes: &mut Vec<Axis>) -> Checked<()> {
    for (key, written) in table.into_entries() {
        let place = key.span();
        let path = if path.is_empty() { key.into_inner() } else { format!("{path}.{}", key.get_ref()) };
        match written.value {
            Value::Table(below) if !below.entries().any(|(key, _)| key == "from" || key == "to") => {
                set_axes(below, &path, source, axes)?;
            }
            value => {
                if axes.iter().any(|axis| axis.key.name() == path) {
                    return Err(source.mistake(place, format!("{path} is an axis already")));
                }
                let written = Located { value, place: written.place };
                axes.push(Axis::read(AxisKey::Set(path), place, written, source)?);
            }
        }
    }
    Ok(())
}

fn conditions(written: Located, axes: &[&str], source: &Source) -> Checked<Vec<Constraint>> {
    let read = |(key, written): (Spanned<String>, Located)| {
        let Value::Text(text) = &written.value else {
            let mistake = source.mistake(written.place, format!("the constraint {} is no text", key.get_ref()));
            return Err(mistake.with_help("write a condition in quotes, such as \"hosts * cores >= ranks\""));
        };
        let condition = Expression::parse(text, axes).map_err(|why| source.mistake(written.place.clone(), why))?;
        Ok(Constraint { condition, place: written.place })
    };
    table(written, "constraints", source)?.into_entries().map(read).collect()
}

fn sample(written: Option<&Spanned<SampleKeys>>, axes: &[Axis], source: &Source) -> Checked<Sample> {
    let sample = match written.map(|written| (written, written.get_ref())) {
        None | Some((_, SampleKeys::Grid)) => Sample::Grid,
        Some((written, SampleKeys::LatinHypercube { points: 0, .. })) => {
            return Err(source.wrong(written, "a Latin hypercube has at least one point"));
        }
        Some((_, SampleKeys::LatinHypercube { points, seed })) => {
            Sample::LatinHypercube { points: *points, seed: *seed }
        }
    };
    let endless = axes.iter().find(|axis| matches!(axis.values, Values::Between(_)));
    match endless {
        Some(axis) if sample == Sample::Grid => {
            let message = format!("the axis {} has infinitely many values", axis.key.name());
            let mistake = source.mistake(axis.place.clone(), message);
            Err(mistake.with_help("give the range a step or a count, or take a sample: [sample.latin-hypercube]"))
        }
        _ => Ok(sample),
    }
}

/// The texts of a point's varied axes: `hosts.cores = 4, network.latency = 1 us`.
pub(crate) fn in_words(study: &Study, settings: &[Setting]) -> String {
    let part = |(number, axis): (usize, &Axis)| {
        settings.get(number).map(|setting| format!("{} = {}", axis.key.name(), setting.shown))
    };
    study.varied().filter_map(part).collect::<Vec<_>>().join(", ")
}

/// The values of the axes of a platform, as `--set` takes them, each with its axis.
pub(crate) fn overrides(study: &Study, settings: &[Setting]) -> (Vec<String>, BTreeMap<usize, usize>) {
    let mut overrides = Vec::new();
    let mut axes = BTreeMap::new();
    for (number, (axis, setting)) in study.axes.iter().zip(settings).enumerate() {
        if let AxisKey::Set(key) = &axis.key {
            axes.insert(overrides.len(), number);
            overrides.push(format!("{key}={}", setting.toml));
        }
    }
    (overrides, axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(text: &str) -> Result<Study, String> {
        let text = format!("schema = 1\nplatform = \"p.toml\"\ntrace = [\"a\", \"b\"]\n{text}");
        Study::parse(Path::new("folder/study.toml"), text).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn axes_are_in_the_order_of_the_file() {
        let study =
            study("[axes]\nnetwork.latency = [\"1 us\", \"2 us\"]\n\"hosts.cores\" = { from = 1, to = 2, step = 1 }")
                .unwrap();
        let names: Vec<&str> = study.axes.iter().map(|axis| axis.key.name()).collect();
        assert_eq!(names, ["platform", "trace", "network.latency", "hosts.cores"]);
        assert_eq!(study.varied().map(|(number, _)| number).collect::<Vec<_>>(), [1, 2, 3]);
        let points = study.points();
        assert_eq!(points.len(), 8);
        assert_eq!(in_words(&study, &points[1]), "trace = a, network.latency = 1 us, hosts.cores = 2");
        assert_eq!(overrides(&study, &points[1]).0, ["network.latency=\"1 us\"", "hosts.cores=2"]);
        assert_eq!(study.file(&points[0][0]), Path::new("folder/p.toml"));
    }

    #[test]
    fn a_study_without_end_or_sense_is_refused_with_its_place() {
        let shown = [
            "[axes]\nhosts.cores = []",
            "[axes]\nhosts.cores = { from = 1.5, to = 2.5 }",
            "repeats = 0",
            "sample = \"random\"",
            "[sample.latin-hypercube]\npoints = 0",
            "colour = 1",
            "axes = 3",
            "[constraints]\nfits = \"colour > 1\"",
            "[constraints]\nfits = 1",
            "[cost]\nhost = \"1 +\"",
            "[cost]\ncolour = 1",
            "[axes]\na = { from = 1, to = 1000, step = 1 }\nb = { from = 1, to = 1000, step = 1 }",
        ]
        .map(|text| study(text).unwrap_err());
        insta::assert_snapshot!(shown.join("\n\n"));
        let missing = Study::parse(Path::new("study.toml"), "schema = 1\ntrace = \"a\"".into()).unwrap_err();
        assert_eq!(missing.message(), "missing key `platform`");
    }
}

//! The manuals show each key of platforms and of files of jobs. A table of a manual with the head
//! "| `[hosts]` | default | meaning |" is that of the struct whose comment begins with `` `[hosts]` ``, made from the comments
//! of its fields. `UPDATE=1 cargo test --package titr-platform --test manual` writes these tables. That of topologies is
//! written by hand, and checked.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use titr_platform::Platform;

/// Where the structs are.
const SOURCES: [&str; 3] = ["src/tables", "src/topology", "src/job_mix"];

/// The manuals that have tables of keys.
const MANUALS: [&str; 3] = ["PLATFORM.md", "PACKET.md", "JOBS.md"];

/// The end of the head of a table of keys.
const COLUMNS: &str = " | default | meaning |";

/// A struct that is read from a table of a file.
struct Table {
    /// The table's names in the manual, such as `[mpi]`: none if its keys stand in the table above it.
    names: Vec<String>,
    fields: Vec<Field>,
}

struct Field {
    key: String,
    /// Another name of the key.
    alias: Option<String>,
    comment: String,
    /// The last name in the type: that of a struct, if the field is a table.
    kind: String,
    is_required: bool,
}

/// The structs of the sources, by the names of their types.
fn tables() -> BTreeMap<String, Table> {
    let mut tables = BTreeMap::new();
    let mut folders: Vec<PathBuf> = SOURCES.map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                read_tables(&fs::read_to_string(path).unwrap(), &mut tables);
            }
        }
    }
    tables
}

fn read_tables(source: &str, tables: &mut BTreeMap<String, Table>) {
    let (mut comment, mut attributes) = (String::new(), String::new());
    let mut inside: Option<(String, Table, bool)> = None;
    for line in source.lines() {
        let words = line.trim_start();
        if let Some(text) = words.strip_prefix("///") {
            comment.push_str(text);
        } else if words.starts_with("#[") {
            attributes.push_str(words);
        } else if words.starts_with("//") {
            // A comment for programmers.
        } else {
            let (comment, attributes) = (std::mem::take(&mut comment), std::mem::take(&mut attributes));
            let has_default = attributes.contains("serde(default");
            let words = words.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            if let Some((name, "")) = words.strip_prefix("struct ").and_then(|words| words.split_once(" {")) {
                if attributes.contains("deny_unknown_fields") {
                    let names = comment.split(':').next().unwrap().split('`').filter(|name| name.starts_with('['));
                    let is_named = comment.starts_with(" `[");
                    let names = names.filter(|_| is_named).map(ToOwned::to_owned).collect();
                    inside = Some((name.to_owned(), Table { names, fields: Vec::new() }, has_default));
                }
            } else if line == "}"
                && let Some((name, table, _)) = inside.take()
            {
                tables.insert(name, table);
            } else if let Some((_, table, all_have_defaults)) = &mut inside
                && let Some((key, kind)) = words.split_once(": ")
            {
                let alias = attributes.split_once("alias = \"").and_then(|(_, rest)| rest.split_once('"'));
                table.fields.push(Field {
                    key: key.to_owned(),
                    alias: alias.map(|(alias, _)| alias.to_owned()),
                    comment: comment.trim().to_owned(),
                    kind: kind.trim_end_matches(['>', ',']).rsplit(['<', ' ']).next().unwrap().to_owned(),
                    is_required: !has_default && !*all_have_defaults && !kind.starts_with("Option<"),
                });
            }
        }
    }
}

/// The fields of a table with their keys. Those of a table below it that has no name belong to it.
fn fields<'a>(table: &'a Table, tables: &'a BTreeMap<String, Table>) -> Vec<(String, &'a Field)> {
    let mut all = Vec::new();
    for field in &table.fields {
        match tables.get(&field.kind).filter(|below| below.names.is_empty()) {
            None => all.push((field.key.clone(), field)),
            Some(below) => {
                let below = fields(below, tables);
                all.extend(below.into_iter().map(|(key, below)| (format!("{}.{key}", field.key), below)));
            }
        }
    }
    all
}

/// The rows of a table in the manual: keys, default and meaning.
fn rows(name: &str, table: &Table, tables: &BTreeMap<String, Table>) -> Vec<[String; 3]> {
    let mut rows: Vec<[String; 3]> = Vec::new();
    for (key, field) in fields(table, tables).into_iter().filter(|(_, field)| !tables.contains_key(&field.kind)) {
        let mut key = format!("`{key}`");
        if let Some(alias) = &field.alias {
            write!(key, " (or `{alias}`)").unwrap();
        }
        if field.comment.is_empty() {
            let [keys, default, _] = rows.last_mut().unwrap_or_else(|| panic!("{name} {key} has no comment"));
            assert_eq!(field.is_required, default.starts_with("required"), "{name} {key} shares the row of {keys}");
            write!(keys, ", {key}").unwrap();
            continue;
        }
        let (meaning, default) = meaning_and_default(&field.comment).unwrap_or_else(|| {
            panic!("the comment of {name} {key} ends neither in \"Default: ….\" nor in \"Required.\"")
        });
        assert!(!field.is_required || default.starts_with("required"), "{name} {key} is required");
        rows.push([key, default, meaning]);
    }
    rows
}

fn meaning_and_default(comment: &str) -> Option<(String, String)> {
    let (meaning, default) = match (comment.rfind(" Default: "), comment.rfind(" Required")) {
        (Some(place), required) if required < Some(place) => {
            (&comment[..place], &comment[place + " Default: ".len()..])
        }
        (_, Some(place)) => (&comment[..place], &comment[place + 1..]),
        _ => return None,
    };
    Some((phrase(meaning), phrase(default)))
}

/// A sentence, or several, as a cell of a table: begins with a small letter, unless with an abbreviation, and has no full
/// stop at the end.
fn phrase(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if !letters.clone().next().is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => sentence.to_owned(),
    }
}

fn manual(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// A manual with the tables of the sources.
fn updated(text: &str, tables: &BTreeMap<String, Table>, shown: &mut BTreeSet<String>) -> String {
    let mut updated = String::new();
    let mut is_inside = false;
    for line in text.split_inclusive('\n') {
        is_inside &= line.starts_with('|');
        if is_inside {
            continue;
        }
        updated.push_str(line);
        let head = line.trim_end().strip_suffix(COLUMNS).and_then(|head| head.strip_prefix("| `")?.strip_suffix('`'));
        if let Some(name) = head.filter(|name| name.starts_with('[')) {
            is_inside = true;
            let table = tables.values().find(|table| table.names.iter().any(|found| found == name));
            let table = table.unwrap_or_else(|| panic!("no struct is {name}"));
            assert!(shown.insert(name.to_owned()), "{name} is shown twice");
            updated.push_str("|---|---|---|\n");
            updated.extend(rows(name, table, tables).iter().map(|cells| format!("| {} |\n", cells.join(" | "))));
        }
    }
    updated
}

#[test]
fn the_manuals_show_the_keys_of_the_sources() {
    let tables = tables();
    let mut shown = BTreeSet::new();
    for name in MANUALS {
        let text = fs::read_to_string(manual(name)).unwrap();
        let updated = updated(&text, &tables, &mut shown);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(manual(name), updated).unwrap();
        } else {
            assert!(text == updated, "docs/{name} has other tables: set UPDATE=1 and run this test");
        }
    }
    let names = tables.values().flat_map(|table| &table.names);
    let missing: Vec<_> = names.filter(|name| !name.contains("[topology.") && !shown.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "no manual has a table of {missing:?}");
}

/// Platforms, for each of which some keys are permitted.
const PLATFORMS: [(&str, &[&str]); 5] = [
    ("torus:4x4 10Gbit/s 1us", &["storage.collective=\"automatic\"", "node={}"]),
    ("torus:4x4 10Gbit/s 1us", &["storage.servers={ hosts = [0] }"]),
    ("torus:4x4 10Gbit/s 1us", &["network.rails.count=2"]),
    ("torus:4x4 10Gbit/s 1us packet", &[]),
    ("star:4 10Gbit/s packet", &["network.packet.switch=\"output-queued\"", "network.packet.buffer=\"64 KiB\""]),
];

#[test]
fn a_platform_stays_the_same_if_a_key_is_set_to_its_default() {
    let defaults = defaults();
    assert!(defaults.len() > 40, "{defaults:?}");
    for setting in defaults {
        let same = PLATFORMS.iter().find_map(|(line, others)| is_same(line, others, &setting));
        assert_eq!(same, Some(true), "{setting} is not the default");
    }
}

/// The defaults in the manuals as settings, where they are values.
fn defaults() -> Vec<String> {
    let tables = tables();
    let mut settings = Vec::new();
    for (name, table) in tables.values().flat_map(|table| table.names.iter().map(move |name| (name, table))) {
        if name.starts_with("[[") || name.contains("[topology.") {
            continue;
        }
        for [keys, default, _] in rows(name, table, &tables) {
            let keys = keys.split(", ").map(|key| key.split('`').nth(1).unwrap());
            let values: Vec<_> = default.split(';').next().unwrap().split(", ").map(literal).collect();
            let values = keys.zip(values.iter().cycle()).filter_map(|(key, value)| Some((key, value.as_ref()?)));
            settings.extend(values.map(|(key, value)| format!("{}.{key}={value}", name.trim_matches(['[', ']']))));
        }
    }
    settings
}

/// A default as a value in TOML, if it is one: `` `"flow"` ``, `1`, `64 KiB`.
fn literal(default: &str) -> Option<String> {
    let value = default.trim_matches('`');
    if value.starts_with('"') || matches!(value, "true" | "false") || value.parse::<f64>().is_ok() {
        return Some(value.to_owned());
    }
    value.starts_with(|first: char| first.is_ascii_digit()).then(|| format!("\"{value}\""))
}

/// Whether a platform stays the same with a setting; none if the setting is not permitted there.
fn is_same(line: &str, others: &[&str], setting: &str) -> Option<bool> {
    let load = |settings: &[&str]| {
        let settings: Vec<_> = settings.iter().map(ToString::to_string).collect();
        Platform::load(Path::new(line), &settings).map(|platform| format!("{platform:?}"))
    };
    let with = load(&[others, &[setting]].concat()).ok()?;
    let without = load(others).unwrap();
    let words = |text: &str| text.split([' ', '(', ')', ',']).map(ToOwned::to_owned).collect::<Vec<_>>();
    let (with, without) = (words(&with), words(&without));
    Some(with.len() == without.len() && with.iter().zip(&without).all(|(one, other)| is_same_word(one, other)))
}

/// Whether words are equal, or numbers that differ by no more than rounding.
fn is_same_word(one: &str, other: &str) -> bool {
    let numbers = (one.parse::<f64>(), other.parse::<f64>());
    one == other || matches!(numbers, (Ok(one), Ok(other)) if (one - other).abs() <= one.abs() * f64::EPSILON)
}

#[test]
fn the_manual_names_the_keys_of_each_file_and_topology() {
    let tables = tables();
    let text = fs::read_to_string(manual("PLATFORM.md")).unwrap();
    for (key, _) in fields(&tables["File"], &tables) {
        assert!(text.contains(&format!("`{key}`")) || text.contains(&format!("`[{key}")), "{key} is not in the manual");
    }
    for table in tables.values() {
        let keys: BTreeSet<String> = fields(table, &tables).into_iter().map(|(key, _)| key).collect();
        for name in table.names.iter().filter(|name| name.contains("[topology.")) {
            let shown = if name.starts_with("[[") { keys_of_example(&text, name) } else { keys_of_rows(&text, name) };
            assert_eq!(shown, keys, "the manual has other keys of {name}");
        }
    }
}

/// The keys in the second column of a topology's row, and of the rows below it that are "the same".
fn keys_of_rows(manual: &str, name: &str) -> BTreeSet<String> {
    let begin = format!("| `{name}`");
    let mut rows = manual.lines().skip_while(|line| !line.starts_with(&begin));
    let first = rows.next().unwrap_or_else(|| panic!("the manual has no row of {name}"));
    let rows = std::iter::once(first).chain(rows.take_while(|line| line.starts_with("| the same |")));
    let mut keys = BTreeSet::new();
    for row in rows {
        for key in row.split(" | ").nth(1).unwrap().split([',', ';']) {
            let key = key.split('`').nth(1);
            keys.extend(key.map(ToOwned::to_owned));
        }
    }
    keys
}

/// The keys that the first example of a table sets.
fn keys_of_example(manual: &str, name: &str) -> BTreeSet<String> {
    let example = manual.lines().skip_while(|line| !line.starts_with(name)).skip(1);
    let settings = example.map_while(|line| line.split_once(" = "));
    settings.map(|(key, _)| key.to_owned()).collect()
}

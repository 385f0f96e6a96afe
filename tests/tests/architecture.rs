//! The rules of the project, checked against the source. A violation names the file and the line.
//!
//! To add a crate, add it to [`LAYERS`], below all that it imports, and run
//! `UPDATE=1 cargo test --package titr-tests --test architecture`, which writes the crates into `docs/ARCHITECTURE.md`.

#[path = "architecture/circles.rs"]
mod circles;
#[path = "architecture/events.rs"]
mod events;
#[path = "architecture/source.rs"]
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use circles::circles;
use source::{Crate, Module};

/// Who may import whom: a crate imports only from the crates named in its row.
const LAYERS: &str = "\
| crate | may import from |
| --- | --- |
| `common` |  |
| `replayer/network` | `common` |
| `replayer/document` | `common` |
| `replayer/platform` | `common` `replayer/document` `replayer/network` |
| `replayer/workload` | `common` |
| `replayer/hypotheses` | `common` `replayer/document` |
| `replayer/formats` | `common` `replayer/workload` |
| `replayer/extrapolation` | `common` |
| `replayer/simulation` | `common` `replayer/document` `replayer/network` `replayer/platform` `replayer/workload` |
| `replayer/analyses` | `common` `replayer/document` `replayer/network` `replayer/platform` `replayer/hypotheses` `replayer/workload` `replayer/simulation` |
| `replayer/calibration` | `common` `replayer/document` `replayer/network` `replayer/platform` `replayer/simulation` |
| `replayer/library` | `common` `replayer/network` `replayer/platform` `replayer/formats` `replayer/simulation` `replayer/analyses` |
| `replayer/network-c` | `common` `replayer/network` `replayer/platform` |
| `replayer` | `common` `replayer/document` `replayer/network` `replayer/platform` `replayer/workload` `replayer/hypotheses` `replayer/formats` `replayer/extrapolation` `replayer/simulation` `replayer/analyses` `replayer/calibration` |
| `wrappers` |  |
| `tracer/papi-sys` |  |
| `tracer/config` | `common` |
| `tracer/emulation` | `tracer/config` |
| `tracer` | `common` `wrappers` `tracer/papi-sys` `tracer/config` |
| `tracer/launcher` | `common` `tracer/config` |
| `tracer/programs` | `common` `wrappers` `replayer/workload` `replayer/hypotheses` `replayer/calibration` |
";

/// Modules at the top of a crate that import from each other, and are to be untied.
const TIED: [&[&str]; 2] =
    [&["analysis", "causes", "critical_path", "findings", "matrix", "wait_states"], &["call", "functions"]];

/// The head of the table of crates in `docs/ARCHITECTURE.md`.
const TABLE: &str = "\
| crates, from the bottom up |
| --- |
";

/// Lines of a file at most: a longer one smells.
const LONGEST: usize = 800;

/// A row of [`LAYERS`].
#[derive(Clone)]
struct Layer {
    /// Its folder, and what a message calls it.
    folder: &'static str,
    imports: Vec<&'static str>,
}

/// The source of each crate, with its row: a package may have several.
static CRATES: LazyLock<Vec<(Layer, Crate)>> = LazyLock::new(|| {
    let sources = |layer: &Layer| Crate::all_of(&root().join(layer.folder));
    let read = |layer: &Layer| sources(layer).into_iter().map(|source| (layer.clone(), source)).collect::<Vec<_>>();
    LAYER_ROWS.iter().flat_map(read).collect()
});

static LAYER_ROWS: LazyLock<Vec<Layer>> = LazyLock::new(|| LAYERS.lines().skip(2).map(layer).collect());

fn layer(row: &'static str) -> Layer {
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    let [folder, imports] = cells[..] else { panic!("{row}") };
    let imports = imports.split(' ').map(|word| word.trim_matches('`')).filter(|word| !word.is_empty()).collect();
    Layer { folder: folder.trim_matches('`'), imports }
}

/// The folder of the whole source.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A file as a message names it.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// Where each crate of titr is, by the name of its package.
fn folders() -> BTreeMap<String, &'static str> {
    let name = |layer: &Layer| {
        let manifest = fs::read_to_string(root().join(layer.folder).join("Cargo.toml")).unwrap();
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
        (name.trim_matches('"').to_owned(), layer.folder)
    };
    LAYER_ROWS.iter().map(name).collect()
}

fn complain(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn the_architecture_document_shows_the_layers() {
    let file = root().join("docs/ARCHITECTURE.md");
    let text = fs::read_to_string(&file).unwrap();
    let begin = text.find(TABLE).expect("a table of crates in docs/ARCHITECTURE.md");
    let end = begin + text[begin..].find("\n\n").map_or(text.len() - begin, |end| end + 1);
    let updated = [&text[..begin], &levels(), &text[end..]].concat();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, &updated).unwrap();
        return;
    }
    assert!(text == updated, "docs/ARCHITECTURE.md has another table: set UPDATE=1 and run this test");
}

/// The crates as a table, each in a row below all that it imports.
fn levels() -> String {
    let mut levels: Vec<Vec<&str>> = Vec::new();
    for Layer { folder, imports } in LAYER_ROWS.iter() {
        let has_import = |level: &Vec<&str>| level.iter().any(|below| imports.contains(below));
        let level = levels.iter().rposition(has_import).map_or(0, |below| below + 1);
        levels.resize(levels.len().max(level + 1), Vec::new());
        levels[level].push(folder);
    }
    let row = |level: &Vec<&str>| format!("| `{}` |\n", level.join("` `"));
    TABLE.to_owned() + &levels.iter().map(row).collect::<String>()
}

/// A path in backquotes that begins with a folder of the source. `{a,b}` stands for several names; a word in capitals is to
/// be filled in by the reader, so that only what stands before it has to be there.
#[test]
fn every_place_that_the_documents_for_developers_name_is_there() {
    let read = |page: &str| fs::read_to_string(root().join(page)).unwrap();
    let text = ["docs/ARCHITECTURE.md", "docs/GLOSSARY.md", "docs/TESTING.md", "CONTRIBUTING.md"].map(read).concat();
    let folders = ["common/", "wrappers/", "tracer/", "replayer/", "tests/"];
    let named = text.split('`').skip(1).step_by(2).filter(|path| folders.iter().any(|folder| path.starts_with(folder)));
    let paths: Vec<String> = named.flat_map(alternatives).collect();
    assert!(paths.len() > 40, "only {} paths were found", paths.len());
    let missing: Vec<String> = paths.into_iter().filter(|path| !root().join(path).exists()).collect();
    complain(&missing);
}

/// The paths that `pattern` stands for, each up to the first word in capitals.
fn alternatives(pattern: &str) -> Vec<String> {
    let is_placeholder = |part: &&str| part.len() > 1 && part.starts_with(|c: char| c.is_ascii_uppercase());
    let known: Vec<&str> = pattern.split('/').take_while(|part| !is_placeholder(part)).collect();
    let known = known.join("/");
    match known.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (inside, after))) => inside.split(',').map(|choice| format!("{before}{choice}{after}")).collect(),
        None => vec![known],
    }
}

#[test]
fn every_crate_has_a_row() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members =
        manifest.lines().skip_while(|line| !line.starts_with("members")).skip(1).take_while(|line| *line != "]");
    let members: BTreeSet<&str> = members.map(|line| line.trim_matches([' ', '"', ','])).collect();
    let rows: BTreeSet<&str> = LAYER_ROWS.iter().map(|layer| layer.folder).collect();
    let of_tests: BTreeSet<&str> = members.difference(&rows).copied().collect();
    assert!(of_tests.iter().all(|folder| folder.starts_with("tests")), "a crate without a row in LAYERS: {of_tests:?}");
    assert!(rows.is_subset(&members));
}

#[test]
fn a_crate_depends_only_on_those_of_its_row() {
    let folders = folders();
    let mut broken = Vec::new();
    for Layer { folder, imports } in LAYER_ROWS.iter() {
        let path = root().join(folder).join("Cargo.toml");
        let mut section = String::new();
        for (line, text) in (1..).zip(fs::read_to_string(&path).unwrap().lines()) {
            if text.starts_with('[') {
                section = text.to_owned();
            }
            let package = text.split(['.', ' ', '=']).next().unwrap();
            let forbidden = folders.get(package).filter(|to| !imports.contains(to));
            if let (true, Some(to)) = (section == "[dependencies]", forbidden) {
                broken.push(format!("{}:{line}: {folder} must not depend on {to}", shown(&path)));
            }
        }
    }
    complain(&broken);
}

#[test]
fn no_modules_at_the_top_import_each_other() {
    let mut found = Vec::new();
    for (Layer { folder, .. }, source) in CRATES.iter() {
        let mut edges: BTreeMap<Module, Vec<Module>> = BTreeMap::new();
        for module in source.files.keys().filter(|module| !module.is_empty()) {
            let targets = source.imports(module).into_iter().filter(|(target, _)| !target.is_empty());
            let tops = targets.map(|(target, _)| target[..1].to_vec()).filter(|top| *top != module[..1]);
            edges.entry(module[..1].to_vec()).or_default().extend(tops);
        }
        for circle in circles(&edges) {
            let names: BTreeSet<&str> = circle.iter().map(|module| module[0].as_str()).collect();
            if !TIED.iter().any(|tied| names.iter().all(|name| tied.contains(name))) {
                found.push(format!("{folder}: {names:?} import each other"));
            }
        }
    }
    complain(&found);
}

#[test]
fn no_files_import_each_other() {
    let mut found = Vec::new();
    for (Layer { folder, .. }, source) in CRATES.iter() {
        let imports = |module: &Module| source.imports(module).into_iter().map(|(target, _)| target).collect();
        let edges = source.files.keys().map(|module| (module.clone(), imports(module))).collect();
        for circle in circles(&edges) {
            let files: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
            found.push(format!("{folder}: {} import each other", files.join(", ")));
        }
    }
    complain(&found);
}

/// Fails where a crate breaks a rule; `broken` lists the places.
fn no_crate(broken: impl Fn(&Crate) -> Vec<String>) {
    complain(&CRATES.iter().flat_map(|(_, source)| broken(source)).collect::<Vec<_>>());
}

#[test]
fn no_type_has_the_name_of_another() {
    no_crate(|source| {
        let mut types: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for file in source.files.values() {
            let mut depth = 0;
            for pair in file.tokens.windows(2) {
                match pair[0].text.as_str() {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    "struct" | "enum" | "trait" | "union" | "type" if depth == 0 => {
                        types.entry(&pair[1].text).or_default().push(format!("{}:{}", shown(&file.path), pair[1].line));
                    }
                    _ => {}
                }
            }
        }
        let twice = types.iter().filter(|(_, places)| places.len() > 1);
        twice.flat_map(|(name, places)| places.iter().map(move |place| format!("{place}: {name}"))).collect()
    });
}

#[test]
fn a_match_of_events_names_them_all() {
    no_crate(|source| {
        let found = |file: &source::File| {
            let lines = events::catch_alls(&file.tokens);
            lines
                .into_iter()
                .map(|line| format!("{}:{line}: an arm for all other events", shown(&file.path)))
                .collect::<Vec<_>>()
        };
        source.files.values().flat_map(found).collect()
    });
}

/// Macros that print text as it is, and the only crate that may use them.
const PRINTS: [&str; 4] = ["println", "eprintln", "print", "eprint"];
const PRINTING: &str = "wrappers/";

/// Names in traces and files may hold what a terminal obeys.
#[test]
fn text_is_printed_escaped() {
    no_crate(|source| {
        let files = source.files.values().filter(|file| !shown(&file.path).starts_with(PRINTING));
        let macros = files.flat_map(|file| file.tokens.windows(2).map(move |pair| (file, pair)));
        let found = macros.filter(|(_, pair)| PRINTS.contains(&pair[0].text.as_str()) && pair[1].text == "!");
        let told = |file: &source::File, line| format!("{}:{line}: print by titr_common::terminal", shown(&file.path));
        found.map(|(file, pair)| told(file, pair[0].line)).collect()
    });
}

/// Where C is called or calls; nothing else may be `unsafe`.
const UNSAFE: [&str; 8] = [
    "wrappers/",
    "tracer/programs/src/",
    "tracer/src/",
    "tracer/papi-sys/",
    "tracer/emulation/",
    "tracer/launcher/src/witness.rs",
    "replayer/src/memory.rs",
    "replayer/network-c/src/interface.rs",
];

#[test]
fn only_what_meets_c_is_unsafe() {
    no_crate(|source| {
        let files =
            source.files.values().filter(|file| !UNSAFE.iter().any(|place| shown(&file.path).starts_with(place)));
        let found = files
            .flat_map(|file| file.tokens.iter().filter(|token| token.text == "unsafe").map(move |token| (file, token)));
        found.map(|(file, token)| format!("{}:{}: unsafe", shown(&file.path), token.line)).collect()
    });
}

#[test]
fn no_file_is_long() {
    let folders = ["common", "replayer", "wrappers", "tracer", "tests"];
    let files = folders.iter().flat_map(|folder| source::rust_files(&root().join(folder)));
    let lengths = files.map(|file| (fs::read_to_string(&file).unwrap().lines().count(), file));
    let long =
        lengths.filter(|(lines, _)| *lines > LONGEST).map(|(lines, file)| format!("{}: {lines} lines", shown(&file)));
    complain(&long.collect::<Vec<_>>());
}

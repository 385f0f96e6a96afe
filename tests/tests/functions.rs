//! `docs/FUNCTIONS.md` is what the code says. `UPDATE=1 cargo test --test functions` writes it anew.

use std::fmt::Write;
use std::path::Path;

use titr_common::event::Event;
use titr_common::grammar::Parser;
use titr_simulation::ranks::fate;
use titr_wrappers::{Effect, Function, functions};
use titrace::vocabulary::words;

const HEAD: &str = "\
# Every MPI function: recorded as what, replayed how

Made from the code: `UPDATE=1 cargo test --package titr-tests --test functions`.

A word is one of the trace's grammar (`common/src/grammar`). A call that has words is recorded as them; with no word, it is
recorded as `call FUNCTION SENT RECEIVED` if it communicates, and counted in the manifest if it does not. It is otherwise with
a call that

* has to do with processes outside `MPI_COMM_WORLD`, or is a collective between two groups: recorded as `call`;
* has `MPI_PROC_NULL` for a peer, or requests that do nothing: counted in the manifest as `null_peer`;
* fails: counted in the manifest as `untraced`.

A function that ends in `_c` (large counts) or begins with `MPIX_` is like the one without. Conversions (`MPI_Comm_f2c` and its
kin, `MPI_Comm_fromint` and its) are left to the library, and so are `MPI_Get_version`, `MPI_Get_library_version` and
`MPI_Abi_get_version`, by which programs find out whether one is loaded.

| function | recorded as | replayed |
| --- | --- | --- |
";

/// Arguments, until one of them fits the word.
const ARGUMENTS: [&str; 16] = [
    "",
    "0",
    "-",
    "0 8",
    "0 - -",
    "- -",
    "0 8 0",
    "0 7 8",
    "found 0 7 8",
    "0 7 8 0",
    "0 7 8 0 1",
    "0 7 8 0 7 8",
    "8 8 8 8",
    "0 8 8 8 8",
    "2 0 0",
    "0 0 8 8",
];

/// An event that has this word.
fn event(word: &str) -> Event {
    let lines = ARGUMENTS.iter().map(|arguments| format!("0 {word} {arguments}"));
    let mut events = lines.filter_map(|line| Parser::new(1).line(line.as_bytes()).ok().flatten());
    events.next().unwrap_or_else(|| panic!("no arguments fit '{word}'")).1
}

fn row(function: &Function) -> String {
    let words = function.example(words);
    let recorded = match (words, function.effect()) {
        ([], _) if function.name() == "MPI_Abort" => "the end of the trace".to_owned(),
        ([], Effect::Communicates) => "`call`".to_owned(),
        ([], Effect::Local) => "counted".to_owned(),
        (words, _) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
    };
    let replayed = match (words, function.effect()) {
        ([], Effect::Communicates) if function.name() != "MPI_Abort" => fate(&event("call MPI_X")),
        ([], _) => "",
        ([first, ..], _) => fate(&event(first)),
    };
    format!("| `{}` | {recorded} | {replayed} |", function.name())
}

#[test]
fn the_table_is_what_the_code_says() {
    let mut rows: Vec<String> = functions::all().map(row).collect();
    rows.sort_unstable();
    let mut table = HEAD.to_owned();
    rows.iter().for_each(|row| writeln!(table, "{row}").unwrap());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/FUNCTIONS.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written == table, "{} is not what the code says: set UPDATE=1 and run this test", file.display());
}

/// Whatever stands in a golden trace is a word of the table: what the tracer writes there it is said to write.
#[test]
fn golden_traces_have_no_other_words() {
    let known: Vec<&str> = functions::all().flat_map(|function| function.example(words)).copied().collect();
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let mut checked = 0;
    for file in std::fs::read_dir(snapshots).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
            let fields = line.split(' ').skip(1);
            let word = match fields.clone().next() {
                Some("on") => fields.clone().nth(2),
                word => word,
            };
            let word = word.map(|word| word.trim_end_matches("_of")).unwrap();
            assert!(known.contains(&word) || word == "call", "no function is said to be recorded as '{word}'");
            checked += 1;
        }
    }
    assert!(checked > 1000);
}

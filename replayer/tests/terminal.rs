//! The commands on a terminal, and their output for shells and for `man`.

use std::path::Path;
use std::process::Command;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// The ring on the example's torus, with further options.
fn ring(more: &[&str]) -> String {
    let (platform, trace) = (here("../examples/torus.toml"), here("../examples/ring.txt"));
    let basic = ["--platform", platform.to_str().unwrap(), trace.to_str().unwrap()];
    Folder::new().run(TITR_REPLAY, &[&basic, more].concat())
}

#[test]
fn the_summary_begins_with_question_and_answer_and_fits_a_screen() {
    let shown = ring(&[]);
    let beginnings: Vec<&str> = shown.lines().take(5).map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(beginnings, ["Program", "Machine", "Predicted time", "Mostly", "To try"]);
    assert!(shown.lines().count() <= 24, "{shown}");
    assert!(!shown.contains('\u{1b}'), "no colours where there is no terminal: {shown}");
}

#[test]
fn formats_and_silence() {
    let without_speed = |text: String| text.split_once(",\"replay\":").unwrap().0.to_owned();
    assert_eq!(without_speed(ring(&["--format", "json"])), without_speed(ring(&["--json"])));
    assert!(ring(&["--format", "text"]).starts_with("Program"));
    assert_eq!(ring(&["--quiet"]), "[0]");
    assert!(ring(&["-q", "--json"]).starts_with('{'));
    let both = ring(&["--json", "--format", "text"]);
    assert!(both.ends_with("[2]"), "{both}");
}

/// What the replay of a trace writes to a terminal of so many columns, which `script` gives it.
fn on_a_terminal_of(columns: usize, trace: &Path, no_color: Option<&str>) -> String {
    let platform = here("../examples/torus.toml");
    let line =
        format!("stty cols {columns} rows 50; {TITR_REPLAY} --platform {} {}", platform.display(), trace.display());
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env_remove("NO_COLOR").env("TERM", "xterm");
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

fn on_a_terminal(no_color: Option<&str>) -> String {
    on_a_terminal_of(80, &here("../examples/ring.txt"), no_color)
}

/// The rows of a terminal of so many columns that has obeyed `written` (ECMA-48), and whether a line was longer than a row.
fn screen(written: &str, columns: usize) -> (Vec<String>, bool) {
    let (mut rows, mut row, mut column, mut is_broken) = (vec![Vec::new()], 0_usize, 0, false);
    let mut letters = written.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                let sequence = letters.as_str().strip_prefix('[').unwrap();
                let end = sequence.find(|letter: char| letter.is_ascii_alphabetic()).unwrap();
                let (number, rest) = sequence.split_at(end);
                letters = rest[1..].chars();
                match &rest[..1] {
                    "K" if number == "2" => rows[row].clear(),
                    "K" => rows[row].truncate(column),
                    "A" => row -= number.parse().unwrap_or(1),
                    "B" => row += number.parse().unwrap_or(1),
                    "m" => {}
                    other => panic!("a sequence that this terminal does not know: {number}{other}"),
                }
            }
            letter => {
                if column == columns {
                    (is_broken, row, column) = (true, row + 1, 0);
                }
                rows.resize(rows.len().max(row + 1), Vec::new());
                let width = rows[row].len().max(column + 1);
                rows[row].resize(width, ' ');
                rows[row][column] = letter;
                column += 1;
            }
        }
        rows.resize(rows.len().max(row + 1), Vec::new());
    }
    (rows.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_owned()).collect(), is_broken)
}

#[test]
fn the_summary_fits_the_terminal() {
    for columns in [80, 120] {
        let (rows, is_broken) = screen(&on_a_terminal_of(columns, &here("../examples/ring.txt"), None), columns);
        assert!(!is_broken, "{rows:#?}");
        let rows: Vec<&str> = rows.iter().map(String::as_str).filter(|row| !row.starts_with("Replayed in")).collect();
        insta::assert_snapshot!(format!("screen_of_{columns}"), rows.join("\n"));
    }
}

#[test]
fn the_progress_fits_the_terminal_and_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.run(TITR, &["generate", "stencil", "--ranks", "64", "--bytes", "8", "--iterations", "2000", "-o", "long"]);
    for columns in [40, 80, 120] {
        let written = on_a_terminal_of(columns, &folder.path().join("long"), None);
        assert!(written.contains(" left"), "{written}");
        let (rows, is_broken) = screen(&written, columns);
        assert!(!is_broken && rows[0].starts_with("Program"), "{columns}: {rows:#?}");
        assert!(!rows.iter().any(|row| row.contains(['█', '░'])), "{columns}: {rows:#?}");
    }
}

#[test]
fn the_answer_is_bold_where_that_is_wanted() {
    let bold = |text: String| text.contains("Predicted time  \u{1b}[1m");
    assert!(bold(on_a_terminal(None)));
    assert!(bold(on_a_terminal(Some(""))), "an empty NO_COLOR means nothing");
    assert!(!bold(on_a_terminal(Some("1"))));
}

#[test]
fn shells_and_man_know_the_options() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.run(TITR, &["completions", shell]);
        for word in ["titr-replay", "timeline-window", "schedule"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let script = folder.run(TITR, &["completions", "bash"]);
    folder.file("titr.bash", script.strip_suffix("[0]").unwrap());
    assert_eq!(folder.run("bash", &["-n", "titr.bash"]), "[0]");
    assert_eq!(folder.run(TITR, &["man", "man1"]), "[0]");
    for page in ["titr.1", "titr-replay.1", "titr-convert.1"] {
        let text = std::fs::read_to_string(folder.path().join("man1").join(page)).unwrap();
        assert!(text.contains(".TH ") && text.contains(".SH \"SEE ALSO\""), "{page}");
    }
}

/// Sequences that a terminal obeys, a mark that turns the order of letters around, and an end of a line.
const HOSTILE: &str = "a\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}b\u{200b}\r\u{7f}";

/// Everything that a terminal obeys in a hostile text is shown escaped.
fn assert_harmless(shown: &str) {
    assert_nothing_obeyed(shown);
    assert!(shown.contains("\\u001b"), "{shown:?}");
}

fn assert_nothing_obeyed(shown: &str) {
    let obeyed = |letter: char| letter.is_control() && !"\n\t".contains(letter);
    let hidden =
        |letter: char| ('\u{200b}'..='\u{200f}').contains(&letter) || ('\u{202a}'..='\u{202e}').contains(&letter);
    assert!(!shown.contains(|letter| obeyed(letter) || hidden(letter)), "{shown:?}");
    assert!(shown.contains("\\u202e"), "{shown:?}");
}

#[test]
fn nothing_of_an_input_is_obeyed_by_a_terminal() {
    let folder = Folder::new();
    folder.file("t.txt", format!("0 {HOSTILE}\n"));
    folder.file("p.toml", format!("schema = 1\n# {}\nhosts = '{HOSTILE}'\n", "x"));
    folder.file("r.json", format!("{{\"{HOSTILE}"));
    let ring = here("../examples/ring.txt").display().to_string();
    let torus = here("../examples/torus.toml").display().to_string();
    let set = format!("network.{HOSTILE}=1");
    let missing = format!("none{HOSTILE}.txt");
    let calls: [(&str, &[&str]); 7] = [
        (TITR, &["check", "t.txt"]),
        (TITR, &["info", "t.txt"]),
        (TITR, &["check", &missing]),
        (TITR, &["diff", &missing, "r.json"]),
        (TITR_REPLAY, &["-p", "p.toml", &ring]),
        (TITR_REPLAY, &["-p", &torus, "--set", &set, &ring]),
        (TITR_REPLAY, &["-p", &torus, "--report", &format!("none/{HOSTILE}"), &ring]),
    ];
    for (command, arguments) in calls {
        assert_harmless(&folder.run(command, arguments));
    }
    // The parser of options takes escape sequences out of the words that it shows.
    assert_nothing_obeyed(&folder.run(TITR, &[HOSTILE]));
    assert_nothing_obeyed(&folder.run(TITR, &["schedule", HOSTILE, "--ranks", "4"]));
    assert_nothing_obeyed(&folder.run(TITR_REPLAY, &["-p", &torus, "--causality", HOSTILE, &ring]));
}

#[test]
fn a_manifest_is_shown_and_json_keeps_what_it_says() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 finalize\n"]);
    let path = folder.path().join("traces/manifest.json");
    let escaped = serde_json::to_string(HOSTILE).unwrap();
    let manifest = std::fs::read_to_string(&path).unwrap();
    let hostile = manifest.replace("\"node-1\"", &escaped).replace("\"./a.out\"", &escaped);
    std::fs::write(&path, hostile).unwrap();
    assert_harmless(&folder.run(TITR, &["info", "traces"]));
    let json = folder.run(TITR, &["info", "--json", "traces"]);
    assert_harmless(&json);
    let value: serde_json::Value = serde_json::from_str(json.strip_suffix("\n[0]").unwrap()).unwrap();
    assert_eq!(value["manifest"]["command"][0], HOSTILE);
}

/// A name that begins a line of its own, and colours it.
const FORGED: &str = "x\nFORGED\u{1b}[31m";

#[test]
fn no_name_begins_a_line_of_a_table() {
    let folder = Folder::new();
    let name = serde_json::to_string(FORGED).unwrap();
    folder.trace(&[
        "0 init\n0 region_begin a\u{1b}[31m\n0 compute 2e6\n0 sendrecv 1 0 9000 1 0 9000\n0 region_end a\u{1b}[31m\n0 finalize\n",
        "1 init\n1 compute 9e6\n1 sendrecv 0 0 9000 0 0 9000\n1 finalize\n",
    ]);
    let manifest = folder.path().join("traces/manifest.json");
    let mut text = std::fs::read_to_string(&manifest).unwrap();
    for old in [
        "\"node-1\"",
        "\"./a.out\"",
        "\"Some MPI 1.0\"",
        "\"a processor\"",
        "\"MPI_Put\"",
        "\"MPI_Comm_rank\"",
        "\"a run\"",
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, &name);
    }
    std::fs::write(&manifest, text).unwrap();
    let trace = format!("t{FORGED}");
    std::fs::rename(folder.path().join("traces"), folder.path().join(&trace)).unwrap();
    let link = |other: &str| {
        format!("[[topology.explicit.links]]\nname = {other}\nbandwidth = \"1 Gbit/s\"\nlatency = \"1 us\"\n")
    };
    let route =
        |from: &str, to: &str| format!("[[topology.explicit.routes]]\nfrom = {from}\nto = {to}\nlinks = [{name}]\n");
    let platform = format!("{FORGED}.toml");
    folder.file(
        &platform,
        format!(
            "schema = 1\n[hosts]\nspeed = \"1 Ginstr/s\"\n[topology.explicit]\nhosts = [{name}, \"b\"]\n{}{}{}[network]\n",
            link(&name),
            route(&name, "\"b\""),
            route("\"b\"", &name)
        ),
    );
    let (study, jobs) = (format!("s{FORGED}.toml"), format!("j{FORGED}.toml"));
    let [quoted_trace, quoted_platform] = [&trace, &platform].map(|name| serde_json::to_string(name).unwrap());
    folder.file(
        &study,
        format!(
            "schema = 1\nplatform = [{quoted_platform}]\ntrace = {quoted_trace}\n[axes]\nhosts.speed = ['1 Ginstr/s', '2 Ginstr/s', '3 Ginstr/s']\n\
             [constraints]\n{name} = \"hosts.speed < '3 Ginstr/s'\"\n"
        ),
    );
    folder.file(&jobs, format!("[[job]]\nname = {name}\ntrace = {quoted_trace}\nhosts = [0, 1]\n"));
    let runs = format!("c{FORGED}.toml");
    let run = format!("[[run]]\ntrace = {quoted_trace}\nseconds = 0.01\n");
    folder.file(&runs, format!("platform = {quoted_platform}\nvalues = ['hosts.speed']\n{run}{run}"));
    let on = ["-p", &platform, &trace];
    let result = format!("r{FORGED}.json");
    let json = folder.run(TITR_REPLAY, &[&on[..], &["--json", "--analyse", "wait-states"]].concat());
    folder.file(&result, json.strip_suffix("[0]").unwrap_or_else(|| panic!("{json}")));
    let calls: &[(&str, &[&str], &[&str])] = &[
        (TITR, &["info", &trace], &[]),
        (TITR, &["check", &trace], &[]),
        (TITR, &["advise"], &on),
        (TITR, &["sweep", &study, "-o", FORGED], &[]),
        (TITR, &["efficiency", &result, &result], &[]),
        (TITR, &["tolerance"], &on),
        (TITR, &["place", "-o", "hosts"], &on),
        (TITR, &["traffic", "-p", &platform, "uniform"], &[]),
        (TITR, &["traffic"], &on),
        (TITR, &["platform", "show", &platform], &[]),
        (TITR, &["diff", &result, &result], &[]),
        (TITR, &["diff", &trace, &trace], &[]),
        (TITR, &["combine", &trace, &trace, "-o", "both"], &[]),
        (TITR, &["convert", "--to", "paje", &trace, "-o", FORGED], &[]),
        (TITR, &["extrapolate", "--ranks", "8", &trace, &trace, "-o", "more"], &[]),
        (TITR, &["gather", &trace, "-o", FORGED], &[]),
        (TITR, &["schedule", "allreduce", "--ranks", "4", "--platform", &platform], &[]),
        (TITR_REPLAY, &[], &on),
        (TITR_REPLAY, &["--vary", "hosts.speed=1Ginstr/s,2Ginstr/s"], &on),
        (TITR_REPLAY, &["--analyse", "wait-states", "--analyse", "critical-path"], &on),
        (TITR_REPLAY, &["-p", &platform, &jobs], &[]),
        (TITR, &["calibrate", "--from", &runs, "-o", FORGED], &[]),
    ];
    let shown = calls.iter().map(|(command, first, last)| folder.run(command, &[*first, *last].concat()));
    let is_forged = |line: &str| line.trim_start().starts_with("FORGED") || line.contains('\u{1b}');
    let forged: Vec<String> = shown.filter(|shown| shown.lines().any(is_forged)).collect();
    assert!(forged.is_empty(), "{}", forged.join("\n"));
}

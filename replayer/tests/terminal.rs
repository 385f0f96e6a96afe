//! What the commands are like on a terminal, and what they do for shells and for `man`.

use std::process::Command;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// The ring on the example's torus, with further options.
fn ring(more: &[&str]) -> String {
    let (platform, trace) = (here("../examples/torus.toml"), here("../examples/ring.txt"));
    let basic = ["--platform", platform.to_str().unwrap(), trace.to_str().unwrap()];
    Folder::new().run(TITR_REPLAY, &[&basic, more].concat())
}

#[test]
fn the_summary_begins_with_the_answer_and_fits_a_screen() {
    let shown = ring(&[]);
    let beginnings: Vec<&str> = shown.lines().take(3).map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(beginnings, ["Predicted time", "Mostly", "To try"]);
    assert!(shown.lines().count() <= 24, "{shown}");
    assert!(!shown.contains('\u{1b}'), "no colours where there is no terminal: {shown}");
}

#[test]
fn formats_and_silence() {
    let without_speed = |text: String| text.split_once(",\"replay\":").unwrap().0.to_owned();
    assert_eq!(without_speed(ring(&["--format", "json"])), without_speed(ring(&["--json"])));
    assert!(ring(&["--format", "text"]).starts_with("Predicted time"));
    assert_eq!(ring(&["--quiet"]), "[0]");
    assert!(ring(&["-q", "--json"]).starts_with('{'));
    let both = ring(&["--json", "--format", "text"]);
    assert!(both.ends_with("[2]"), "{both}");
}

/// `script` gives a command a terminal.
fn on_a_terminal(no_color: Option<&str>) -> String {
    let (platform, trace) = (here("../examples/torus.toml"), here("../examples/ring.txt"));
    let line = format!("{TITR_REPLAY} --platform {} {}", platform.display(), trace.display());
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env_remove("NO_COLOR").env("TERM", "xterm");
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn the_answer_is_bold_where_that_is_wanted() {
    let bold = |text: String| text.contains("\u{1b}[1m0.");
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
        assert!(text.contains(".TH "), "{page}");
    }
}

//! Recorded time to look at, of real runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use titr_tests::{Family, Run, binary, run, traced_only};

fn draw(format: &str, trace: &Path, picture: &Path) -> Run {
    let arguments = ["convert", "--to", format, "-o"];
    let drawn = run(binary("titr").args(arguments).arg(picture).arg(trace));
    assert_eq!(drawn.status, Some(0), "{drawn:?}");
    assert!(!drawn.stderr.contains("no receive"), "{drawn:?}");
    drawn
}

/// Where each arrow begins or ends: the rank, and when, in nanoseconds.
fn ends(picture: &Value, phase: &str) -> BTreeMap<u64, (u64, u64)> {
    let events = picture["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == phase);
    let nanoseconds = |event: &Value| (event["ts"].as_f64().unwrap() * 1e3).round() as u64;
    events.map(|event| (event["id"].as_u64().unwrap(), (event["tid"].as_u64().unwrap(), nanoseconds(event)))).collect()
}

/// All collectives, blocking and not, on several communicators: each message that one rank sent, another has received,
/// and not before.
#[test]
fn every_message_of_every_collective_is_an_arrow() {
    for family in Family::ALL {
        let program = family.build("every_collective.c", &["-pthread"]);
        let trace = traced_only(&[("TITRACE_MODE", "extended")], family, 5, &program);
        let [paje, json] = ["picture.paje", "picture.json"].map(|name| trace.path().with_file_name(name));
        draw("paje", &trace.path(), &paje);
        draw("perfetto", &trace.path(), &json);
        let picture: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
        let (begins, ends) = (ends(&picture, "s"), ends(&picture, "f"));
        assert!(begins.len() > 1000 && begins.keys().eq(ends.keys()), "{family:?}: {} {}", begins.len(), ends.len());
        for (arrow, (_, begin)) in &begins {
            assert!(ends[arrow].1 >= *begin, "{family:?}: arrow {arrow}");
        }
        let dump = run(Command::new("pj_dump").arg(&paje));
        let links = dump.stdout.lines().filter(|line| line.starts_with("Link")).count();
        assert_eq!((dump.status, dump.stderr.as_str(), links), (Some(0), "", begins.len()), "{family:?}");
    }
}

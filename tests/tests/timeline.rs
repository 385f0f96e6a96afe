//! Timelines of recorded time, of real runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use titr_test_support::perfetto::Picture;
use titr_tests::{Family, Run, binary, run, traced_only};

fn draw(format: &str, trace: &Path, picture: &Path) -> Run {
    let arguments = ["convert", "--to", format, "-o"];
    let drawn = run(binary("titr").args(arguments).arg(picture).arg(trace));
    assert_eq!(drawn.status, Some(0), "{drawn:?}");
    assert!(!drawn.stderr.contains("no receive"), "{drawn:?}");
    drawn
}

/// The time at which each arrow begins or ends, in nanoseconds.
fn ends(picture: &Picture, arrives: bool) -> BTreeMap<u64, u64> {
    picture.ends.iter().filter(|end| end.arrives == arrives).map(|end| (end.key, end.at)).collect()
}

/// All collectives, blocking and not, on several communicators: each message that one rank sent, another has received,
/// and not before.
#[test]
fn every_message_of_every_collective_is_an_arrow() {
    for family in Family::ALL {
        let program = family.build("every_collective.c", &["-pthread"]);
        let trace = traced_only(&[("TITRACE_MODE", "extended")], family, 5, &program);
        let [paje, perfetto] = ["picture.paje", "picture.pftrace"].map(|name| trace.path().with_file_name(name));
        draw("paje", &trace.path(), &paje);
        draw("perfetto", &trace.path(), &perfetto);
        let picture = Picture::read(&fs::read(&perfetto).unwrap());
        let (begins, ends) = (ends(&picture, false), ends(&picture, true));
        assert!(begins.len() > 1000 && begins.keys().eq(ends.keys()), "{family:?}: {} {}", begins.len(), ends.len());
        for (arrow, begin) in &begins {
            assert!(ends[arrow] >= *begin, "{family:?}: arrow {arrow}");
        }
        let dump = run(Command::new("pj_dump").arg(&paje));
        let links = dump.stdout.lines().filter(|line| line.starts_with("Link")).count();
        assert_eq!((dump.status, dump.stderr.as_str(), links), (Some(0), "", begins.len()), "{family:?}");
    }
}

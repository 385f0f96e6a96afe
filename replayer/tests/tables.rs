//! What scripts read beside JSON: tables of events and of messages, the summary as text, and a platform on standard input.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::process::Command;

use serde_json::Value;

use crate::support::command::{Folder, TITR, here};

/// Each kind of event of a small trace, of which rank 1 never receives the last message.
const TRACE: &str = "\
0 init
0 compute 5e3
0 sleep 0.5
0 send_init 1 7 640 0
0 start 0
0 wait_of 0
0 start 0
0 wait_of 0
0 request_free 0
0 region_begin =a,b
0 region_end =a,b
0 sendrecv 1 3 100 1 4 200
0 finalize
1 init
1 recv 0 7 640
1 recv 0 7 640
1 sendrecv 0 4 200 0 3 100
1 finalize
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("t.txt", TRACE);
    folder.file("p.toml", fs::read(here("../examples/torus.toml")).unwrap());
    folder
}

#[test]
fn a_table_of_events_has_a_row_for_each_line_of_the_trace() {
    insta::assert_snapshot!(folder().run(TITR, &["cat", "--csv", "t.txt"]));
}

#[test]
fn a_table_of_events_ends_where_the_trace_is_wrong() {
    let folder = folder();
    folder.file("wrong.txt", "0 init\n0 compute 5\n0 leap\n");
    insta::assert_snapshot!(folder.run(TITR, &["cat", "--csv", "wrong.txt"]));
    let said = folder.run(TITR, &["cat", "--csv", "--rank", "2", "t.txt"]);
    assert!(said.contains("there is no rank 2 among its 2") && said.ends_with("[1]"), "{said}");
}

#[test]
fn the_matrix_counts_a_persistent_message_for_each_start() {
    let said = folder().run(TITR, &["info", "--matrix", "t.txt"]);
    assert_eq!(said, "from,to,messages,bytes\n0,1,3,1380\n1,0,1,200\n[0]");
}

#[test]
fn the_manifest_is_printed_without_the_events() {
    let folder = folder();
    folder.trace(&["0 init\n0 finalize\n", "1 init\n1 leap\n"]);
    let known = |trace: &str| -> Value {
        let said = folder.run(TITR, &["info", "--manifest", trace]);
        serde_json::from_str(said.strip_suffix("[0]").unwrap()).unwrap()
    };
    assert_eq!(known("t.txt"), serde_json::json!({ "ranks": 2, "manifest": null }));
    let of_directory = known("traces");
    assert_eq!(of_directory["ranks"], 2);
    assert!(of_directory["manifest"]["per_rank"].is_array(), "{of_directory}");
}

#[test]
fn the_summary_as_text_is_the_one_that_is_printed() {
    let folder = folder();
    let words = ["replay", "--platform", "p.toml", "--set", "hosts.speed=1 Ginstr/s", "--csv", "tables", "t.txt"];
    let printed = folder.run(TITR, &words);
    let text = fs::read_to_string(folder.path().join("tables/summary.txt")).unwrap();
    let own_speed = |line: &&str| !line.contains("events/s") && !line.contains("replayed in");
    let lines = |text: &str| text.lines().filter(own_speed).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&text), lines(printed.strip_suffix("[0]").unwrap()));
    assert!(text.contains("Predicted time"), "{text}");
}

#[test]
fn a_platform_is_read_from_standard_input() {
    let folder = folder();
    let run = |platform: &str, input: &str| {
        let output = Command::new(TITR)
            .args([
                "replay",
                "--quiet",
                "--json",
                "--suggest",
                "--set",
                "hosts.speed=1 Ginstr/s",
                "--platform",
                platform,
                "t.txt",
            ])
            .current_dir(folder.path())
            .stdin(File::open(folder.path().join(input)).unwrap())
            .output()
            .unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let time = |(json, _): (String, String)| serde_json::from_str::<Value>(&json).unwrap()["simulated_time"].clone();
    assert_eq!(time(run("-", "p.toml")), time(run("p.toml", "t.txt")));
    folder.file("wrong.toml", "schema = 1\n[topology]\nkind = 3\n");
    let (_, said) = run("-", "wrong.toml");
    assert!(said.contains("[-:3:"), "{said}");
}

#[test]
fn the_states_of_all_threads_add_up_to_the_times_of_their_rank() {
    let folder = folder();
    folder.file(
        "threads.txt",
        "0 init\n0.1 compute 2e9\n0 compute 1e9\n0.1 send 1 0 8\n0 finalize\n1 init\n1 recv 0 0 8\n1 finalize\n",
    );
    for trace in ["t.txt", "threads.txt"] {
        let words = [
            "replay",
            "--platform",
            "p.toml",
            "--set",
            "hosts.speed=1 Ginstr/s",
            "--states",
            "states.csv",
            "--csv",
            "c",
        ];
        let said = folder.run(TITR, &[&words[..], &["--quiet", trace]].concat());
        assert_eq!(said, "[0]");
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let mut sums: BTreeMap<(String, String), f64> = BTreeMap::new();
        for row in csv::Reader::from_reader(text("states.csv").as_bytes()).deserialize() {
            let (rank, activity, begin, end): (String, String, f64, f64) = row.unwrap();
            *sums.entry((rank, activity)).or_default() += end - begin;
        }
        for row in csv::Reader::from_reader(text("c/ranks.csv").as_bytes()).deserialize() {
            let row: BTreeMap<String, String> = row.unwrap();
            for activity in ["compute", "send", "recv", "wait", "file", "collective"] {
                let key = (row["rank"].clone(), activity.to_owned());
                let seconds: f64 = row[activity].parse().unwrap();
                let sum = sums.get(&key).copied().unwrap_or_default();
                assert!((sum - seconds).abs() < 1e-12, "{trace}: {key:?}: {sum}, and not {seconds}");
            }
        }
    }
}

//! Extended traces: replayed as recorded or decomposed again, and folded.

use crate::support::command::{Folder, TITR, TITR_REPLAY};

const PLATFORM: &str = r#"schema = 1

[hosts]
count = 3
speed = "1 Ginstr/s"

[topology.star]

[network]
bandwidth = "1 GB/s"
latency = "1 us"

[mpi]
collectives = "openmpi"
"#;

/// A broadcast that was a chain, and a barrier that the library carried out.
const CHAIN: [&str; 3] = [
    "0 init\n0 called 10 90\n0 sent 0 1 1000 20 30\n0 bcast 1000 0\n0 ibarrier 0\n0 wait_of 0\n0 finalize\n",
    "1 init\n1 called 10 90\n1 received 0 0 1000 20 30\n1 sent 0 2 1000 30 40\n1 bcast 1000 0\n1 ibarrier 0\n1 wait_of 0\n1 finalize\n",
    "2 init\n2 called 10 90\n2 received 0 1 1000 20 40\n2 bcast 1000 0\n2 ibarrier 0\n2 wait_of 0\n2 finalize\n",
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.trace(&CHAIN);
    folder
}

fn replay(folder: &Folder, trace: &str, more: &[&str]) -> (f64, u64, String) {
    let mut arguments = vec!["--platform", "cluster.toml", "--json", trace];
    arguments.extend(more);
    let shown = folder.run(TITR_REPLAY, &arguments);
    let json: serde_json::Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap();
    let warnings = json["warnings"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned());
    let warnings: Vec<String> = warnings.filter(|warning| warning.contains("collective")).collect();
    (json["simulated_time"].as_f64().unwrap(), json["messages"].as_u64().unwrap(), warnings.join("; "))
}

#[test]
fn messages_are_those_recorded_or_those_of_another_algorithm() {
    let folder = folder();
    let (recorded, messages, warnings) = replay(&folder, "traces", &["--collectives", "recorded"]);
    assert_eq!(warnings, "3 collective calls whose messages were not recorded followed the platform's algorithm");
    let forced = ["--set", r#"mpi.collectives={library="openmpi",bcast="pipeline"}"#];
    assert_eq!(replay(&folder, "traces", &forced), (recorded, messages, String::new()));
    let (linear, ..) = replay(&folder, "traces", &["--set", r#"mpi.collectives={library="openmpi",bcast="linear"}"#]);
    assert!(linear < recorded, "{linear} {recorded}");
    let mpich = replay(&folder, "traces", &["--collectives", "mpich"]);
    assert_eq!(mpich, replay(&folder, "traces", &["--set", r#"mpi.collectives="mpich""#]));
}

/// Traces of earlier versions have the messages of a broadcast where it was waited for; it takes those of the platform's algorithm.
#[test]
fn messages_of_non_blocking_ones_are_passed_over() {
    let text = |messages: [&str; 3]| {
        let rank = |(rank, messages): (usize, &str)| {
            let line = |rest: &str| format!("{rank} {rest}\n");
            let calls = ["init", "called 0 5", "ibcast 0 1000 0", "called 6 7", "ibarrier 1", "called 10 90"];
            let before: String = calls.iter().map(|call| line(call)).collect();
            let rest = [messages, "called 91 92", "wait_of 0", "called 95 96", "wait_of 1", "called 98 98", "finalize"];
            let rest = rest.iter().flat_map(|lines| lines.split(';')).filter(|it| !it.is_empty()).map(line);
            before + &rest.collect::<String>()
        };
        messages.into_iter().enumerate().map(rank).collect::<Vec<_>>()
    };
    let chain = ["sent 0 1 1000 20 30", "received 0 0 1000 20 30;sent 0 2 1000 30 40", "received 0 1 1000 20 40"];
    let star = ["sent 0 1 1000 20 30;sent 0 2 1000 30 31", "received 0 0 1000 20 30", "received 0 0 1000 20 40"];
    let replayed = [chain, star].map(|messages| {
        let (folder, ranks) = (Folder::new(), text(messages));
        folder.file("cluster.toml", PLATFORM);
        folder.trace(&ranks.iter().map(String::as_str).collect::<Vec<_>>());
        replay(&folder, "traces", &["--collectives", "recorded"])
    });
    assert_eq!(replayed[0], replayed[1]);
    assert!(replayed[0].2.contains("6 collective calls whose messages were not recorded"), "{replayed:?}");
}

/// Between the calls of a rank lie 5 s, 2 s and 3 s, and 9 Ginstr were counted.
#[test]
fn computation_is_what_was_counted_or_what_time_lies_between_calls_or_nothing() {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    let rank = "0 init\n0 compute 4e9\n0 called 5000000000 6000000000\n0 barrier\n0 compute 5e9\n\
                0 called 8000000000 9000000000\n0 barrier\n0 called 12000000000 12000000000\n0 finalize\n";
    folder.file("trace.txt", rank);
    let seconds = |more: &[&str]| (replay(&folder, "trace.txt", more).0 * 1e3).round() / 1e3;
    assert_eq!(seconds(&[]), 9.0);
    assert_eq!(seconds(&["--compute-scale", "0.5"]), 4.5);
    assert_eq!(seconds(&["--compute", "timed"]), 10.0);
    assert_eq!(seconds(&["--compute", "timed", "--compute-scale", "3"]), 30.0);
    assert_eq!(seconds(&["--compute", "none"]), 0.0);
}

#[test]
fn whose_collectives_is_said_in_known_names() {
    let shown = folder().run(TITR_REPLAY, &["--platform", "cluster.toml", "traces", "--collectives", "cray"]);
    insta::assert_snapshot!(shown);
}

#[test]
fn a_stranger_among_the_messages_is_named() {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.file(
        "trace.txt",
        "0 init\n0 called 0 9\n0 on 1 sent 0 1 8 1 2\n0 on 1 barrier\n0 finalize\n1 init\n1 finalize\n",
    );
    let shown = folder.run(TITR_REPLAY, &["--platform", "cluster.toml", "trace.txt", "--collectives", "recorded"]);
    insta::assert_snapshot!(shown);
}

#[test]
fn folded_it_says_no_more_than_a_time_independent_one() {
    let folder = folder();
    insta::assert_snapshot!(folder.run(TITR, &["convert", "--to", "ti", "traces", "-o", "folded"]));
    insta::assert_snapshot!(folder.run(TITR, &["cat", "folded", "--rank", "1"]));
    assert_eq!(folder.run(TITR, &["check", "folded"]), "folded: sound\n[0]");
    insta::assert_snapshot!(folder.run(TITR, &["convert", "--to", "ti", "traces", "-o", "folded"]));
    assert_eq!(replay(&folder, "folded", &[]), replay(&folder, "traces", &[]));
}

//! What traces of other tools, and platforms and hostfiles of SimGrid, may have: threads, freed requests, line ends, options.

use crate::support::command::{Folder, TITR};

/// A star of two hosts.
const STAR: [&str; 3] = ["replay", "--json", "--platform=star:2 8Gbit/s 1us"];

/// Two ranks of which each has two threads: one receives, the other sends.
const OPPOSITE: &str = "0 init\n0 recv 1 1 1000000\n0.1 send 1 1 1000000\n0 finalize\n\
                        1 init\n1 recv 0 1 1000000\n1.1 send 0 1 1000000\n1 finalize\n";
/// A thread waits for the request of another, which is in a receive.
const SHARED: &str = "0 init\n0 irecv 1 1 100 6 0\n0 recv 1 2 100\n0.1 wait_of 0\n0.1 send 1 3 100\n0 finalize\n\
                      1 init\n1 send 0 1 100\n1 recv 0 3 100\n1 send 0 2 100\n1 finalize\n";
/// A thread answers while the others are in a barrier that waits for the answer.
const SERVED: &str = "0 init\n0 barrier\n0.2 recv 1 7 8\n0.2 send 1 8 8\n0.5 send 1 9 8\n0 finalize\n\
                      1 init\n1 send 0 7 8\n1 recv 0 8 8\n1 recv 0 9 8\n1 barrier\n1 finalize\n";

/// The simulated time of a command's output.
fn seconds(printed: &str) -> f64 {
    let json = printed.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{printed}"));
    serde_json::from_str::<serde_json::Value>(json.trim_end_matches("[0]")).unwrap()["simulated_time"].as_f64().unwrap()
}

fn replay(folder: &Folder, trace: &str) -> f64 {
    seconds(&folder.run(TITR, &[&STAR[..], &[trace]].concat()))
}

/// Converts a trace to a format, and checks the result.
fn convert(folder: &Folder, format: &str, trace: &str) -> (String, String) {
    let place = format!("{format}-of-{trace}.{}", if format == "paraver" { "prv" } else { "out" });
    let written = folder.run(TITR, &["convert", "--to", format, "-o", &place, trace]);
    assert!(written.ends_with("[0]"), "{format} of {trace}: {written}");
    let place = if format == "simgrid" { format!("{place}/index.txt") } else { place };
    let checked = folder.run(TITR, &["check", &place]);
    (place, checked)
}

const FORMATS: [&str; 6] = ["ti", "otf2", "paraver", "goal", "goal-binary", "simgrid"];

#[test]
fn threads_of_a_rank_wait_for_no_other_in_any_format() {
    let folder = Folder::new();
    for (name, text) in [("opposite", OPPOSITE), ("shared", SHARED), ("served", SERVED)] {
        folder.file(name, text);
        let before = replay(&folder, name);
        for format in FORMATS {
            let (place, checked) = convert(&folder, format, name);
            // SimGrid's ranks have one thread, which a collective blocks.
            if (format, name) == ("simgrid", "served") {
                continue;
            }
            assert!(checked.contains(": sound"), "{format} of {name}: {checked}");
            // The schedule of a collective that becomes messages is another.
            let after = replay(&folder, &place);
            let is_near = (after - before).abs() < 0.01 * before || name == "served";
            assert!(is_near, "{format} of {name}: {after} s instead of {before} s");
        }
    }
}

#[test]
fn a_freed_request_gets_its_message_in_any_format() {
    let folder = Folder::new();
    let freed = "0 init\n0 send 1 1 100\n0 send 1 1 100\n0 isend 1 2 9 6 0\n0 request_free 0\n0 finalize\n\
                 1 init\n1 irecv 0 1 100 6 0\n1 irecv 0 1 100 6 1\n1 request_free 1\n1 wait_of 0\n1 recv 0 2 9\n1 finalize\n";
    let persistent = "0 init\n0 send 1 1 100\n0 send 1 3 4\n0 finalize\n\
                      1 init\n1 recv_init 0 1 100 0\n1 start 0\n1 request_free 0\n1 recv 0 3 4\n1 finalize\n";
    for (name, text) in [("freed", freed), ("persistent", persistent)] {
        folder.file(name, text);
        assert!(folder.run(TITR, &["check", name]).contains(": sound"), "{name}");
        for format in ["goal", "goal-binary", "simgrid"] {
            let (_, checked) = convert(&folder, format, name);
            assert!(checked.contains(": sound"), "{format} of {name}: {checked}");
        }
    }
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_change_nothing() {
    let folder = Folder::new();
    folder.file(
        "plain",
        "0 init\n0 compute 2000\n0 send 1 1 1000000\n0 finalize\n1 init\n1 recv 0 1 1000000\n1 finalize\n",
    );
    for (format, extension) in [("goal", "goal"), ("paraver", "prv"), ("ti", "")] {
        let path = if extension.is_empty() { "plain".to_owned() } else { format!("plain.{extension}") };
        if format != "ti" {
            folder.run(TITR, &["convert", "--to", format, "-o", &path, "plain"]);
        }
        let before = replay(&folder, &path);
        let beside = if format == "paraver" { vec![path.clone(), "plain.pcf".to_owned()] } else { vec![path.clone()] };
        let [unix, windows, marked] = ["unix", "windows", "marked"].map(|name| format!("{name}-{format}"));
        for file in beside {
            let text = std::fs::read_to_string(folder.path().join(&file)).unwrap();
            for (place, text) in [
                (&unix, text.trim_end().to_owned()),
                (&windows, text.replace('\n', "\r\n")),
                (&marked, format!("\u{feff}{}", text.replace('\n', "\r\n"))),
            ] {
                folder.file(&format!("{place}/{file}"), text);
            }
        }
        for place in [unix, windows, marked] {
            assert_eq!(replay(&folder, &format!("{place}/{path}")).to_bits(), before.to_bits(), "{place}");
        }
    }
}

/// Two hosts that a route joins, with options.
fn platform(options: &str, bandwidth: &str) -> String {
    format!(
        "<platform version=\"4.1\"><config>{options}</config><zone id=\"w\" routing=\"Full\">\
         <host id=\"fast\" speed=\"1Gf\" core=\"4\"/><host id=\"slow\" speed=\"1Gf\" core=\"4\"/>\
         <link id=\"l\" bandwidth=\"{bandwidth}\" latency=\"1us\"/>\
         <route src=\"fast\" dst=\"slow\"><link_ctn id=\"l\"/></route></zone></platform>"
    )
}

#[test]
fn tests_and_probes_cost_what_smpi_test_and_smpi_iprobe_say() {
    let folder = Folder::new();
    let tests = "0 test -\n".repeat(10) + &"0 iprobe none 1 2 8\n".repeat(3);
    folder.file(
        "trace",
        format!("0 init\n0 irecv 1 1 8 6 0\n{tests}0 test_of 0\n0 finalize\n1 init\n1 send 0 1 8\n1 finalize\n"),
    );
    let time = |options: &str| {
        folder.file("platform.xml", platform(options, "1GBps"));
        seconds(&folder.run(TITR, &["replay", "--json", "--platform", "platform.xml", "trace"]))
    };
    let free = time("");
    let paid = time("<prop id=\"smpi/test\" value=\"1e-3\"/>");
    assert!(free < 1e-4 && (paid - 11e-3).abs() < 1e-4, "{free} {paid}");
    let paid = time("<prop id=\"smpi/iprobe\" value=\"1e-3\"/>");
    assert!((paid - 3e-3).abs() < 1e-4, "{paid}");
}

#[test]
fn a_placement_file_may_be_a_hostfile() {
    let folder = Folder::new();
    folder.file("trace", "0 init\n0 send 1 1 1000000\n0 finalize\n1 init\n1 recv 0 1 1000000\n1 finalize\n");
    folder.file("platform.xml", platform("", "1GBps"));
    let placed = |hosts: &str| {
        folder.file("hosts", hosts);
        let file = format!("placement.file={}", folder.path().join("hosts").display());
        folder.run(
            TITR,
            &[
                "replay",
                "--json",
                "--platform",
                "platform.xml",
                "--set",
                "placement.policy=file",
                "--set",
                &file,
                "trace",
            ],
        )
    };
    let apart = seconds(&placed("0\n1\n"));
    let together = seconds(&placed("1\n1\n"));
    assert!(together < apart);
    for hosts in
        ["slow\nfast\n", "slow # first\r\nfast:2\r\n", "fast slots=1\nslow max-slots=4\n".replace("max-", "").as_str()]
    {
        assert_eq!(seconds(&placed(hosts)).to_bits(), apart.to_bits(), "{hosts}");
    }
    for hosts in ["slow slots=2\n", "slow:4", "\u{feff}slow:1\n1:1\n"] {
        assert_eq!(seconds(&placed(hosts)).to_bits(), together.to_bits(), "{hosts}");
    }
    for (hosts, what) in [
        ("slow\nfats\n", "such as `fast`"),
        ("slow\nslow slots=many\n", ":2: `slow slots=many`"),
        ("2\n", "from 0 to 1"),
    ] {
        let printed = placed(hosts);
        assert!(printed.contains(what) && printed.ends_with("[1]"), "{printed}");
    }
}

#[test]
fn several_bandwidths_are_those_of_a_wifi_link() {
    let folder = Folder::new();
    folder.file("trace", "0 init\n0 finalize\n1 init\n1 finalize\n");
    for bandwidth in ["1GBps,2GBps", "1GBps, 1GBps, 1GBps", "1GBps,"] {
        folder.file("platform.xml", platform("", bandwidth));
        let printed = folder.run(TITR, &["replay", "--platform", "platform.xml", "trace"]);
        assert!(printed.contains("only a Wi-Fi link has several bandwidths") && printed.ends_with("[1]"), "{printed}");
    }
}

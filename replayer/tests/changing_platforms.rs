//! Replays on platforms whose hosts and links change over time, worked out by hand. `oracle` compares others with SimGrid.

use crate::support::command::{Folder, TITR_REPLAY, here};

/// Two hosts of 1 Gf with a link of 100 MB/s, which a profile changes.
const PLATFORM: &str = r#"<platform version="4.1">
  <zone id="world" routing="Full">
    <host id="alice" speed="1Gf"/>
    <host id="bob" speed="1Gf" speed_file="speed.txt"/>
    <link id="wire" bandwidth="100MBps" bandwidth_file="bandwidth.txt"/>
    <route src="alice" dst="bob"><link_ctn id="wire"/></route>
  </zone>
</platform>
"#;

/// A message of 400 MB that both hosts wait for, and then a computation of bob that takes 2 s at full speed.
const TRACE: &str = "0 init\n0 send 1 0 400000000\n0 finalize\n\
                     1 init\n1 recv 0 0 400000000\n1 compute 2e9\n1 finalize\n";

/// The platform and the trace, with half of the bandwidth from 1 s on, and a quarter of bob's speed from 8 s on.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("platform.xml", PLATFORM);
    folder.file("speed.txt", "8 0.25\n");
    folder.file("bandwidth.txt", "1 50e6\n");
    folder.file("trace.txt", TRACE);
    folder
}

/// The result of a replay with further arguments.
fn replayed(folder: &Folder, arguments: &[&str]) -> serde_json::Value {
    let plain = ["--platform", "platform.xml", "--set", "network.flow.preset=plain", "--json", "trace.txt"];
    let said = folder.run(TITR_REPLAY, &[&plain[..], arguments].concat());
    let json = said.strip_suffix("[0]").unwrap_or_else(|| panic!("{said}"));
    serde_json::from_str(json).unwrap()
}

fn time(folder: &Folder, arguments: &[&str]) -> f64 {
    replayed(folder, arguments)["simulated_time"].as_f64().unwrap()
}

/// 100 MB in the first second, 300 MB in six more; 1e9 instructions in the second after it, and as many in four.
#[test]
fn messages_and_computations_go_on_at_what_there_is() {
    let folder = folder();
    for model in ["network.model=flow", "network.model=ideal"] {
        assert_eq!(time(&folder, &["--set", model]), 12.0, "{model}");
    }
    let faster = time(&folder, &["--set", "hosts.speed=2 Ginstr/s"]);
    assert_eq!(faster, 8.0, "the profile is a part of the speed");
}

/// 400 MB are carried in 12 s, of which the first has 100 MB and the others 50 MB.
#[test]
fn the_use_of_a_link_is_of_what_it_could_carry() {
    let links = &replayed(&folder(), &[])["links"];
    let used = links.as_array().unwrap()[0]["use"].as_f64().unwrap();
    assert!((used - 400.0 / 650.0).abs() < 1e-12, "{links}");
}

/// Without a network, bob computes for 2 s at full speed; without contention, the link changes as it does.
#[test]
fn hypotheses_keep_what_changes() {
    let folder = folder();
    for (messages, expected) in [("instant", 2.0), ("uncontended", 12.0)] {
        folder.file("changes.toml", format!("[[change]]\nkind = \"ideal-network\"\nmessages = \"{messages}\"\n"));
        assert_eq!(time(&folder, &["--what-if", "changes.toml"]), expected, "{messages}");
    }
}

/// Replays with a little more and a little less of something have it at all times.
#[test]
fn sensitivities_scale_what_changes() {
    let folder = folder();
    let result = replayed(&folder, &["--analyse", "critical-path", "--check-sensitivities"]);
    let sensitivities = &result["analyses"]["critical-path"]["sensitivities"];
    let of = |parameter: &str| {
        let found = sensitivities.as_array().unwrap().iter().find(|found| found["parameter"] == parameter);
        found.unwrap()["replays"].as_f64().unwrap()
    };
    // With f times the bandwidth, the message takes 8/f - 1 s, and each second less of that saves four of the computation.
    assert!((of("bandwidth") + 32.0 / 12.0).abs() < 0.01, "{sensitivities}");
    // With f times the speed, 2/f - 1 s of the computation at full speed are left at 8 s, and take four times as long.
    assert!((of("host-speed") + 8.0 / 12.0).abs() < 0.01, "{sensitivities}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = folder();
    let mut told = String::new();
    for arguments in [&["--steady"][..], &["--set", "network.model=packet"], &["--report", "speed.txt"]] {
        let all = [&["--platform", "platform.xml", "trace.txt"], arguments].concat();
        told += &format!("# {}\n{}\n", arguments.join(" "), folder.run(TITR_REPLAY, &all));
    }
    folder.file("bandwidth.txt", "2 50e6\n1 25e6\n");
    told += &format!("# a bad profile\n{}\n", folder.run(TITR_REPLAY, &["--platform", "platform.xml", "trace.txt"]));
    insta::assert_snapshot!(told);
}

/// A host that stops for a while computes nothing meanwhile; one that stops for ever ends the replay.
#[test]
fn a_host_may_stop_for_a_while() {
    let folder = folder();
    folder.file("speed.txt", "8 0\n20 1\n");
    assert_eq!(time(&folder, &[]), 21.0);
    folder.file("speed.txt", "8 0\n");
    let said = folder.run(TITR_REPLAY, &["--platform", "platform.xml", "trace.txt"]);
    assert!(said.contains("simulated time runs past 213 days") && said.ends_with("[1]"), "{said}");
}

/// In `ring.txt`, rank 1 sends a megabyte to rank 2 at 2.801 ms. The way round the ring has three links of 1 us.
#[test]
fn messages_go_around_links_that_have_failed_by_then() {
    let folder = Folder::new();
    let ring = here("../examples/ring.txt");
    let run = |failed: &str| {
        let platform =
            ["--platform", "torus:4 10Gbit/s 1us 1Ginstr/s", "--set", "mpi.eager_threshold=1 GB", "--set", failed];
        folder.run(TITR_REPLAY, &[&platform[..], &["--json", ring.to_str().unwrap()]].concat())
    };
    let time = |failed: &str| {
        let said = run(failed);
        let json = said.strip_suffix("[0]").unwrap_or_else(|| panic!("{said}"));
        serde_json::from_str::<serde_json::Value>(json).unwrap()["simulated_time"].as_f64().unwrap()
    };
    let whole = time("network.failed=[]");
    for (at, longer) in [("2.80 ms", 2e-6), ("2.81 ms", 0.0)] {
        let found = time(&format!("network.failed=[{{ link = 'node-1 +x', at = '{at}' }}]"));
        assert!((found - whole - longer).abs() < 1e-11, "{at}: {found}, and {whole} without the failure");
    }
    let cut =
        "network.failed=[{ link = 'node-1 +x', at = '2.5 ms' }, { link = 'node-3 +x', at = '2 ms', until = '3 ms' }]";
    insta::assert_snapshot!("no_route_left", run(cut));
}

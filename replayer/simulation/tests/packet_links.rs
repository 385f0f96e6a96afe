//! Traces on routers with unequal links, in titr's platforms and SimGrid's: times computed by hand, and those of large
//! messages compared with the flow model.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use titr_platform::Platform;
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, replay};
use titr_test_machine::events;
use titr_workload::Workload;

/// Hosts of two sites, which a slow and long link joins. All links are SimGrid's `SHARED`: the two directions share one.
const SITES: &str = r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="sites" routing="Floyd">
    <host id="a" speed="1Gf"/> <host id="b" speed="1Gf"/> <host id="c" speed="1Gf"/> <host id="d" speed="1Gf"/>
    <router id="left"/> <router id="right"/>
    <link id="la" bandwidth="1GBps" latency="0s"/> <link id="lb" bandwidth="1GBps" latency="0s"/>
    <link id="lc" bandwidth="500MBps" latency="0s"/> <link id="ld" bandwidth="500MBps" latency="0s"/>
    <link id="wan" bandwidth="300MBps" latency="20us"/>
    <route src="a" dst="left"><link_ctn id="la"/></route>
    <route src="b" dst="left"><link_ctn id="lb"/></route>
    <route src="c" dst="right"><link_ctn id="lc"/></route>
    <route src="d" dst="right"><link_ctn id="ld"/></route>
    <route src="left" dst="right"><link_ctn id="wan"/></route>
  </zone>
</platform>
"#;

/// The flow model without what it adds for protocols, and routers in which packets do not wait behind others that go
/// elsewhere.
const PLAIN: [&str; 7] = [
    "network.flow.latency_factor=1",
    "network.flow.bandwidth_factor=1",
    "network.flow.crosstraffic=0",
    "network.flow.weight_s=0",
    "network.flow.tcp_gamma=0",
    "mpi.eager_transfer=at-once",
    "network.packet.output_queue=4",
];

/// Writes a file into a folder.
pub fn file(folder: &TempDir, name: &str, content: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Seconds that a trace takes on a platform.
fn time(path: &Path, model: &str, ranks: u32, trace: &str) -> f64 {
    let model = [format!("network.model={model}")];
    let overrides: Vec<String> = PLAIN.iter().map(ToString::to_string).chain(model).collect();
    let platform = Platform::load(path, &overrides).unwrap();
    let core = |host| Core::on(&platform, host);
    let cores = platform.place(ranks).unwrap().0.into_iter().map(core).collect();
    let workload = Workload::new(events(ranks, trace).into_iter().map(Vec::into_iter).collect());
    let mut network = platform.network(0);
    let outcome = replay(workload, cores, &platform.mpi, &mut *network, Breakdown::new(ranks), Options::default());
    outcome.unwrap().simulated_time.0 as f64 * 1e-12
}

fn assert_close(one: f64, other: f64, part: f64, what: &str) {
    assert!((one - other).abs() <= part * other, "{what}: {one} s, not {other} s");
}

/// A message to the other site takes its bytes at the thin link's bandwidth, and the link's latency.
#[test]
fn a_message_over_a_thin_and_long_link() {
    let folder = tempfile::tempdir().unwrap();
    let sites = file(&folder, "sites.xml", SITES);
    for bytes in [64.0, 6400.0, 64e6] {
        let trace = format!("0 send 2 0 {bytes}\n2 recv 0 0 {bytes}\n1 init\n3 init");
        let expected = 20e-6 + bytes / 0.3e9;
        // The header passes the other links at 4 and 8 ns a phit.
        let seconds = time(&sites, "packet", 4, &trace);
        assert!(seconds >= expected && seconds < expected + 200e-9, "{bytes} bytes: {seconds} s, not {expected} s");
    }
}

/// Large messages take as long as in the flow model: alone, in pairs that share a link one way or both ways, and all at once.
#[test]
fn large_messages_take_as_long_as_flows() {
    let folder = tempfile::tempdir().unwrap();
    let sites = file(&folder, "sites.xml", SITES);
    let star = file(
        &folder,
        "star.toml",
        "schema = 1\nhosts = { count = 4, speed = \"1 Ginstr/s\" }\n\
         topology.star.backbone = { bandwidth = \"3 GB/s\", latency = \"1 us\" }\n\
         network = { bandwidth = \"1 GB/s\", latency = \"0 s\", duplex = \"half\" }\n",
    );
    let bus = file(
        &folder,
        "bus.toml",
        "schema = 1\nhosts.speed = \"1 Ginstr/s\"\ntopology.star.backbone = { bandwidth = \"100 MB/s\", latency = \"0 s\" }\n\
         hosts.count = 4\nnetwork = { bandwidth = \"1 GB/s\", latency = \"0 s\" }\n",
    );
    let cases: [(&str, &[(u32, u32)]); 6] = [
        ("one message", &[(0, 2)]),
        ("within a site", &[(0, 1), (2, 3)]),
        ("the same way", &[(0, 2), (1, 3)]),
        ("opposite ways", &[(0, 2), (2, 0)]),
        ("crossing", &[(0, 2), (3, 1)]),
        ("an exchange", &[(0, 1), (1, 0), (2, 3), (3, 2)]),
    ];
    for path in [&sites, &star, &bus] {
        for (what, messages) in cases {
            let bytes = 1_280_000;
            let mut trace = String::new();
            for (from, to) in messages {
                trace += &format!("{from} isend {to} 0 {bytes}\n");
            }
            for (from, to) in messages {
                trace += &format!("{to} recv {from} 0 {bytes}\n");
            }
            for (from, to) in messages {
                trace += &format!("{from} wait {from} {to} 0\n");
            }
            for rank in 0..4 {
                trace += &format!("{rank} compute 1\n");
            }
            let [packets, flows] = ["packet", "flow"].map(|model| time(path, model, 4, &trace));
            assert_close(packets, flows, 0.03, &format!("{what} on {}", path.display()));
        }
    }
}

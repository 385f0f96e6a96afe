//! SimGrid platforms mean the same as in SimGrid: every route, and every link on it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use titr_common::units::{Bytes, Seconds, Speed};
use titr_network::topology::{HostId, Link, LinkId, Sharing, Topology};
use titr_platform::{EagerTransfer, Model, Platform, Policy};

/// The recorded speed, which no host here depends on.
const UNUSED: Speed = Speed { per_second: 0.0 };

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/simgrid")
}

fn platform(name: &str, overrides: &[&str]) -> Platform {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Platform::load(&data().join("platforms").join(name).with_extension("xml"), &overrides).unwrap()
}

/// What SimGrid 3.32 says of a platform: lines `from to latency link…`, then `L name bandwidth latency policy`.
struct Theirs {
    routes: Vec<(u32, u32, f64, Vec<String>)>,
    links: HashMap<String, Link>,
}

impl Theirs {
    fn read(path: &Path) -> Self {
        let mut text = String::new();
        MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
        let mut theirs = Self { routes: Vec::new(), links: HashMap::new() };
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if words[0] == "L" {
                let sharing = if words[4] == "0" { Sharing::FatPipe } else { Sharing::Shared };
                let (bandwidth, latency) = (words[2].parse().unwrap(), words[3].parse().unwrap());
                let latency = Seconds(latency);
                theirs.links.insert(words[1].to_owned(), Link { bandwidth, latency, sharing });
            } else {
                let links = words[3..].iter().map(ToString::to_string).collect();
                let [from, to] = [words[0], words[1]].map(|host| host.parse().unwrap());
                theirs.routes.push((from, to, words[2].parse().unwrap(), links));
            }
        }
        theirs
    }
}

fn route(topology: &dyn Topology, from: u32, to: u32) -> Vec<LinkId> {
    let mut route = Vec::new();
    topology.route(HostId(from), HostId(to), &mut route);
    route
}

/// Each of our links is one of theirs and the other way round, going by the routes, and is like it.
#[track_caller]
fn assert_same(name: &str, topology: &dyn Topology, theirs: &Theirs) {
    let mut ours_of_theirs: HashMap<&str, LinkId> = HashMap::new();
    let mut theirs_of_ours: HashMap<LinkId, &str> = HashMap::new();
    for (from, to, latency, theirs_taken) in &theirs.routes {
        let mut ours_taken = route(topology, *from, *to);
        let mut theirs_taken: Vec<&str> = theirs_taken.iter().map(String::as_str).collect();
        let distance = topology.distance(HostId(*from), HostId(*to)).0;
        let sum = ours_taken.iter().map(|link| topology.links()[link.index()].latency.0).sum::<f64>() + distance;
        assert!((sum - latency).abs() <= 1e-12 + 1e-9 * latency, "{name}: {from} to {to}: {sum} s, not {latency} s");
        if theirs_taken.is_empty() && distance > 0.0 {
            assert_eq!(ours_taken, [], "{name}: {from} to {to}");
            continue;
        }
        if theirs_taken.is_empty() {
            // A torus without loopback, where SimGrid has no route from a host to itself: titr has a loopback.
            assert_eq!((from, ours_taken.len()), (to, 1), "{name}");
            continue;
        }
        // The position of the limiters on a message's route does not matter.
        ours_taken.sort_by_key(|link| topology.link_name(*link).contains("limiter"));
        theirs_taken.sort_by_key(|link| link.contains("limiter"));
        if name.contains("dijkstra") {
            // SimGrid's Dijkstra turns the links of each piece round, which says the same.
            ours_taken.sort_by_key(|link| topology.link_name(*link));
            theirs_taken.sort_unstable();
        }
        assert_eq!(ours_taken.len(), theirs_taken.len(), "{name}: {from} to {to}: {theirs_taken:?}");
        for (ours, theirs) in ours_taken.into_iter().zip(theirs_taken) {
            assert_eq!(*ours_of_theirs.entry(theirs).or_insert(ours), ours, "{name}: {from} to {to}: {theirs}");
            assert_eq!(*theirs_of_ours.entry(ours).or_insert(theirs), theirs, "{name}: {from} to {to}: {theirs}");
        }
    }
    for (theirs_name, ours) in ours_of_theirs {
        assert_eq!(topology.links()[ours.index()], theirs.links[theirs_name], "{name}: {theirs_name}");
    }
    assert_eq!(theirs.routes.len(), topology.hosts() as usize * topology.hosts() as usize, "{name}");
}

#[test]
fn every_route_is_simgrids() {
    let mut tried = 0;
    for entry in std::fs::read_dir(data().join("platforms")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension() != Some("xml".as_ref()) {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        let ours = platform(name, &[]);
        let routes = data().join("routes").join(name).with_extension("txt.gz");
        assert_same(name, ours.topology.as_ref(), &Theirs::read(&routes));
        tried += 1;
    }
    assert_eq!(tried, 39);
}

#[test]
fn what_the_file_leaves_open_is_as_in_simgrid() {
    let cluster = platform("cluster16", &[]);
    assert_eq!(cluster.mpi.eager_transfer, EagerTransfer::OnMatch);
    assert_eq!(cluster.policy, Policy::RoundRobin);
    assert_eq!(format!("{:?}", cluster.mpi.collectives), {
        let library = titr_common::collectives::Library::SimGrid;
        format!("{:?}", titr_common::collectives::Selection::from(library))
    });
    let Model::Flow(parameters) = &cluster.model else { panic!("another model") };
    assert_eq!((parameters.weight_s, parameters.crosstraffic), (8775.0, 0.05));
    assert_eq!(cluster.warnings, [""; 0]);
}

/// As on `examples/cluster16.toml`, key for key.
#[test]
fn overrides_are_those_of_any_platform() {
    let changed = platform(
        "cluster16",
        &[
            "network.flow.preset=cm02",
            "mpi.eager_transfer=at-once",
            "placement.policy=block",
            "network.bandwidth=1 GB/s",
        ],
    );
    assert_eq!(changed.mpi.eager_transfer, EagerTransfer::AtOnce);
    assert_eq!(changed.policy, Policy::Block);
    assert_eq!(changed.topology.links()[0].bandwidth, 1e9);
    let Model::Flow(parameters) = &changed.model else { panic!("another model") };
    assert_eq!(parameters.weight_s, 0.0);
}

#[test]
fn hosts_have_their_speeds_and_cores() {
    let star = platform("limited_star", &[]);
    assert_eq!((star.topology.hosts(), star.cores), (7, 2));
    assert!(star.speeds.iter().all(|speed| speed.for_recorded(UNUSED).per_second == 2e9));
    let full = platform("full", &[]);
    assert_eq!(
        full.speeds.iter().map(|speed| speed.for_recorded(UNUSED).per_second).collect::<Vec<_>>(),
        [1e8, 2e8, 1e9]
    );
    // As many ranks as fit everywhere: one on alice, who has one core.
    assert_eq!(full.cores, 1);
    assert!(full.place(4).is_err());
}

/// A platform file's text, loaded.
fn written(text: &str) -> Platform {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("platform.xml");
    std::fs::write(&path, text).unwrap();
    Platform::load(&path, &[]).unwrap()
}

#[test]
fn options_are_those_of_smpirun() {
    let platform = written(
        r#"
        <platform version="4.1">
          <config>
            <prop id="network/TCP-gamma" value="20000000"/>
            <prop id="network/crosstraffic" value="0"/>
            <prop id="smpi/lat-factor" value="1000:2.5;0:1"/>
            <prop id="smpi/os" value="0:0:0:0:0;1000:1e-6:2e-9"/>
            <prop id="smpi/send-is-detached-thresh" value="1234"/>
            <prop id="smpi/coll-selector" value="ompi"/>
            <prop id="tracing" value="yes"/>
          </config>
          <config><prop id="network/TCP-gamma" value="1"/></config>
          <cluster id="c" prefix="" suffix="" radical="0-3" speed="1Gf" bw="125MBps" lat="50us"/>
        </platform>"#,
    );
    let Model::Flow(parameters) = &platform.model else { panic!("another model") };
    assert_eq!((parameters.tcp_gamma, parameters.crosstraffic, parameters.weight_s), (2e7, 0.0, 8775.0));
    assert_eq!([1000, 1001].map(|size| parameters.latency_factor.at(Bytes(size))), [1.0, 2.5]);
    let overheads = [1000, 2000].map(|size| platform.mpi.send_overhead.of(Bytes(size)));
    assert_eq!(overheads, [Seconds(0.0), Seconds(1e-6 + 2e-9 * 2000.0)]);
    assert_eq!(platform.mpi.eager_threshold, Bytes(1234));
    assert_eq!(platform.mpi.eager_transfer, EagerTransfer::OnMatch);
    assert_eq!(platform.warnings, [""; 0]);
}

/// The options of a platform that was calibrated for `smpirun`, as its tutorial has them.
#[test]
fn a_calibrated_platform_costs_what_it_costs_in_a_replay() {
    let platform = written(
        r#"
        <platform version="4.1">
          <config id="General">
            <prop id="smpi/os" value="0:8.6e-06:8e-10;8000:9e-06:2e-10"/>
            <prop id="smpi/ois" value="0:6.1e-06:3e-11"/>
            <prop id="smpi/or" value="0:7.2e-06:4e-11"/>
            <prop id="smpi/wtime" value="0.00000007"/>
            <prop id="smpi/iprobe" value="0.0000007"/>
            <prop id="smpi/test" value="0.0000004"/>
            <prop id="smpi/init" value="0.2"/>
            <prop id="smpi/running-power" value="1Gf"/>
            <prop id="smpi/simulate-computation" value="yes"/>
            <prop id="smpi/comp-adjustment-file" value="adjustments.txt"/>
          </config>
          <cluster id="c" prefix="" suffix="" radical="0-3" speed="1Gf" bw="125MBps" lat="50us"/>
        </platform>"#,
    );
    assert_eq!((platform.mpi.test_overhead, platform.mpi.iprobe_overhead), (Seconds(4e-7), Seconds(7e-7)));
    assert_eq!(platform.mpi.recv_overhead.of(Bytes(10)), Seconds(7.2e-6 + 4e-11 * 10.0));
    let [warning] = platform.warnings.as_slice() else { panic!("{:?}", platform.warnings) };
    let (_, message) = warning.split_once(": ").unwrap();
    let left_out = "smpi/comp-adjustment-file, smpi/init, smpi/running-power, smpi/wtime";
    assert_eq!(message, format!("a replay does not need these options, which are left out: {left_out}"));
}

/// Neither a file made to grow when read nor one of nothing but brackets makes titr fall over.
#[test]
fn hostile_files_are_refused() {
    let mut entities = "<!DOCTYPE platform [<!ENTITY a0 \"lol\">".to_owned();
    for level in 1..30 {
        let below = format!("&a{};", level - 1).repeat(10);
        entities += &format!("<!ENTITY a{level} \"{below}\">");
    }
    entities += "]><platform version=\"&a29;\"/>";
    let nested = "<zone id=\"z\" routing=\"Full\">".repeat(100_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("platform.xml");
    for text in [entities, format!("<platform version=\"4.1\">{nested}"), "<".to_owned(), "<\u{0}>".to_owned()] {
        std::fs::write(&path, text).unwrap();
        assert!(Platform::load(&path, &[]).is_err());
    }
}

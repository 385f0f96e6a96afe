//! Mistakes in platform files, as users see them: each points into the text and gives advice.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::path::Path;

use support::{all, shown};
use titr_common::collectives::Library;
use titr_common::units::Bytes;
use titr_platform::Platform;

/// A platform that is right.
const RIGHT: &str = r#"schema = 1

[hosts]
speed = "2.5 Ginstr/s"

[topology.torus]
dims = [4, 4]

[network]
bandwidth = "10 Gbit/s"
latency = "1 us"
"#;

const NAME: &str = "cluster.toml";

#[test]
fn point_into_the_text() {
    let cases = [
        ("no unit", "\"10 Gbit/s\"", "\"10\""),
        ("a bare number", "\"10 Gbit/s\"", "10"),
        ("a negative bandwidth", "10 Gbit/s", "-10 Gbit/s"),
        ("a unit of something else", "10 Gbit/s", "10 us"),
        ("no speed at all", "2.5 Ginstr/s", "0 instr/s"),
        ("an unknown key", "latency", "latncy"),
        ("a missing key", "latency = \"1 us\"\n", ""),
        ("a missing table", "[hosts]\nspeed = \"2.5 Ginstr/s\"\n", ""),
        ("another schema", "schema = 1", "schema = 2"),
        ("two topologies", "[network]", "[topology.star]\n\n[network]"),
        ("an unknown topology", "topology.torus", "topology.ring"),
        ("an unknown choice", "[network]", "[network]\nmodel = \"magic\""),
        ("not TOML", "[network]", "[network"),
        ("a contradiction", "[hosts]", "[hosts]\ncount = 17"),
        ("a star of how many?", "[topology.torus]\ndims = [4, 4]", "[topology.star]"),
        ("too large", "[4, 4]", "[400, 400, 400]"),
        ("too large to multiply", "[4, 4]", "[4000000000, 4000000000, 4000000000]"),
        ("no dimension", "[4, 4]", "[]"),
        ("an empty dimension", "[4, 4]", "[4, 0]"),
        ("uneven lists", "[topology.torus]\ndims = [4, 4]", "[topology.fat-tree]\ndown = [4, 4]\nup = [1]"),
        (
            "an ascent of SimGrid's tree",
            "[topology.torus]\ndims = [4, 4]",
            "[topology.fat-tree]\ndown = [4, 4]\nup = [1, 4]\nrouting = \"simgrid\"\nascent = \"s-mod-k\"",
        ),
        ("an unknown ascent", "torus]\ndims = [4, 4]", "xgft]\nm = [4, 4]\nw = [1, 4]\nascent = \"ecmp\""),
        ("too many groups", "torus]\ndims = [4, 4]", "dragonfly]\ngroups = 5\nchassis = 2\nblades = 4\nnodes = 1"),
        ("no blades", "torus]\ndims = [4, 4]", "dragonfly]\ngroups = 1\nchassis = 2\nblades = 0\nnodes = 1"),
        ("too many blades", "torus]\ndims = [4, 4]", "dragonfly]\ngroups = 1\nchassis = 1\nblades = 9000\nnodes = 1"),
        (
            "too few global links",
            "torus]\ndims = [4, 4]",
            "dragonfly]\ngroups = 10\nrouters = 4\nglobal_links = 2\nhosts = 2",
        ),
        (
            "two kinds of dragonfly",
            "torus]\ndims = [4, 4]",
            "dragonfly]\ngroups = 2\nrouters = 4\nglobal_links = 2\nhosts = 2\nblue = 2",
        ),
        ("no hosts at routers", "torus]\ndims = [4, 4]", "dragonfly]\ngroups = 2\nrouters = 4\nglobal_links = 2"),
        ("no chassis", "torus]\ndims = [4, 4]", "dragonfly]\ngroups = 2\nblades = 4\nnodes = 2"),
        ("a HyperX of no dimension", "torus]\ndims = [4, 4]", "hyperx]\ndims = []\nhosts = 1"),
        ("too large a HyperX", "torus]\ndims = [4, 4]", "hyperx]\ndims = [256, 256]\nhosts = 1"),
        ("cables of one dimension", "torus]\ndims = [4, 4]", "hyperx]\ndims = [4, 4]\nhosts = 1\ncables = [2]"),
        ("no cables", "torus]\ndims = [4, 4]", "hyperx]\ndims = [4, 4]\nhosts = 1\ncables = [1, 0]"),
        ("no such Slim Fly", "torus]\ndims = [4, 4]", "slim-fly]\nq = 6"),
        ("an odd Jellyfish", "torus]\ndims = [4, 4]", "jellyfish]\nrouters = 5\ndegree = 3\nhosts = 1"),
        ("too many cables", "torus]\ndims = [4, 4]", "jellyfish]\nrouters = 6\ndegree = 6\nhosts = 1"),
        ("a Jellyfish in parts", "torus]\ndims = [4, 4]", "jellyfish]\nrouters = 6\ndegree = 1\nhosts = 1"),
        (
            "too few links of spines",
            "torus]\ndims = [4, 4]",
            "dragonfly-plus]\ngroups = 6\nleaves = 2\nspines = 2\nglobal_links = 2\nhosts = 1",
        ),
        ("too many speeds", "\"2.5 Ginstr/s\"", "[\"2 Ginstr/s\", \"3 Ginstr/s\"]"),
        ("no switch", "[network]", "[network]\nloopback.through = \"switch\""),
        ("a placement of no file", "[network]", "[placement]\npolicy = \"file\"\n\n[network]"),
        ("a lost placement", "[network]", "[placement]\npolicy = \"file\"\nfile = \"lost\"\n\n[network]"),
        ("a detail of a preset", "[network]", "[mpi.one_sided]\nlock_all = \"each\"\n\n[network]"),
        ("an unknown library", "[network]", "[mpi]\ncollectives = \"lam\"\n\n[network]"),
        (
            "an unknown algorithm",
            "[network]",
            "[mpi.collectives]\nlibrary = \"openmpi\"\nbcast = \"magic\"\n\n[network]",
        ),
        ("an unknown collective", "[network]", "[mpi]\ncollectives.broadcast = \"binomial\"\n\n[network]"),
        ("a disk of no bandwidth", "[network]", "[storage]\nread_bandwidth = \"0 B/s\"\n\n[network]"),
        ("a latency without a unit", "[network]", "[storage]\nlatency = 85\n\n[network]"),
        ("an unknown key of storage", "[network]", "[storage]\nbandwith = \"1 GB/s\"\n\n[network]"),
        ("an unknown way to access", "[network]", "[storage]\ncollective = \"magic\"\n\n[network]"),
        ("no aggregator", "[network]", "[storage]\naggregators = 0\n\n[network]"),
        ("a buffer of aggregators", "[network]", "[storage]\ncollective_buffer = \"1 MiB\"\n\n[network]"),
        ("no server", "[network]", "[storage]\nservers = { hosts = [] }\n\n[network]"),
        ("a server nowhere", "[network]", "[storage]\nservers = { hosts = [0, 99] }\n\n[network]"),
        ("an unknown place of servers", "[network]", "[storage]\nservers = \"everywhere\"\n\n[network]"),
        ("stripes on local disks", "[network]", "[storage]\nstripe_size = \"1 MiB\"\n\n[network]"),
        ("a stripe of nothing", "[network]", "[storage]\nservers = { apart = 2 }\nstripe_size = \"0 B\"\n\n[network]"),
        ("too many stripes", "[network]", "[storage]\nservers = { apart = 2 }\nstripe_count = 3\n\n[network]"),
        (
            "a request without a message",
            "[network]",
            "[storage]\nservers = { apart = 2 }\ncontrol = \"1 kB\"\n\n[network]",
        ),
        ("no such routing of flows", "[network]", "[network.flow]\nrouting = \"valiant\"\n\n[network]"),
        ("an unknown routing of flows", "[network]", "[network.flow]\nrouting = \"ugal\"\n\n[network]"),
        ("a factor of nothing", "[network]", "[network.flow]\nlatency_factor = [[0, 1.0], [1000, 0]]\n\n[network]"),
    ];
    let mistakes = all(NAME, RIGHT, &cases) + &format!("# an empty file\n{}\n", shown(NAME, "", &[]));
    insta::assert_snapshot!("mistakes", mistakes);
}

#[test]
fn name_the_override() {
    let mut all = String::new();
    for setting in [
        "network.bandwidth=-5 Gbit/s",
        "network.bandwidth=5",
        "network.flow.prset=smpi",
        "hosts.count=15",
        "network.bandwidth",
        "=5",
        "network=ideal",
        "topology.star.backbone.latency=1 us",
    ] {
        all += &format!("# --set {setting}\n{}\n", shown(NAME, RIGHT, &["mpi.eager_threshold=1 KiB", setting]));
    }
    insta::assert_snapshot!("overrides", all);
}

/// `collectives = "openmpi"` is short for a table, on top of which one algorithm can be set.
#[test]
fn an_override_completes_a_shorthand() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, RIGHT.replace("[network]", "[mpi]\ncollectives = \"openmpi\"\n\n[network]")).unwrap();
    let platform = Platform::load(file.path(), &["mpi.collectives.bcast=binomial".to_owned()]).unwrap();
    assert_eq!(platform.mpi.collectives.library, Library::OpenMpi);
    assert_eq!(platform.mpi.collectives.forced().count(), 1);
}

/// The file of a site says whose rules it has, too.
#[test]
fn rules_of_a_site_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cluster.toml");
    std::fs::write(&file, RIGHT).unwrap();
    let load = |rules: &str| {
        std::fs::write(folder.path().join("rules.conf"), rules).unwrap();
        Platform::load(&file, &["mpi.collectives.rules=rules.conf".to_owned()])
    };
    let platform = load("1 # collective\n7\n1\n2\n1\n0 3 0 8192").unwrap();
    assert_eq!(platform.mpi.collectives.library, Library::OpenMpi);
    assert_eq!(platform.mpi.collectives.forced().next().unwrap().to_string(), "pipeline:8192");
    let wrong = load("1\n7\n1\n2\n1\n0 33 0 0").unwrap_err().to_string();
    assert!(wrong.contains("rules.conf: line 6: Open MPI's bcast has no algorithm 33"), "{wrong}");
}

#[test]
fn a_size_of_zero_needs_no_unit() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let loaded = |mpi: &str, set: &[String]| {
        std::fs::write(&file, format!("{RIGHT}{mpi}")).unwrap();
        Platform::load(file.path(), set).unwrap().mpi.eager_threshold
    };
    assert_eq!(loaded("", &["mpi.eager_threshold=0".to_owned()]), Bytes(0));
    assert_eq!(loaded("[mpi]\neager_threshold = 0\n", &[]), Bytes(0));
    assert_eq!(loaded("[mpi]\neager_threshold = \"0\"\n", &[]), Bytes(0));
}

#[test]
fn an_unreadable_file_is_named() {
    let error = Platform::load(Path::new("no/such.toml"), &[]).unwrap_err();
    assert!(error.to_string().starts_with("cannot read the platform no/such.toml: "), "{error}");
}

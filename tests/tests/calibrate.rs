//! `titr-calibrate` on this machine, under both MPI libraries: its output can be used for a replay, and errors are
//! reported once.

use std::process::Command;

use tempfile::TempDir;
use titr_tests::{Family, binary, built};

/// The output of a command, its standard error, and its exit status.
fn ended(command: &mut Command) -> (String, Option<i32>) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (text.concat(), output.status.code())
}

fn calibrate(family: Family, ranks: &str, folder: &TempDir, arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = family.mpirun();
    command.args(["-np", ranks]).arg(built("titr-calibrate")).args(["--seconds", "3"]).args(arguments);
    ended(command.current_dir(folder.path()))
}

#[test]
fn a_host_is_measured_fitted_and_fitted_again_without_mpi() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let arguments = ["--output", "cluster.toml", "--measurements", "measured.json"];
        let (said, status) = calibrate(family, "2", &folder, &arguments);
        // On a busy machine, times vary too much for any platform, which is said.
        assert_eq!(status, Some(i32::from(said.contains("this platform does not fit"))), "{family:?}: {said}");
        assert!(said.contains("note: all ranks are on one host"), "{family:?}: {said}");
        let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
        let cluster = read("cluster.toml");
        assert!(cluster.contains("eager_threshold = \"") && !cluster.contains("1 PB"), "{family:?}: {cluster}");
        for part in ["[[node.level]]", "recv_overhead = ", "reduction = [[", "# Fitted besides: ", "# Proof: "] {
            assert!(cluster.contains(part), "{family:?}: {part}: {cluster}");
        }

        let again = ["calibrate", "measured.json", "--output", "again.toml", "--report", "fit.html"];
        let (said, again) = ended(binary("titr").args(again).current_dir(folder.path()));
        assert_eq!((again, read("again.toml")), (status, cluster), "{family:?}: {said}");
        assert!(read("fit.html").contains("id=\"data\""));

        // Files of titr-calibrate before it measured full hosts have none of them.
        let measured = read("measured.json");
        let (before, _) = measured.split_once(",\n\"full_hosts\"").unwrap();
        std::fs::write(folder.path().join("old.json"), format!("{before}}}")).unwrap();
        let old = ["calibrate", "old.json", "--output", "old.toml"];
        let (said, _) = ended(binary("titr").args(old).current_dir(folder.path()));
        assert!(said.contains("old.toml is the platform\n"), "{family:?}: {said}");
        assert!(read("old.toml").contains("[network.loopback]") && !read("old.toml").contains("[node]"));

        std::fs::write(folder.path().join("trace.txt"), "0 init\n1 init\n0 send 1 0 4\n1 recv 0 0 4\n").unwrap();
        let replay = ["--platform", "cluster.toml", "trace.txt"];
        let (said, status) = ended(binary("titr-replay").args(replay).current_dir(folder.path()));
        assert_eq!(status, Some(0), "{family:?}: {said}");
    }
}

/// Pairs of ranks exchange messages at once, and what they have besides is left out.
#[test]
fn all_ranks_of_a_host_measure_together() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let arguments = ["--output", "cluster.toml", "--measurements", "measured.json"];
        let (said, status) = calibrate(family, "5", &folder, &arguments);
        assert!(matches!(status, Some(0 | 1)) && said.contains("cluster.toml is the platform"), "{family:?}: {said}");
        let measured = std::fs::read_to_string(folder.path().join("measured.json")).unwrap();
        for row in [
            "\"PingPong\",\"place\":\"intranode\",\"nodes\":1,\"ranks_per_node\":5,\"ranks\":4",
            "\"alltoall\"",
            "Reduce_local",
        ] {
            assert!(measured.contains(row), "{family:?}: {row}");
        }
    }
}

#[test]
fn what_cannot_be_done_is_told_once() {
    let cases: [(&str, &[&str], &str); 3] = [
        ("1", &["--output", "cluster.toml"], "one rank cannot send messages"),
        ("2", &["--output", "nowhere/cluster.toml"], "cannot write nowhere/cluster.toml"),
        ("2", &["--output", "cluster.toml", "--trace", "nothing"], "nothing"),
    ];
    for family in Family::ALL {
        for (ranks, arguments, message) in cases {
            let folder = TempDir::new().unwrap();
            let (said, status) = calibrate(family, ranks, &folder, arguments);
            assert_eq!(status, Some(1), "{family:?}: {said}");
            assert_eq!(said.matches("titr-calibrate: ").count(), 1, "{family:?}: {said}");
            assert!(said.contains(message), "{family:?}: {said}");
        }
    }
}

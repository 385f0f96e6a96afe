//! Real MPI libraries accept the files of `titr place`, and start each rank where the file says.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use titr_tests::{Family, binary};

/// The exchange of four ranks.
const TRACE: &str = "\
0 init\n1 init\n2 init\n3 init\n0 send 3 0 1000000\n3 recv 0 0 1000000\n1 send 2 0 1000000\n2 recv 1 0 1000000\n\
0 finalize\n1 finalize\n2 finalize\n3 finalize\n";

/// Two hosts with two cores each.
const PLATFORM: &str = "schema = 1\nhosts = { count = 2, cores = 2, speed = '1 Ginstr/s' }\ntopology.star = {}\n\
                        network = { bandwidth = '10 Gbit/s', latency = '1 us' }\n";

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{text:?}");
    text.concat()
}

/// The host of each rank, for this reader of the file `ranks`. Both hosts are this machine.
fn placed(folder: &Path, reader: &str) -> Vec<usize> {
    let file = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    file("trace.txt", TRACE);
    file("p.toml", PLATFORM);
    file("names", "localhost\nlocalhost\n");
    let options = ["--output", "ranks", "--hosts-file", "names", "--for", reader, "--placement-file", "hosts"];
    output(binary("titr").args(["place", "--platform", "p.toml", "trace.txt"]).args(options).current_dir(folder));
    let hosts = std::fs::read_to_string(folder.join("hosts")).unwrap();
    hosts.lines().map(|host| host.parse().unwrap()).collect()
}

/// Open MPI binds each rank to the core that its slot names: ranks on one host have different ones.
#[test]
fn open_mpi_binds_each_rank_to_its_slot() {
    let folder = TempDir::new().unwrap();
    let hosts = placed(folder.path(), "openmpi");
    assert!(hosts[0] == hosts[3] && hosts[1] == hosts[2] && hosts[0] != hosts[1], "{hosts:?}");
    let mut mpirun = Family::OpenMpi.mpirun_within(60);
    let script = "echo rank $OMPI_COMM_WORLD_RANK $(grep Cpus_allowed_list /proc/self/status)";
    let started =
        output(mpirun.args(["-np", "4", "--rankfile", "ranks", "sh", "-c", script]).current_dir(folder.path()));
    let cores: BTreeMap<usize, String> = started
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Some((words.get(1)?.parse().ok()?, (*words.last()?).to_owned()))
        })
        .collect();
    assert_eq!(cores.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3], "{started}");
    assert!(cores[&0] != cores[&3] && cores[&1] != cores[&2], "{started}");
    assert!(cores[&0] == cores[&1] && cores[&3] == cores[&2], "{started}");
}

#[test]
fn mpich_starts_all_ranks() {
    let folder = TempDir::new().unwrap();
    placed(folder.path(), "mpich");
    let mut mpirun = Family::Mpich.mpirun_within(60);
    // A rank that ends while MPICH's `mpirun` still starts others makes it end with SIGPIPE. MPI programs wait for each other.
    let script = "echo rank $PMI_RANK; sleep 1";
    let started = output(mpirun.args(["-f", "ranks", "-np", "4", "sh", "-c", script]).current_dir(folder.path()));
    let mut ranks: Vec<&str> = started.lines().collect();
    ranks.sort_unstable();
    assert_eq!(ranks, ["rank 0", "rank 1", "rank 2", "rank 3"]);
}

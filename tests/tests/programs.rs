//! Real programs that nobody here wrote, and a wavefront in the manner of NPB LU: traced, checked, replayed.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use titr_tests::{Family, binary, library, lines, replay, run};

/// Runs `program` in `directory` on `ranks` ranks; what it prints and `outputs`, as far as `comparable` keeps them, equal
/// the untraced run's. The trace passes `titr check`, and is replayed on a torus and on a fat-tree.
fn check(
    directory: &Path,
    ranks: u32,
    program: &[&str],
    outputs: &[&str],
    comparable: impl Fn(&str) -> String,
) -> PathBuf {
    let family = Family::OpenMpi;
    let go = |preload: bool| {
        for output in outputs {
            let _ = fs::remove_file(directory.join(output));
        }
        let mut command = family.mpirun();
        command.arg("-np").arg(ranks.to_string()).args(program).current_dir(directory);
        if preload {
            command.env("LD_PRELOAD", library());
        }
        let result = run(&mut command);
        let mut text = result.stdout.clone();
        for output in outputs {
            text += &fs::read_to_string(directory.join(output)).unwrap();
        }
        (result.status, comparable(&text), result.stderr)
    };
    let (plain, traced) = (go(false), go(true));
    assert_eq!(plain.0, Some(0), "{}", plain.2);
    assert_eq!((traced.0, &traced.1), (plain.0, &plain.1), "{}", traced.2);
    assert!(!plain.1.is_empty());

    let trace = directory.join("traces");
    let verdict = run(binary("titr").arg("check").arg(&trace));
    assert_eq!(verdict.status, Some(0), "{}{}", verdict.stdout, verdict.stderr);
    for platform in ["torus.toml", "fat-tree.toml"] {
        let report = replay(platform, &trace);
        assert_eq!(report["ranks"], ranks);
        assert!(report["simulated_time"].as_f64().unwrap() > 0.0);
    }
    trace
}

/// A line without its numbers: for outputs that time themselves.
fn words(line: &str) -> String {
    let text: String = line.split(|c: char| c.is_ascii_digit() || ".-+e:%".contains(c)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ") + "\n"
}

fn hpcc(rows: u32, columns: u32) {
    let directory = TempDir::new().unwrap();
    let input = format!(
        "HPCC input, small\nlocal\nHPL.out\n8 device\n1 problem\n192 N\n1 blocking\n32 NB\n0 row-major\n1 grid\n{rows} P\n{columns} Q\n\
         16.0 threshold\n1 factorization\n2 right\n1 stop\n4 NBMIN\n1 panels\n2 NDIV\n1 recursive\n1 Crout\n1 broadcast\n\
         1 ring\n1 depth\n1 lookahead\n2 mix\n64 swap\n0 L1\n0 U\n1 equilibrate\n8 align\n# separator\n0 PTRANS sizes\n\
         1200\n0 PTRANS blocks\n40\n"
    );
    fs::write(directory.path().join("hpccinf.txt"), input).unwrap();
    let trace = check(directory.path(), rows * columns, &["hpcc"], &["hpccoutf.txt"], |text| {
        // The verdicts of its eight benchmarks; all else are times and rates.
        text.lines().filter(|line| line.contains("PASSED") || line.contains("Success=")).map(words).collect()
    });
    let text = lines(&trace);
    for word in [" send ", " recv ", " isend ", " wait ", " bcast ", " allreduce ", " alltoall ", " comm_split "] {
        assert!(text.contains(word), "no{word}in hpcc's trace");
    }
}

#[test]
fn hpcc_on_4_ranks() {
    hpcc(2, 2);
}

#[test]
fn hpcc_folded_on_16_ranks() {
    hpcc(4, 4);
}

#[test]
fn lammps_on_4_ranks() {
    let directory = TempDir::new().unwrap();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/melt.lammps");
    let program = ["lmp", "-log", "none", "-in", input.to_str().unwrap()];
    check(directory.path(), 4, &program, &[], |text| {
        // The thermodynamic table: what was computed, to every digit shown.
        text.lines().skip_while(|line| !line.starts_with("Step")).take(4).map(|line| format!("{line}\n")).collect()
    });
}

#[test]
fn wavefront_folded_on_64_ranks() {
    let directory = TempDir::new().unwrap();
    let program = Family::OpenMpi.build("wavefront.f90", &[]);
    let trace = check(directory.path(), 64, &[program.to_str().unwrap(), "64", "10"], &[], str::to_owned);
    // An inner process of the 8×8 grid: 10 iterations; 64 planes, two sweeps, two neighbours each way.
    let of_rank_9 = lines(&trace);
    let count = |word: &str| of_rank_9.lines().filter(|line| line.starts_with(&format!("9 {word} "))).count();
    assert_eq!((count("send"), count("recv")), (10 * (64 * 2 * 2 + 2), 10 * 64 * 2 * 2));
    assert_eq!((count("irecv"), count("wait"), count("allreduce")), (20, 20, 2));
    assert!(of_rank_9.contains("9 send 17 10 320\n"), "8 cells of 5 doubles");
}

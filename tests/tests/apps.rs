//! Real third-party programs, and a wavefront in the manner of NPB LU: traced, checked, replayed. Each gives its
//! untraced answer, has all that an independent tool counts in the trace, and is replayed to its end.
//!
//! The slower ones are ignored here; `ci/apps` runs them too.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use titr_common::event::{Annotation, Event};
use titr_common::trace::{Manifest, Trace};
use titr_test_support::cannot_run;
use titr_tests::{Counts, Family, assert_sound, lines, replay, run};

/// A program, and where it is run.
struct Application<'a> {
    directory: &'a Path,
    ranks: u32,
    /// Its name and its arguments.
    program: &'a [&'a str],
    /// What it reads from standard input.
    input: Option<&'a Path>,
    /// Files that it writes, which are compared besides its standard output.
    outputs: &'a [&'a str],
    /// Whether an extended trace is taken, too.
    extended: bool,
}

impl Application<'_> {
    /// Runs it with and without the tracer: what `comparable` keeps of its outputs is the same. The trace passes
    /// `titr check`, holds all calls, messages and bytes that an independent tool counts, and is replayed on a torus and on a fat-tree. None where the program
    /// is not installed.
    fn check(&self, comparable: impl Fn(&str) -> String) -> Option<PathBuf> {
        let Self { directory, program, .. } = *self;
        if !is_installed(program[0]) {
            cannot_run(format_args!("there is no {}: run ci/install test", program[0]));
            return None;
        }
        let go = |mode: Option<&str>| {
            for output in self.outputs {
                let _ = fs::remove_file(directory.join(output));
            }
            let mut command = Family::OpenMpi.mpirun();
            command.arg("-np").arg(self.ranks.to_string()).args(program).current_dir(directory);
            if let Some(mode) = mode {
                let mut preload = Family::OpenMpi.counter().into_os_string();
                preload.push(":");
                preload.push(Family::OpenMpi.preload());
                command.env("LD_PRELOAD", preload).env("COUNTS", directory.join(format!("{mode}-counts")));
                command.env("TITRACE_MODE", mode).env("TITRACE_DIR", mode);
            }
            if let Some(input) = self.input {
                command.stdin(File::open(input).unwrap());
            }
            let result = run(&mut command);
            let mut text = result.stdout.clone();
            for output in self.outputs {
                text += &fs::read_to_string(directory.join(output)).unwrap_or_default();
            }
            (result.status, comparable(&text), result.stderr)
        };
        let plain = go(None);
        assert_eq!(plain.0, Some(0), "{}", plain.2);
        assert!(!plain.1.is_empty());
        for mode in if self.extended { &["ti", "extended"][..] } else { &["ti"] } {
            let traced = go(Some(mode));
            assert_eq!((traced.0, &traced.1), (plain.0, &plain.1), "{mode}: {}", traced.2);
            let trace = directory.join(mode);
            assert_sound(&trace);
            let counts = |rank| fs::read_to_string(directory.join(format!("{mode}-counts-{rank}"))).unwrap();
            let counts = Counts::read(&(0..self.ranks).map(counts).collect::<Vec<_>>());
            counts.compare(&trace, 1).unwrap_or_else(|differs| panic!("{mode}: {differs}"));
            for rank in Manifest::read(&trace).unwrap().per_rank {
                assert!(rank.untraced.is_empty() && rank.opaque.is_empty(), "{mode}: {rank:?}");
            }
        }
        if self.extended {
            let messages = collective_messages(&directory.join("extended"));
            assert!(messages > 100, "{messages}");
        }
        let trace = directory.join("ti");
        for platform in ["torus.toml", "fat-tree.toml"] {
            let report = replay(platform, &trace);
            assert_eq!(report["ranks"], self.ranks);
            assert!(report["simulated_time"].as_f64().unwrap() > 0.0);
        }
        Some(trace)
    }
}

/// Whether there is such a command. Not every one of these takes `--version` for a question.
fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// The number of messages of collectives in a trace.
fn collective_messages(trace: &Path) -> usize {
    let mut messages = 0;
    for mut stream in Trace::open(trace).unwrap().streams().unwrap() {
        while let Some(event) = stream.next_event().unwrap() {
            messages += usize::from(matches!(event, Event::Annotation(Annotation::Message(_))));
        }
    }
    messages
}

/// A line without its numbers: for outputs that time themselves.
fn words(line: &str) -> String {
    let text: String = line.split(|c: char| c.is_ascii_digit() || ".-+e:%".contains(c)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ") + "\n"
}

fn hpcc(rows: u32, columns: u32, extended: bool) {
    let directory = TempDir::new().unwrap();
    let input = format!(
        "HPCC input, small\nlocal\nHPL.out\n8 device\n1 problem\n192 N\n1 blocking\n32 NB\n0 row-major\n1 grid\n{rows} P\n{columns} Q\n\
         16.0 threshold\n1 factorization\n2 right\n1 stop\n4 NBMIN\n1 panels\n2 NDIV\n1 recursive\n1 Crout\n1 broadcast\n\
         1 ring\n1 depth\n1 lookahead\n2 mix\n64 swap\n0 L1\n0 U\n1 equilibrate\n8 align\n# separator\n0 PTRANS sizes\n\
         1200\n0 PTRANS blocks\n40\n"
    );
    fs::write(directory.path().join("hpccinf.txt"), input).unwrap();
    let (ranks, outputs) = (rows * columns, &["hpccoutf.txt"]);
    let hpcc = Application { directory: directory.path(), ranks, program: &["hpcc"], input: None, outputs, extended };
    let Some(trace) = hpcc.check(|text| {
        // The verdicts of its eight benchmarks; all else are times and rates. PTRANS has a line of CPU times only where its
        // clock has seen any.
        let is_verdict =
            |line: &&str| line.contains("PASSED") && !line.trim_start().starts_with("CPU") || line.contains("Success=");
        text.lines().filter(is_verdict).map(words).collect()
    }) else {
        return;
    };
    let text = lines(&trace);
    for word in [" send ", " recv ", " isend ", " wait ", " bcast ", " allreduce ", " alltoall ", " comm_split "] {
        assert!(text.contains(word), "no{word}in hpcc's trace");
    }
}

#[test]
fn hpcc_on_4_ranks() {
    hpcc(2, 2, true);
}

#[test]
fn hpcc_folded_on_16_ranks() {
    hpcc(4, 4, false);
}

#[test]
fn lammps_on_4_ranks() {
    let directory = TempDir::new().unwrap();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/melt.lammps");
    let program = ["lmp", "-log", "none", "-in", input.to_str().unwrap()];
    let lammps = Application {
        directory: directory.path(),
        ranks: 4,
        program: &program,
        input: None,
        outputs: &[],
        extended: true,
    };
    lammps.check(|text| {
        // The thermodynamic table: what was computed, to every digit shown.
        text.lines().skip_while(|line| !line.starts_with("Step")).take(4).map(|line| format!("{line}\n")).collect()
    });
}

#[test]
fn a_program_in_rust_on_4_ranks() {
    let directory = TempDir::new().unwrap();
    // Cargo builds the examples of a crate beside its tests.
    let program = env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples/heat");
    let program = &[program.to_str().unwrap()];
    let heat =
        Application { directory: directory.path(), ranks: 4, program, input: None, outputs: &[], extended: true };
    let trace = heat.check(str::to_owned).unwrap();
    let of_rank_0 = lines(&trace);
    let count = |word: &str| of_rank_0.lines().filter(|line| line.starts_with(&format!("0 {word} "))).count();
    assert_eq!((count("irecv"), count("send"), count("wait"), count("allreduce")), (40, 40, 40, 20));
}

#[test]
fn wavefront_folded_on_64_ranks() {
    let directory = TempDir::new().unwrap();
    let program = Family::OpenMpi.build("wavefront.f90", &[]);
    let program = &[program.to_str().unwrap(), "64", "10"];
    let wavefront =
        Application { directory: directory.path(), ranks: 64, program, input: None, outputs: &[], extended: false };
    let trace = wavefront.check(str::to_owned).unwrap();
    // An inner process of the 8×8 grid: 10 iterations; 64 planes, two sweeps, two neighbours each way.
    let of_rank_9 = lines(&trace);
    let count = |word: &str| of_rank_9.lines().filter(|line| line.starts_with(&format!("9 {word} "))).count();
    assert_eq!((count("send"), count("recv")), (10 * (64 * 2 * 2 + 2), 10 * 64 * 2 * 2));
    assert_eq!((count("irecv"), count("wait"), count("allreduce")), (20, 20, 2));
    assert!(of_rank_9.contains("9 send 17 10 320\n"), "8 cells of 5 doubles");
}

/// `ScaLAPACK`'s own test of its LU factorization, on matrices of these `sizes` and grids of up to four processes.
fn xdlu(sizes: &[u32], blocks: &[u32]) {
    let directory = TempDir::new().unwrap();
    let list = |numbers: &[u32]| numbers.iter().map(|number| format!("{number} ")).collect::<String>();
    let (orders, blocks) = ((sizes.len(), list(sizes)), (blocks.len(), list(blocks)));
    let input = format!(
        "'ScaLAPACK, LU factorization'\n'MPI'\n'LU.out' file\n6 device\n{0} sizes\n{1}M\n{1}N\n{2} NBs\n{3}NB\n\
         2 NRHSs\n1 3 NRHS\n1 NBRHSs\n3 NBRHS\n4 grids\n1 2 1 4 P\n1 2 4 1 Q\n1.0 threshold\nT refine\n",
        orders.0, orders.1, blocks.0, blocks.1
    );
    fs::write(directory.path().join("LU.dat"), input).unwrap();
    let program = &["/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/xdlu"];
    let xdlu =
        Application { directory: directory.path(), ranks: 4, program, input: None, outputs: &[], extended: false };
    xdlu.check(|text| {
        // A row a test, which ends with its times and its verdict; and how many there were.
        let tests = text.lines().filter(|line| line.starts_with("WALL") || line.contains("tests completed"));
        let kept = tests.map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let what = if fields[0] == "WALL" { &fields[..8] } else { &fields[..] };
            format!("{} {}\n", what.join(" "), fields[fields.len() - 1])
        });
        assert!(!text.contains("FAILED"));
        kept.collect()
    });
}

#[test]
fn scalapack_lu_on_4_ranks() {
    xdlu(&[4, 17], &[2]);
}

#[test]
#[ignore = "longer: ci/apps"]
fn scalapack_lu_of_many_sizes() {
    xdlu(&[4, 13, 23, 31, 150], &[2, 3, 8]);
}

/// MUMPS' example: a sparse system of five unknowns.
fn dsimpletest(ranks: u32) {
    let directory = TempDir::new().unwrap();
    let input = Path::new("/usr/lib/mumps/input_simpletest_real");
    let input = input.exists().then_some(input);
    let program = &["/usr/lib/mumps/dsimpletest"];
    let mumps = Application { directory: directory.path(), ranks, program, input, outputs: &[], extended: false };
    mumps.check(|text| {
        let solution = text.lines().find(|line| line.contains("Solution is")).unwrap_or_default();
        solution.split_whitespace().filter_map(|word| word.parse().ok()).map(|x: f64| format!("{x:.9} ")).collect()
    });
}

#[test]
fn mumps_simple_test_on_2_ranks() {
    dsimpletest(2);
}

#[test]
#[ignore = "longer: ci/apps"]
fn mumps_simple_test_on_7_ranks() {
    dsimpletest(7);
}

/// GROMACS: so many `steps` of 1,728 molecules of water, their long-range forces by particle-mesh Ewald.
fn gromacs(ranks: u32, steps: u32) {
    let directory = TempDir::new().unwrap();
    let topology = "#include \"oplsaa.ff/forcefield.itp\"\n#include \"oplsaa.ff/spce.itp\"\n\
                    [ system ]\nwater\n[ molecules ]\nSOL 1728\n";
    let run_of = format!(
        "integrator = md\nnsteps = {steps}\nnstlog = {steps}\nnstenergy = {steps}\nnstcalcenergy = {steps}\n\
         coulombtype = PME\nrcoulomb = 0.9\nrvdw = 0.9\nfourierspacing = 0.15\ngen-vel = yes\ngen-seed = 7\n\
         constraints = h-bonds\n"
    );
    fs::write(directory.path().join("topol.top"), topology).unwrap();
    fs::write(directory.path().join("grompp.mdp"), run_of).unwrap();
    for prepare in ["genconf -f /usr/share/gromacs/top/spc216.gro -nbox 2 2 2 -o conf.gro", "grompp -maxwarn 1"] {
        let mut command = Command::new("gmx");
        command.args(prepare.split(' ')).current_dir(directory.path()).stdin(Stdio::null());
        let Ok(done) = command.output() else {
            return cannot_run("there is no gmx: run ci/install test");
        };
        assert!(done.status.success(), "{prepare}: {}", String::from_utf8_lossy(&done.stderr));
    }
    // Nothing may depend on how fast things go.
    let program = ["gmx_mpi", "-nobackup", "mdrun", "-ntomp", "1", "-reprod", "-dlb", "no", "-notunepme"];
    let program = [&program[..], &["-s", "topol.tpr", "-g", "md.log"]].concat();
    let outputs = &["md.log"];
    let gromacs =
        Application { directory: directory.path(), ranks, program: &program, input: None, outputs, extended: false };
    gromacs.check(|text| {
        // The energies, to every digit shown, and the temperature and pressure below them.
        let lines: Vec<&str> = text.lines().collect();
        let tables = (0..lines.len()).filter(|&at| lines[at].contains("Energies (kJ/mol)"));
        tables.flat_map(|at| lines.iter().skip(at).take(5)).map(|line| format!("{line}\n")).collect()
    });
}

#[test]
fn gromacs_on_4_ranks() {
    gromacs(4, 20);
}

#[test]
#[ignore = "longer: ci/apps"]
fn gromacs_on_8_ranks() {
    gromacs(8, 200);
}

/// PT-Scotch orders the unknowns of a grid of 12 × 12; its ranks call MPI from several threads.
#[test]
fn pt_scotch_on_3_ranks() {
    let directory = TempDir::new().unwrap();
    let side = 12;
    let neighbours = |at: i32| {
        let there = [(at % side > 0, at - 1), (at % side < side - 1, at + 1), (true, at - side), (true, at + side)];
        let there = there.into_iter().filter(|&(is_in_row, to)| is_in_row && (0..side * side).contains(&to));
        there.map(|(_, to)| to.to_string()).collect::<Vec<_>>()
    };
    let rows =
        (0..side * side).map(neighbours).map(|to| format!("{} {}\n", to.len(), to.join(" "))).collect::<String>();
    let (vertices, arcs) = (side * side, 4 * side * (side - 1));
    fs::write(directory.path().join("grid.grf"), format!("0\n{vertices} {arcs}\n0 000\n{rows}")).unwrap();
    let program = &["dgord", "grid.grf", "grid.ord"];
    let outputs = &["grid.ord"];
    let scotch = Application { directory: directory.path(), ranks: 3, program, input: None, outputs, extended: false };
    scotch.check(str::to_owned);
}

/// MPI from Python, whose interpreter loads the library where no other can see it.
#[test]
fn mpi4py_on_3_ranks() {
    let directory = TempDir::new().unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/pi.py");
    let program = ["/usr/bin/python3", program.to_str().unwrap()];
    let python = Application {
        directory: directory.path(),
        ranks: 3,
        program: &program,
        input: None,
        outputs: &[],
        extended: false,
    };
    let Some(trace) = python.check(str::to_owned) else { return };
    let text = lines(&trace);
    for word in [" bcast ", " isend ", " alltoall ", " gatherv ", " comm_split "] {
        assert!(text.contains(word), "no{word}in the trace of Python:\n{text}");
    }
}

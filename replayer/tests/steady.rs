//! Sampled replays predict about the same as complete ones, and report when they cannot.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// The platform of the tests, of at least 64 hosts.
fn platform() -> String {
    here("../examples/cluster16.toml").display().to_string()
}

/// The result of replaying a trace.
fn replay(folder: &Folder, options: &[&str], trace: &str) -> Value {
    let shown = folder.run(TITR_REPLAY, &[&["--json", "--platform", &platform()], options, &[trace]].concat());
    serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap()
}

/// The result of replaying a trace, and of doing so with `--steady`.
fn both(folder: &Folder, ranks: u32, trace: &str, options: &[&str]) -> (Value, Value) {
    let hosts = format!("hosts.count={ranks}");
    let options = [&["--set", &hosts], options].concat();
    (replay(folder, &options, trace), replay(folder, &[&options[..], &["--steady"]].concat(), trace))
}

/// How far the second time is from the first, as a part of it.
fn difference((whole, steady): &(Value, Value)) -> f64 {
    let time = |result: &Value| result["simulated_time"].as_f64().unwrap();
    (time(steady) / time(whole) - 1.0).abs()
}

/// Counts are those of the whole replay, and the parts of a rank's time add up.
fn assert_counts((whole, steady): &(Value, Value)) {
    for count in ["events", "messages", "bytes", "ranks"] {
        assert_eq!(whole[count], steady[count], "{count}");
    }
    let number = |value: &Value| value.as_f64().unwrap();
    for rank in steady["per_rank"].as_array().unwrap() {
        let parts: f64 =
            ["compute", "send", "recv", "wait", "file", "collective"].iter().map(|&part| number(&rank[part])).sum();
        assert!((parts / number(&rank["finish"]) - 1.0).abs() < 1e-9, "{rank}");
    }
    for (of_whole, of_steady) in
        whole["per_rank"].as_array().unwrap().iter().zip(steady["per_rank"].as_array().unwrap())
    {
        let part = number(&of_steady["compute"]) / number(&of_whole["compute"]);
        assert!((part - 1.0).abs() < 1e-9, "what is computed is known: {part}");
    }
}

/// Both results are the same, but for a warning with a reason that begins so.
fn assert_in_full((mut whole, mut steady): (Value, Value), reason: &str) {
    let warning = steady["warnings"].as_array_mut().unwrap().pop().unwrap();
    let warning = warning.as_str().unwrap();
    assert!(warning.starts_with(&format!("all iterations were simulated (--steady): {reason}")), "{warning}");
    whole["replay"] = Value::Null;
    steady["replay"] = Value::Null;
    assert_eq!(whole, steady);
}

#[test]
fn a_stencil_settles() {
    let folder = Folder::new();
    let kernel = ["stencil", "--ranks", "16", "--dimensions", "4x4", "--bytes", "4kB", "--compute", "20us"];
    folder.run(TITR, &[&["generate"], &kernel[..], &["--iterations", "2000", "-o", "trace"]].concat());
    for options in [&[][..], &["--set", "network.model=ideal"], &["--collectives", "mpich"]] {
        let results = both(&folder, 16, "trace", options);
        assert_counts(&results);
        assert!(difference(&results) < 0.005, "{}", difference(&results));
        let left_out = &results.1["left_out"];
        assert!(left_out["simulated_iterations"].as_u64().unwrap() * 20 < left_out["iterations"].as_u64().unwrap());
    }
    // The trace has the first iteration before its loop.
    let report = folder.run(TITR_REPLAY, &["--steady", "--platform", &platform(), "trace"]);
    let line = report.lines().find(|line| line.contains('±')).unwrap_or_else(|| panic!("{report}"));
    assert!(
        line.contains(" of 1,999 iterations (") && line.contains(" were simulated; each other one takes "),
        "{line}"
    );
}

/// Nobody waits for those behind, so the first rank sends its last message long before the last one gets its first.
#[test]
fn a_front_whose_ranks_drift_apart_is_replayed_in_full() {
    let folder = Folder::new();
    let kernel = ["wavefront", "--ranks", "16", "--dimensions", "4x4", "--bytes", "4kB", "--compute", "20us"];
    folder.run(TITR, &[&["generate"], &kernel[..], &["--iterations", "500", "-o", "trace"]].concat());
    for options in [&[][..], &["--set", "network.model=ideal"]] {
        assert_in_full(
            both(&folder, 16, "trace", options),
            "the ranks drift apart, as some run ahead of others for as long as the loop lasts",
        );
    }
}

/// NPB LU, whose computation was measured and so differs from one iteration to the next, as SimGrid's text.
#[test]
fn a_real_program_whose_computation_varies_settles() {
    let folder = Folder::new();
    for ranks in [8, 16] {
        let trace = here(&format!("tests/data/simgrid/traces/lu.W.{ranks}.idx")).display().to_string();
        let results = both(&folder, ranks, &trace, &[]);
        assert_counts(&results);
        let left_out = &results.1["left_out"];
        assert_eq!(left_out["iterations"], 299);
        let (found, bound) = (difference(&results), left_out["error_bound"].as_f64().unwrap());
        assert!(found < 0.005 && bound < 0.005, "{found} {bound}");
    }
}

/// A recorded receive from any source says in a line of its own who sent, which is nothing that a replay executes.
#[test]
fn matches_of_receives_from_any_source_move_no_iteration() {
    let folder = Folder::new();
    let (first, second) = (
        "0 compute 100000\n0 irecv * 1 8 6 0 any_source\n0 matched 0 1 1\n0 wait 1 0 1 0\n0 send 1 2 8\n",
        "1 compute 100000\n1 send 0 1 8\n1 recv 0 2 8\n",
    );
    let rank = |rank: usize, iteration: &str| format!("{rank} init\n{}{rank} finalize\n", iteration.repeat(200));
    folder.trace(&[&rank(0, first), &rank(1, second)]);
    let results = both(&folder, 2, "traces", &[]);
    assert_counts(&results);
    assert!(difference(&results) < 1e-6, "{}", difference(&results));
    assert_eq!(results.1["left_out"]["iterations"], 200);
}

/// Rank 0 computes a hundred times as long in every iteration as in the one before, so no iteration tells of the next.
#[test]
fn what_does_not_settle_is_replayed_in_full() {
    let folder = Folder::new();
    let ranks: [String; 2] = [0, 1].map(|rank| {
        let mut text = format!("{rank} init\n");
        for iteration in 0..60_u32 {
            let work = if rank == 0 { 1e5 * 1.2_f64.powi(iteration.cast_signed()) } else { 1e5 };
            let verb = ["send 1 0 8", "recv 0 0 8"][rank];
            write!(text, "{rank} compute {}\n{rank} {verb}\n", work.round()).unwrap();
        }
        text + &format!("{rank} finalize\n")
    });
    folder.trace(&[&ranks[0], &ranks[1]]);
    assert_in_full(both(&folder, 2, "traces", &[]), "with ");
}

/// The computation of rank 0 varies by half in each iteration, so a sample knows the time roughly.
#[test]
fn the_accepted_error_can_be_chosen() {
    let folder = Folder::new();
    let ranks: [String; 2] = [0, 1].map(|rank| {
        let mut text = format!("{rank} init\n");
        for iteration in 0..400_u32 {
            let work = 1_000_000 + if rank == 0 { iteration.wrapping_mul(2_654_435_761) % 500_000 } else { 0 };
            let verbs = ["0 send 1 0 8\n0 recv 1 0 8\n", "1 recv 0 0 8\n1 send 0 0 8\n"];
            write!(text, "{rank} compute {work}\n{}", verbs[rank]).unwrap();
        }
        text + &format!("{rank} finalize\n")
    });
    folder.trace(&[&ranks[0], &ranks[1]]);
    let [whole, rough, fine] =
        [&[][..], &["--steady=10"], &["--steady=0.5"]].map(|options| replay(&folder, options, "traces"));
    let simulated = |result: &Value| result["left_out"]["simulated_iterations"].as_u64();
    assert!(simulated(&rough).unwrap() <= 20, "{}", rough["left_out"]);
    assert!(simulated(&fine).is_none_or(|fine| fine > simulated(&rough).unwrap()), "{}", fine["left_out"]);
    let both = (whole, rough);
    assert!(difference(&both) < both.1["left_out"]["error_bound"].as_f64().unwrap(), "{}", difference(&both));
    let refused = folder.run(TITR_REPLAY, &["--steady=0", "--platform", &platform(), "traces"]);
    assert!(refused.contains("a percentage between 0 and 100 is expected, as in --steady=1"), "{refused}");
}

/// A trace of ranks in a line, each of which computes, sends to its neighbours and receives from them in each iteration. `before` is what
/// a rank does before the loop, and `within` what it does in an iteration.
fn line(
    folder: &Folder,
    ranks: usize,
    iterations: usize,
    before: fn(usize) -> &'static str,
    within: fn(usize, usize) -> String,
) {
    let of_rank = |rank: usize| {
        let neighbours: Vec<usize> =
            [rank.wrapping_sub(1), rank + 1].into_iter().filter(|&rank| rank < ranks).collect();
        let mut text = format!("{rank} init\n{}", before(rank));
        for iteration in 0..iterations {
            text += &within(rank, iteration);
            neighbours.iter().for_each(|to| writeln!(text, "{rank} send {to} 0 8").unwrap());
            neighbours.iter().for_each(|from| writeln!(text, "{rank} recv {from} 0 8").unwrap());
        }
        text + &format!("{rank} finalize\n")
    };
    let texts: Vec<String> = (0..ranks).map(of_rank).collect();
    folder.trace(&texts.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The delay of rank 0 reaches one more rank in each iteration, so that until it reaches the last one, the mean of all ranks advances
/// by a sixteenth of it in each.
#[test]
fn ranks_that_begin_apart_are_not_extrapolated_before_they_have_settled() {
    let folder = Folder::new();
    let late = |rank| if rank == 0 { "0 compute 1000000000\n" } else { "" };
    line(&folder, 16, 1000, late, |rank, _| format!("{rank} compute 1000000\n"));
    for options in [&[][..], &["--set", "network.model=ideal"]] {
        let results = both(&folder, 16, "traces", options);
        assert!(difference(&results) < 1e-4, "{}", difference(&results));
        assert_eq!(results.1["left_out"]["iterations"], 1000);
    }
}

/// Rank 0 computes as long in each iteration, so that the longest computation says nothing.
#[test]
fn what_recurs_is_in_the_sample_or_the_bound() {
    fn work(rank: usize, is_long: bool) -> String {
        format!("{rank} compute {}\n", if rank == 0 || is_long { 1_000_000 } else { 100_000 })
    }
    let programs: [fn(usize, usize) -> String; 4] = [
        |rank, iteration| work(rank, iteration % 2 == 1),
        |rank, iteration| work(rank, iteration % 10 == 5),
        |rank, iteration| work(rank, iteration >= 388),
        |rank, iteration| {
            work(rank, false) + &format!("{rank} sleep {}\n", if rank == 0 && iteration % 50 == 0 { 0.05 } else { 0.0 })
        },
    ];
    for (number, program) in programs.into_iter().enumerate() {
        let folder = Folder::new();
        line(&folder, 2, 400, |_| "", program);
        let results = both(&folder, 2, "traces", &[]);
        let bound = results.1["left_out"]["error_bound"].as_f64().unwrap_or(0.0);
        assert!(difference(&results) <= bound + 1e-6, "program {number}: {} {bound}", difference(&results));
    }
}

#[test]
fn what_depends_on_the_iterations_is_of_all_or_said_to_be_of_the_sample() {
    let folder = Folder::new();
    line(
        &folder,
        2,
        400,
        |_| "",
        |rank, _| format!("{rank} compute 100000\n") + if rank == 0 { "0 send 1 5 8\n" } else { "" },
    );
    let (whole, steady) = both(&folder, 2, "traces", &["--set", "network.model=packet"]);
    let warning = "never received: 400 messages (3200 bytes) from rank 0 to rank 1 with tag 5 on the world";
    assert_eq!(whole["warnings"][0], warning);
    assert_eq!(whole["warnings"][1], steady["warnings"][1]);
    let warning = steady["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("in the iterations that were simulated: never received: "), "{warning}");
    let packets =
        |result: &Value| [&result["packets"]["messages"], &result["packets"]["hop_histogram"]].map(Clone::clone);
    assert_eq!(packets(&whole), packets(&steady));
    let cycles = |result: &Value| result["packets"]["cycles"].as_f64().unwrap();
    assert!((cycles(&steady) / cycles(&whole) - 1.0).abs() < 0.005, "{} {}", cycles(&steady), cycles(&whole));
    for option in ["--suggest", "--check-sensitivities"] {
        let refused = folder.run(TITR_REPLAY, &["--steady", option, "--platform", &platform(), "traces"]);
        assert!(refused.contains("cannot be used with") && refused.ends_with("[2]"), "{refused}");
    }
}

#[test]
fn a_program_without_a_loop_is_replayed_in_full() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 send 1 0 8\n0 finalize\n", "1 init\n1 recv 0 0 8\n1 finalize\n"]);
    assert_in_full(
        both(&folder, 2, "traces", &[]),
        "rank 0 makes the same calls again in no loop of at least 10 iterations",
    );
}

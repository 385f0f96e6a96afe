//! `titr check`: traces without faults can be replayed, with any library and eager threshold.

use titr_common::collectives::Library;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// The verdict on the lines of ranks.
fn check(ranks: &[&str]) -> String {
    let folder = Folder::new();
    folder.file("t.txt", text(ranks));
    folder.run(TITR, &["check", "t.txt"])
}

/// A trace of ranks, whose lines are separated by `;`.
fn text(ranks: &[&str]) -> String {
    let line = |rank: usize, call: &str| format!("{rank} {}\n", call.trim());
    let of_rank = |(rank, calls): (usize, &&str)| {
        let calls = calls.split(';').filter(|call| !call.trim().is_empty());
        let calls: String = calls.map(|call| line(rank, call)).collect();
        format!("{rank} init\n{calls}{rank} finalize\n")
    };
    ranks.iter().enumerate().map(of_rank).collect()
}

#[test]
fn amounts_that_do_not_fit_each_other_are_found() {
    let unsound: [(&[&str], &str); 14] = [
        (&["send 1 0 1000", "recv 0 0 10"], "the message is truncated"),
        (&["isend 1 0 1000 6 1; waitall", "irecv 0 0 999 6 1; waitall"], ""),
        (&["bcast 1000 0", "bcast 10 0"], "bcast with 10 bytes"),
        (&["bcast 1000 0", "bcast 1000 1"], "root 1"),
        (&["bcast 1000 0", "reduce 1000 0 0"], "reduce"),
        (&["reduce 1000 0 0", "reduce 10 0 0"], ""),
        (&["allreduce 1000 0", "allreduce 10 0"], ""),
        (&["allgather 0 3", "allgather 0 0"], ""),
        (&["allgather 8 8", "allgather 4 4"], ""),
        (&["alltoall 8 8", "alltoall 8 4"], ""),
        (&["gather 8 8 0", "gather 4 0 0"], "members give 12 bytes and get 16"),
        (&["scatter 8 8 0", "scatter 0 9 0"], ""),
        (&["gatherv 1 1 2 0", "gatherv 3 0 0 0"], ""),
        (&["alltoallv 8 1 2 8 1 3", "alltoallv 8 3 4 8 3 4"], ""),
    ];
    for (ranks, said) in unsound {
        let verdict = check(ranks);
        assert!(
            verdict.ends_with("[1]") && verdict.contains(said) && !verdict.contains("sound\n"),
            "{ranks:?}: {verdict}"
        );
    }
}

#[test]
fn calls_outside_of_a_rank_s_life_are_found() {
    for (ranks, said) in [
        (["init", ""], "rank 0: event 2, 'init', after another init"),
        (["barrier; finalize; barrier", "barrier; barrier"], "rank 0: event 4, 'barrier', after finalize"),
    ] {
        let verdict = check(&ranks);
        assert!(verdict.contains(said) && verdict.ends_with("[1]"), "{verdict}");
    }
    let folder = Folder::new();
    folder.file("t.txt", "1 init\n1 finalize\n");
    assert_eq!(folder.run(TITR, &["check", "t.txt"]), "rank 0: no event: is its part missing?\n[1]");
}

#[test]
fn legal_programs_are_sound() {
    let sound: [&[&str]; 10] = [
        // The collective's receives have more in them than the cancelled one has room for.
        &["irecv 1 7 4 6 0; cancel 0; wait_of 0; allreduce 1000 0", "allreduce 1000 0"],
        &["send 1 0 10", "recv 0 0 1000"],
        &["bcast 1000 0", "bcast 1000 0"],
        &["gather 8 8 0", "gather 8 0 0"],
        &["scatter 8 8 0", "scatter 0 8 0"],
        &["allgather 8 8", "allgather 8 8"],
        &["gatherv 1 1 3 0", "gatherv 3 0 0 0"],
        &["reduce 8 1 0", "reduce 8 1 0"],
        &["barrier; send 1 0 1; recv 1 0 1", "barrier; recv 0 0 1; send 0 0 1"],
        &["isend 1 0 9 6 1; recv 1 0 9; waitall", "isend 0 0 9 6 1; recv 0 0 9; waitall"],
    ];
    for ranks in sound {
        assert_eq!(check(ranks), "t.txt: sound\n[0]", "{ranks:?}");
    }
}

/// In the traced run, what was cancelled was so before it met its counterpart. Here it may come after it.
#[test]
fn what_was_cancelled_meets_nothing_whenever_it_comes() {
    let sound: [[&str; 2]; 5] = [
        ["isend 1 0 8 6 1; send 1 9 1; wait_of 1", "recv 0 9 1; irecv 0 0 8 6 1; cancel 1; wait_of 1; recv 0 0 8"],
        ["isend 1 0 8 6 1; send 1 9 1; wait_of 1", "recv 0 9 1; irecv 0 0 8 6 1; recv 0 0 8; cancel 1; wait_of 1"],
        [
            "isend 1 0 8 6 1; send 1 9 1; wait_of 1",
            "recv 0 9 1; recv_init 0 0 8 1; start 1; cancel 1; wait_of 1; start 1; wait_of 1; request_free 1",
        ],
        ["irecv 1 0 8 6 1; wait_of 1", "isend 0 0 80 6 1; cancel 1; wait_of 1; send 0 0 8"],
        ["recv 1 0 8", "send_init 0 0 80 1; start 1; cancel 1; wait_of 1; request_free 1; send 0 0 8"],
    ];
    for ranks in sound {
        assert_eq!(check(&ranks), "t.txt: sound\n[0]", "{ranks:?}");
    }
}

#[test]
fn a_program_that_relies_on_buffers_is_said_to() {
    let verdict = check(&["send 1 0 9; recv 1 0 9", "send 0 0 9; recv 0 0 9"]);
    assert!(verdict.starts_with("t.txt: sound where sends are buffered\n"), "{verdict}");
    assert!(
        verdict.contains("2 of 2 ranks wait for ever, 2 of them for each other") && verdict.ends_with("[0]"),
        "{verdict}"
    );
}

/// The test succeeded in the traced run, as the library had buffered the message. With none buffered, the program goes on.
#[test]
fn a_program_that_tested_sends_relies_on_no_buffers() {
    let calls = [
        "isend P 0 9 6 1; test_of 1; recv P 0 9",
        "isend P 0 9 6 1; isend P 1 9 6 2; testall_of 1,2; recv P 0 9; recv P 1 9",
        "isend P 0 9 6 1; isend P 1 9 6 2; testsome_of 1; testany_of 2; recv P 0 9; recv P 1 9",
        "send_init P 0 9 1; start 1; test_of 1; recv P 0 9; start 1; test_of 1; recv P 0 9; request_free 1",
        "isend P 0 9 6 1; irecv P 1 9 6 2; send P 1 9; testall_of 1,2; recv P 0 9",
    ];
    for calls in calls {
        let [first, second] = ["1", "0"].map(|peer| calls.replace('P', peer));
        let folder = Folder::new();
        folder.file("t.txt", text(&[&first, &second]));
        assert_eq!(folder.run(TITR, &["check", "t.txt"]), "t.txt: sound\n[0]", "{calls}");
        let platform = ["-p", "torus:2x2x2 10Gbit/s 1us host:1", "--set", "mpi.eager_threshold=0 B", "t.txt"];
        let replay = folder.run(TITR_REPLAY, &platform).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            replay.contains("tests of sends, which succeeded in the traced run, ended without them")
                && replay.ends_with("[0]"),
            "{replay}"
        );
    }
    // What a rank receives, it needs: a receive that a test found complete is waited for.
    let verdict = check(&["irecv 1 0 9 6 1; test_of 1; send 1 0 9", "irecv 0 0 9 6 1; test_of 1; send 0 0 9"]);
    assert!(verdict.contains("2 of 2 ranks wait for ever") && verdict.ends_with("[1]"), "{verdict}");
}

/// Every collective with amounts of each member that do or do not fit: what is sound replays with each library's algorithms,
/// eager or not.
#[test]
fn what_is_sound_replays_with_every_library() {
    let calls = [
        "bcast A 0",
        "reduce A 1 0",
        "allreduce A 1",
        "allgather A B",
        "alltoall A B",
        "gather A B 0",
        "scatter A B 0",
    ];
    let amounts = [(8, 8), (8, 4), (0, 8), (0, 0)];
    let fill = |call: &str, (a, b): (u32, u32)| call.replace('A', &a.to_string()).replace('B', &b.to_string());
    let folder = Folder::new();
    let torus = here("../examples/torus.toml").display().to_string();
    let (mut sound, mut unsound) = (0, 0);
    for call in calls {
        for (first, others) in amounts.into_iter().flat_map(|first| amounts.map(|others| (first, others))) {
            let [first, others] = [first, others].map(|amounts| fill(call, amounts));
            folder.file("t.txt", text(&[&first, &others, &others]));
            if !folder.run(TITR, &["check", "t.txt"]).ends_with("sound\n[0]") {
                unsound += 1;
                continue;
            }
            sound += 1;
            for library in Library::ALL {
                for eager in ["mpi.eager_threshold=0 B", "mpi.eager_threshold=1 TB"] {
                    let options = ["-q", "-p", &torus, "--collectives", library.name(), "--set", eager, "t.txt"];
                    assert_eq!(folder.run(TITR_REPLAY, &options), "[0]", "{first} {others} {}", library.name());
                }
            }
        }
    }
    assert!(sound >= 14 && unsound >= 30, "{sound} {unsound}");
}

/// A run that came to its end after MPI's error is not made unsound by it: a replay comes to its end, too.
#[test]
fn an_error_that_the_recorded_run_survived_is_a_warning() {
    for (first, second, said) in [
        ("send 1 0 1000", "recv 0 0 10", "truncated"),
        ("gather 8 8 0", "gather 16 0 0", "members give 24 bytes and get 16"),
    ] {
        let folder = Folder::new();
        folder.trace(&[&format!("0 {first}\n0 finalize\n"), &format!("1 {second}\n1 finalize\n")]);
        let verdict = folder.run(TITR, &["check", "traces"]);
        assert!(verdict.starts_with("traces: sound\n") && verdict.ends_with("[0]"), "{verdict}");
        assert!(verdict.contains(said) && verdict.contains("went on after this error"), "{verdict}");
    }
}

//! `titr combine`: recordings of several runs, on the command line.

use std::fs;

use crate::support::command::{Folder, TITR};
use titr_common::trace::Manifest;
use titr_common::trace::combined::CombinedBy;

/// Traces of the runs in `run-1`, `run-2` …, from the text of each rank.
fn runs(runs: &[&[&str]]) -> Folder {
    let folder = Folder::new();
    for (number, ranks) in (1..).zip(runs) {
        folder.trace(ranks);
        fs::rename(folder.path().join("traces"), folder.path().join(format!("run-{number}"))).unwrap();
    }
    folder
}

fn combined(folder: &Folder, by: CombinedBy) -> String {
    let arguments = ["combine", "run-1", "run-2", "run-3", "-o", by.name(), "--by", by.name()];
    let printed = folder.run(TITR, &arguments);
    assert!(printed.ends_with("[0]"), "{printed}");
    folder.run(TITR, &["cat", by.name()])
}

#[test]
fn each_volume_is_the_least_or_the_median() {
    let run = |volumes: [u32; 2]| {
        let [first, second] = volumes;
        format!("0 init\n0 compute {first}\n0 barrier\n0 compute {second}\n0 finalize\n")
    };
    let texts = [[30, 200], [10, 900], [20, 100]].map(run);
    let [one, two, three] = texts.each_ref().map(|text| [text.as_str()]);
    let folder = runs(&[&one, &two, &three]);
    assert_eq!(combined(&folder, CombinedBy::Least), run([10, 100]) + "[0]");
    assert_eq!(combined(&folder, CombinedBy::Median), run([20, 200]) + "[0]");
    let manifest = Manifest::read(&folder.path().join("least")).unwrap();
    let combined = manifest.combined.unwrap();
    assert_eq!(combined.runs, 3);
    assert_eq!(combined.per_rank[0].totals.iter().map(|total| total.0).collect::<Vec<_>>(), [230.0, 910.0, 120.0]);
    insta::assert_snapshot!(folder.run(TITR, &["info", "least"]));
}

/// The runs poll differently often, and the first run computes nothing where another does.
#[test]
fn polling_is_that_of_the_first_run() {
    let first = "0 init\n0 irecv 0 7 8 6 1\n0 compute 10\n0 test -\n0 compute 30\n0 test -\n0 send 0 7 8\n\
                 0 waitall\n0 finalize\n";
    let second = "0 init\n0 irecv 0 7 8 6 1\n0 compute 20\n0 send 0 7 8\n0 compute 5\n0 waitall\n0 finalize\n";
    let folder = runs(&[&[first], &[second], &[second]]);
    insta::assert_snapshot!(combined(&folder, CombinedBy::Least) + &combined(&folder, CombinedBy::Median));
}

/// The first run tests two requests until both are complete, and has the number of the first one for a third. The others
/// wait for both after a message, in either order.
#[test]
fn a_test_that_succeeds_is_as_good_as_a_later_wait() {
    let begin = "0 init\n0 irecv 0 * 8 6 0 any_tag\n0 irecv 0 8 8 6 1\n";
    let first = "0 compute 10\n0 test -\n0 matched 0 0 7\n0 test 0 0 7 0\n0 compute 4\n0 isend 0 9 8 6 0\n\
                 0 testsome_of 1\n0 compute 6\n0 iprobe found 0 5 8\n0 compute 2\n";
    let second = "0 compute 9\n0 isend 0 9 8 6 2\n0 compute 1\n0 matched 0 0 7\n0 waitany_of 0\n0 compute 7\n\
                  0 wait 0 0 8 1\n0 iprobe none 0 5 8\n0 compute 2\n0 probe 0 5 8\n";
    let third = "0 compute 9\n0 isend 0 9 8 6 2\n0 compute 1\n0 matched 0 0 7\n0 waitall_of 0-1\n0 compute 8\n\
                 0 probe 0 5 8\n0 compute 3\n";
    let end = |id: u32| format!("0 compute 10\n0 wait 0 0 9 {id}\n0 compute 20\n0 finalize\n");
    let texts = [(first, 0), (second, 2), (third, 2)].map(|(middle, id)| format!("{begin}{middle}{}", end(id)));
    let [one, two, three] = texts.each_ref().map(|text| [text.as_str()]);
    let folder = runs(&[&one, &two, &three]);
    insta::assert_snapshot!(combined(&folder, CombinedBy::Least));
}

/// A master takes the results of two workers as they arrive and thanks each. In the second run, they arrive in the other
/// order, and a thread's calls come earlier.
#[test]
fn messages_may_arrive_in_another_order() {
    let served = |worker: u32| {
        format!(
            "0 iprobe found {worker} 5 8 any_source\n0 recv {worker} 5 8 6\n0 compute {worker}0\n0 send {worker} 6 4\n"
        )
    };
    let around = |served: &str| format!("0 init\n0 compute 7\n0 barrier\n{served}0 compute 5\n0 barrier\n0 finalize\n");
    let (other, end) = ("0.1 compute 3\n0.1 send 0 9 8\n", "0 compute 1\n0 iprobe none 0 5 8\n");
    let first = around(&format!("{}{}{other}{end}", served(1), served(2)));
    let second = around(&format!("{}{other}{}", served(2), served(1)));
    let workers = [1, 2, 3].map(|rank| format!("{rank} init\n{rank} barrier\n{rank} barrier\n{rank} finalize\n"));
    let [one, two, three] = workers.each_ref().map(String::as_str);
    let folder = runs(&[&[&first, one, two, three], &[&second, one, two, three], &[&second, one, two, three]]);
    insta::assert_snapshot!(combined(&folder, CombinedBy::Least));
    let third = around(&format!("{}{}", served(2), served(3)));
    let folder = runs(&[&[&first, one, two, three], &[&third, one, two, three]]);
    insta::assert_snapshot!(folder.run(TITR, &["combine", "run-1", "run-2", "-o", "both"]));
}

#[test]
fn runs_that_complete_other_requests_or_match_other_messages_are_refused() {
    let begin = "0 init\n0 irecv 0 * 8 6 0 any_tag\n0 irecv 0 8 8 6 1\n";
    let [one, other, never] =
        ["0 matched 0 0 7\n0 waitall_of 0-1\n", "0 matched 0 0 9\n0 waitall_of 0-1\n", "0 wait 0 0 8 1\n"]
            .map(|middle| format!("{begin}{middle}0 send 0 9 8\n0 finalize\n"));
    let mut said = String::new();
    for text in [other, never] {
        let folder = runs(&[&[one.as_str()], &[text.as_str()]]);
        said += &format!("{}\n", folder.run(TITR, &["combine", "run-1", "run-2", "-o", "both"]));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn identical_runs_give_an_identical_trace() {
    let text = "0 init\n0 compute 10\n0 barrier\n0 compute 2.5\n0 finalize\n";
    let folder = runs(&[&[text], &[text], &[text]]);
    assert_eq!(combined(&folder, CombinedBy::Median), folder.run(TITR, &["cat", "run-1"]));
    let stream = |trace: &str| Manifest::read(&folder.path().join(trace)).unwrap().per_rank[0].events;
    assert_eq!(stream("median"), stream("run-1"));
}

#[test]
fn runs_that_do_not_go_together_are_refused() {
    let text = "0 init\n0 compute 10\n0 send 0 7 8\n0 finalize\n";
    let others: [&[&str]; 4] = [
        &["0 init\n0 send 0 7 16\n0 finalize\n"],
        &["0 init\n0 compute 10\n0 send 0 7 8\n"],
        &[text, "1 init\n1 finalize\n"],
        &[text],
    ];
    let mut said = String::new();
    for other in others {
        let folder = runs(&[&[text], other]);
        said += &format!("{}\n", folder.run(TITR, &["combine", "run-1", "run-2", "-o", "both"]));
        assert_eq!(folder.path().join("both").exists(), other == [text]);
        assert!(!folder.path().join("both.unfinished").exists());
    }
    let folder = runs(&[&[text], &[text]]);
    for arguments in [["run-1", "run-1", "both"], ["run-1", "run-2", "run-1"], ["run-1", "run-9", "both"]] {
        let [one, other, output] = arguments;
        said += &format!("{}\n", folder.run(TITR, &["combine", one, other, "-o", output]));
    }
    insta::assert_snapshot!(said);
}

//! `titr schedule` on the command line. The equality of schedules with the libraries' own is tested elsewhere.

use std::fmt::Write as _;

use crate::support::command::{Folder, TITR};

fn schedule(arguments: &str) -> String {
    let arguments: Vec<&str> = std::iter::once("schedule").chain(arguments.split_whitespace()).collect();
    Folder::new().run(TITR, &arguments)
}

fn all<const N: usize>(calls: [&str; N]) -> String {
    calls.iter().fold(String::new(), |mut all, arguments| {
        writeln!(all, "── {arguments}\n{}", schedule(arguments)).unwrap();
        all
    })
}

#[test]
fn every_ranks_steps_in_order() {
    insta::assert_snapshot!(all([
        "allreduce --library openmpi --algorithm ring --ranks 3 --bytes 24",
        "bcast --library mpich --algorithm default --ranks 4 --bytes 64KiB --root 3",
        "scan --library openmpi --algorithm recursive-doubling --ranks 3 --bytes 8",
        "bcast --algorithm pipeline:16 --ranks 3 --bytes 40",
        "reduce_scatter --library mpich --ranks 3 --bytes 32 --non-commutative",
        "barrier --ranks 2",
        "barrier --ranks 1",
    ]));
}

#[test]
fn what_each_pair_exchanges() {
    insta::assert_snapshot!(all([
        "reduce_scatter --library openmpi --algorithm ring --ranks 3 --bytes 32 --matrix",
        "gatherv --library openmpi --ranks 3 --bytes 1KiB --root 1 --matrix",
        "allreduce --library openmpi --algorithm ring --ranks 4 --bytes 8 --matrix",
    ]));
}

#[test]
fn mistakes_are_told() {
    insta::assert_snapshot!(all([
        "bcst --ranks 4",
        "bcast",
        "bcast --ranks 0",
        "bcast --ranks 4 --bytes 1e3",
        "bcast --ranks 4 --bytes 12",
        "bcast --ranks 4 --root 4",
        "bcast --ranks 4 --library cray",
        "bcast --ranks 4 --algorithm magic",
    ]));
}

#[test]
fn all_algorithms_by_name() {
    insta::assert_snapshot!(schedule("--list"));
}

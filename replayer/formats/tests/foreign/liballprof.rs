//! Traces of liballprof.

use std::fs;

use proptest::prelude::*;

use crate::counts::computed;
use crate::samples::{collection, open, sample};
use crate::tally::{counted, damage, lu, of, programs, read_damaged, unpacked};

#[test]
fn the_samples_have_the_counts_of_their_programs() {
    for (name, counts) in programs(408_520) {
        assert_eq!(of(&sample("liballprof").join(name)), counts, "{name}");
    }
}

#[test]
fn a_rank_alone_is_refused_and_a_missing_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for rank in [0, 2] {
        let name = format!("pmpi-trace-rank-{rank}.txt.gz");
        fs::write(folder.path().join(&name), fs::read(sample("liballprof/wildcards").join(&name)).unwrap()).unwrap();
    }
    let error = open(folder.path()).err().unwrap().to_string();
    assert!(error.contains("the file of rank 1"), "{error}");
    let error = open(&folder.path().join("pmpi-trace-rank-0.txt.gz")).err().unwrap().to_string();
    assert!(error.contains("one rank of 2"), "{error}");
}

#[test]
fn a_wrong_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = "# comment\nMPI_Init:-:1:2:10\nMPI_Barrier:11:5,0,1:12\nMPI_Send:13:77:1:1,4,4:3:1:5,0,1:14\n";
    fs::write(folder.path().join("x-rank-0.txt"), text).unwrap();
    let error = open(folder.path()).and_then(|trace| counted(&trace)).unwrap_err().to_string();
    assert!(error.ends_with("x-rank-0.txt: line 4: rank 3 of a communicator of 1"), "{error}");
}

#[test]
fn a_local_call_is_computation_and_another_without_an_event_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = "MPI_Init:-:1:2:10\nMPI_Pack:20:0:1:1,4,4:50\nMPI_Ibarrier:60:5,0,1:70\nMPI_Finalize:80:-\n";
    fs::write(folder.path().join("x-rank-0.txt"), text).unwrap();
    let trace = open(folder.path()).unwrap();
    assert_eq!(computed(&trace), [50_000.0, 10_000.0]);
    assert_eq!(trace.untranslated(), ["1 calls of MPI_Ibarrier have no event"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_an_error_or_other_events(
        places in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"0123456789:,-pc\n\0x"[..])), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for rank in 0..8 {
            let name = format!("pmpi-trace-rank-{rank}.txt");
            let mut text = unpacked(&sample("liballprof/collectives").join(format!("{name}.gz"))).into_bytes();
            if rank == 3 {
                damage(&mut text, &places);
            }
            fs::write(folder.path().join(name), text).unwrap();
        }
        read_damaged(folder.path());
    }
}

#[test]
#[ignore = "reads the collection of traces that TITR_FOREIGN names"]
fn the_collection_has_the_right_counts() {
    let Some(directory) = collection() else { return };
    assert_eq!(of(&directory.join("programs-by-seven-tools/liballprof/lu")), lu());
}

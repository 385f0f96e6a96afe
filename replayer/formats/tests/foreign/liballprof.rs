//! Traces of liballprof.

use std::fs;

use proptest::prelude::*;

use crate::collection;
use crate::tally::{Counts, collectives, counted, damage, of, open, read_damaged, sample, unpacked};

#[test]
fn the_samples_have_the_counts_of_their_programs() {
    let stencil = Counts {
        ranks: 9,
        messages: 480,
        bytes: 245_760,
        receives: 480,
        pairs: 24,
        collectives: collectives(&[("allreduce", 9, 18), ("barrier", 9, 9)]),
    };
    let of_collectives = collectives(&[
        ("bcast", 8, 40),
        ("bcast", 4, 20),
        ("barrier", 8, 40),
        ("barrier", 4, 20),
        ("reduce", 8, 40),
        ("reduce_scatter", 8, 40),
        ("allreduce", 4, 40),
        ("gather", 4, 40),
        ("scatter", 4, 40),
        ("allgather", 4, 40),
        ("alltoall", 4, 40),
        ("scan", 4, 20),
    ]);
    let vectors = ["alltoallv", "allgatherv", "gatherv", "scatterv"].map(|kind| (kind, 6, 48));
    let expected = [
        ("stencil", stencil),
        ("collectives", Counts { ranks: 8, collectives: of_collectives, ..Counts::default() }),
        (
            "persistent",
            Counts { ranks: 6, messages: 288, bytes: 612_000, receives: 288, pairs: 12, ..Counts::default() },
        ),
        ("vectors", Counts { ranks: 6, collectives: collectives(&vectors), ..Counts::default() }),
        (
            "wildcards",
            Counts {
                ranks: 6,
                messages: 75,
                bytes: 408_520,
                receives: 75,
                pairs: 10,
                collectives: collectives(&[("barrier", 6, 6)]),
            },
        ),
    ];
    for (name, counts) in expected {
        assert_eq!(of(&sample("liballprof", name)), counts, "{name}");
    }
}

#[test]
fn a_rank_alone_is_refused_and_a_missing_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for rank in [0, 2] {
        let name = format!("pmpi-trace-rank-{rank}.txt.gz");
        fs::write(folder.path().join(&name), fs::read(sample("liballprof", "wildcards").join(&name)).unwrap()).unwrap();
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_an_error_or_other_events(
        places in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"0123456789:,-pc\n\0x"[..])), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for rank in 0..8 {
            let name = format!("pmpi-trace-rank-{rank}.txt");
            let mut text = unpacked(&sample("liballprof", "collectives").join(format!("{name}.gz"))).into_bytes();
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
    let Some(directory) = collection::directory() else { return };
    let lu = Counts {
        ranks: 8,
        messages: 1640,
        bytes: 512_000,
        receives: 1640,
        pairs: 20,
        collectives: collectives(&[("bcast", 8, 16), ("allreduce", 8, 8)]),
    };
    assert_eq!(of(&directory.join("programs-by-seven-tools/liballprof/lu")), lu);
}

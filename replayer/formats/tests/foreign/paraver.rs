//! Traces for Paraver, of Extrae.

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
                bytes: 428_520,
                receives: 75,
                pairs: 10,
                collectives: collectives(&[("barrier", 6, 6)]),
            },
        ),
    ];
    for (name, counts) in expected {
        assert_eq!(of(&sample("paraver", name)), counts, "{name}");
    }
}

#[test]
fn a_trace_without_mpi_and_a_wrong_line_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.prv");
    let header = "#Paraver (24/11/2026 at 23:09):100_ns:1(2):1:2(1:1,1:1),0\n";
    let error = |text: &str| {
        fs::write(&path, format!("{header}{text}")).unwrap();
        open(&path).and_then(|trace| counted(&trace)).unwrap_err().to_string()
    };
    assert!(error("1:1:1:1:1:0:100:1\n").contains("no events of MPI calls"));
    let message = error("2:1:1:1:1:5:50000003:31\n2:1:1:3:1:6:50000003:31\n");
    assert!(message.contains("x.prv: line 3"), "{message}");
    fs::write(&path, "#Paraver of nothing\n").unwrap();
    assert!(open(&path).err().unwrap().to_string().contains("header"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_an_error_or_other_events(
        places in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"0123456789:,-pc\n\0x"[..])), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut text = unpacked(&sample("paraver", "wildcards").join("wildcards.prv.gz")).into_bytes();
        damage(&mut text, &places);
        let path = folder.path().join("x.prv");
        fs::write(&path, text).unwrap();
        read_damaged(&path);
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
    let folder = directory.join("programs-by-seven-tools/paraver/lu");
    assert_eq!(of(&folder), lu);
    assert_eq!(of(&folder.join("lu.prv")), lu);
}

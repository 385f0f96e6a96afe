//! Traces for Paraver, of Extrae.

use std::fs;

use proptest::prelude::*;

use crate::samples::{collection, open, sample};
use crate::tally::{counted, damage, lu, of, programs, read_damaged, unpacked};

#[test]
fn the_samples_have_the_counts_of_their_programs() {
    for (name, counts) in programs(428_520) {
        assert_eq!(of(&sample("paraver").join(name)), counts, "{name}");
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
        let mut text = unpacked(&sample("paraver/wildcards").join("wildcards.prv.gz")).into_bytes();
        damage(&mut text, &places);
        let path = folder.path().join("x.prv");
        fs::write(&path, text).unwrap();
        read_damaged(&path);
    }
}

#[test]
#[ignore = "reads the collection of traces that TITR_FOREIGN names"]
fn the_collection_has_the_right_counts() {
    let Some(directory) = collection() else { return };
    let folder = directory.join("programs-by-seven-tools/paraver/lu");
    assert_eq!(of(&folder), lu());
    assert_eq!(of(&folder.join("lu.prv")), lu());
}

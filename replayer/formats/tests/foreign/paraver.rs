//! Traces for Paraver, of Extrae.

use std::fs;

use proptest::prelude::*;
use titr_common::event::{Event, Rank};

use crate::counts::{computed, events};
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

#[test]
fn a_local_call_is_computation_and_another_without_an_event_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.prv");
    let calls = [(31, 5, 10), (7, 20, 50), (8, 60, 70), (32, 80, 90)];
    let line = |time, value| format!("2:1:1:1:1:{time}:50000003:{value}\n");
    let lines: String = calls.iter().map(|(value, begin, end)| line(begin, value) + &line(end, &0)).collect();
    fs::write(&path, format!("#Paraver (24/11/2026 at 23:09):100_ns:1(1):1:1(1:1),0\n{lines}")).unwrap();
    let names = "31 MPI_Init\n7 MPI_Pack\n8 MPI_Comm_idup\n32 MPI_Finalize\n";
    fs::write(path.with_extension("pcf"), format!("EVENT_TYPE\n9 50000003 MPI Other\nVALUES\n{names}")).unwrap();
    let trace = open(&path).unwrap();
    assert_eq!(computed(&trace), [50.0, 10.0]);
    assert!(trace.untranslated().contains(&"1 calls of MPI_Comm_idup have no event".to_owned()));
}

/// Extrae marks the task of the world whose number is that of the root in the communicator.
#[test]
fn the_bytes_of_a_scatter_tell_its_root() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.prv");
    let call = |task| {
        let (sent, mark) = (if task == 1 { 96 } else { 0 }, if task == 3 { ":50100003:1" } else { "" });
        let bytes = format!("50100001:{sent}:50100002:32:50100004:2{mark}");
        format!("2:{task}:1:{task}:1:10:50000002:15:{bytes}\n2:{task}:1:{task}:1:20:50000002:0\n")
    };
    let lines: String = [1, 2, 3].into_iter().map(call).collect();
    let header = "#Paraver (24/11/2026 at 23:09):100_ns:1(3):1:3(1:1,1:1,1:1),2\nc:1:1:3:1:2:3\nc:1:2:3:3:2:1\n";
    fs::write(&path, format!("{header}{lines}")).unwrap();
    fs::write(path.with_extension("pcf"), "EVENT_TYPE\n9 50000002 MPI\nVALUES\n15 MPI_Scatter\n").unwrap();
    let trace = open(&path).unwrap();
    for rank in 0..3 {
        let root = |event| if let Event::Collective(call, _) = event { call.root } else { None };
        let roots: Vec<_> = events(&trace, rank).unwrap().into_iter().filter_map(root).collect();
        assert_eq!(roots, [Rank(0)]);
    }
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

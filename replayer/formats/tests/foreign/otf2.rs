//! Archives in the Open Trace Format 2: of six programs by two tools, of OTF2's own library, and of others.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;
use titr_common::event::Event;

use crate::counts::{Counts, events};
use crate::samples::{collection, open, sample};

/// The counts of an archive in a line, and what it lacks.
fn described(path: &Path) -> String {
    let trace = open(path).unwrap_or_else(|error| panic!("{error}"));
    let Counts { ranks, messages, bytes, received, pairs, collectives, communicators } = Counts::of(&trace);
    let mut text = format!("{ranks} ranks, {messages} messages, {bytes} B, {received} received, {pairs} pairs");
    if communicators > 0 {
        write!(text, ", {communicators} communicators").unwrap();
    }
    for (kind, number) in collectives {
        write!(text, ", {number} {kind}").unwrap();
    }
    for sentence in trace.untranslated() {
        write!(text, "\n{sentence}").unwrap();
    }
    text
}

/// The events of a rank, a line each.
fn lines(name: &str, rank: u32) -> String {
    let events = events(&open(&sample(name)).unwrap(), rank).unwrap();
    let shown = events.iter().filter(|event| !matches!(event, Event::Annotation(_)));
    shown.map(|event| format!("{event:?}\n")).collect()
}

#[test]
fn the_programs_of_score_p_are_whole() {
    let expected = [
        ("stencil", "9 ranks, 480 messages, 245760 B, 480 received, 24 pairs, 9 barrier, 18 allreduce"),
        ("lu", "8 ranks, 1640 messages, 512000 B, 1640 received, 20 pairs, 16 bcast, 8 allreduce"),
        (
            "collectives",
            "8 ranks, 0 messages, 0 B, 0 received, 0 pairs, 20 communicators, 60 barrier, 60 bcast, 40 reduce, \
             40 allreduce, 20 scan, 40 reduce_scatter, 40 gather, 40 scatter, 40 allgather, 40 alltoall",
        ),
        ("persistent", "6 ranks, 288 messages, 612000 B, 288 received, 12 pairs"),
        (
            "vectors",
            "6 ranks, 0 messages, 0 B, 0 received, 0 pairs, 48 gatherv, 48 scatterv, 48 allgatherv, 48 alltoallv\n\
             48 collective calls have only the sums of the bytes of each member: what one gives another is an estimate.",
        ),
        ("wildcards", "6 ranks, 75 messages, 408520 B, 75 received, 10 pairs, 6 barrier"),
    ];
    for (program, counts) in expected {
        assert_eq!(described(&sample(&format!("otf2/scorep-{program}"))), counts, "{program}");
        assert_eq!(described(&sample(&format!("otf2/scorep-{program}/traces.otf2"))), counts, "{program}");
    }
}

#[test]
fn the_programs_of_eztrace_are_read_as_far_as_they_go() {
    let programs = ["stencil", "collectives", "persistent", "wildcards"];
    let described =
        programs.map(|program| format!("{program}: {}", described(&sample(&format!("otf2/eztrace-{program}")))));
    assert_snapshot!("eztrace", described.join("\n"));
}

#[test]
fn the_names_of_regions_are_words() {
    let text = lines("otf2/eztrace-stencil", 0);
    assert!(
        text.contains(r#"Mark(RegionBegin("EZTrace_finalize"))"#) && text.contains(r#"Mark(RegionEnd("Working"))"#)
    );
}

#[test]
fn the_lists_of_collectives_are_those_of_the_program() {
    let text = lines("otf2/scorep-vectors", 0);
    let of = |kind: &str| text.lines().find(|line| line.contains(&format!("kind: {kind},"))).unwrap().to_owned();
    let list =
        |bytes: [u32; 6]| format!("PerMember({:?})", bytes.map(|bytes| format!("Bytes({bytes})"))).replace('"', "");
    for kind in ["Allgatherv", "Gatherv"] {
        assert!(of(kind).contains(&list([0, 400, 800, 1200, 0, 400])), "{}", of(kind));
    }
}

#[test]
fn the_calls_of_an_archive_of_the_library() {
    assert_snapshot!("library-0", lines("otf2/library", 0));
    assert_snapshot!("library-1", lines("otf2/library", 1));
}

#[test]
#[ignore = "reads the collection of traces that TITR_FOREIGN names"]
fn archives_of_a_collection() {
    let expected = [
        (
            "sst-macro/tests/otf2_test_traces",
            "10 ranks, 1440 messages, 23592600 B, 1440 received, 60 pairs, 20 communicators, 30 bcast, 30 reduce, \
             360 allreduce, 30 gather, 30 scatter, 360 allgather, 360 alltoall\n\
             The archive has no record of what these calls communicate, and they are left out: 20 of MPI_Comm_split, 360 of MPI_Iallgather, \
             360 of MPI_Iallreduce, 360 of MPI_Ialltoall.",
        ),
        (
            "TraceR-stencil4d-otf/traces-32",
            "32 ranks, 512 messages, 67108864 B, 512 received, 160 pairs, 96 barrier\n\
             The archive says that messages are missing, because of a filter or because the measurement was off at times.",
        ),
        (
            "TraceR-stencil4d-otf/traces-64",
            "64 ranks, 1024 messages, 268435456 B, 1024 received, 384 pairs, 192 barrier\n\
             The archive says that messages are missing, because of a filter or because the measurement was off at times.",
        ),
        ("pipit-ping-pong/pipit/tests/data/ping-pong-otf2", "2 ranks, 16 messages, 8355840 B, 16 received, 2 pairs"),
        (
            "programs-by-seven-tools/otf2-eztrace/lu",
            "8 ranks, 1640 messages, 512000 B, 1640 received, 20 pairs, 24 communicators, 16 bcast, 8 allreduce",
        ),
        (
            "programs-by-seven-tools/otf2-eztrace/vectors",
            "6 ranks, 0 messages, 0 B, 0 received, 0 pairs, 18 communicators, 48 gatherv, 48 scatterv, 48 allgatherv, \
             48 alltoallv\n\
             48 collective calls have only the sums of the bytes of each member: what one gives another is an estimate.",
        ),
    ];
    let Some(directory) = collection() else { return };
    for (name, counts) in expected {
        assert_eq!(described(&directory.join(name)), counts, "{name}");
    }
}

/// The files of the archive that is damaged.
const FILES: [&str; 4] = ["traces.otf2", "traces.def", "traces/0.def", "traces/0.evt"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Reads an archive in which one file is cut, or has other bytes in some places.
    #[test]
    fn damaged_archives_are_errors(
        file in 0..FILES.len(),
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("damaged-{}", std::process::id()));
        fs::create_dir_all(folder.join("traces")).unwrap();
        for (index, name) in FILES.into_iter().enumerate() {
            let mut content = fs::read(sample("otf2/library").join(name)).unwrap();
            if index == file {
                for (at, byte) in &bytes {
                    let at = at.index(content.len());
                    content[at] = *byte;
                }
                if let Some(cut) = &cut {
                    content.truncate(cut.index(content.len()));
                }
            }
            fs::write(folder.join(name), content).unwrap();
        }
        for name in ["traces/1.def", "traces/1.evt"] {
            fs::copy(sample("otf2/library").join(name), folder.join(name)).unwrap();
        }
        let result = open(&folder.join("traces.otf2"))
            .and_then(|trace| (0..trace.ranks()).map(|rank| events(&trace, rank)).collect::<Result<Vec<_>, _>>());
        if let Err(error) = result {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

//! Traces of a part of a program: calls whose counterparts are not in the trace are left out, on both sides.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::Path;

use titr_common::event::{Actor, Event, Rank};
use titr_common::grammar::{Parser, write_event};
use titr_common::trace::{EventSource, Manifest, RankSources, Trace, TraceError, with_worlds};

/// The events of each rank.
#[derive(Clone)]
struct Lists(Vec<Vec<Event>>);

impl RankSources for Lists {
    fn source(&self, rank: Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new(self.0[rank.0 as usize].clone().into_iter()))
    }
}

/// The trace of ranks whose lines, without the rank, are these.
fn trace(ranks: &[&str]) -> Trace {
    let world = ranks.len() as u32;
    let events = |lines: &&str| {
        let mut parser = Parser::new(world);
        let event = |line: &str| parser.line(format!("0 {}", line.trim()).as_bytes()).unwrap().unwrap().1;
        lines.lines().map(event).collect()
    };
    let lists = Lists(ranks.iter().map(events).collect());
    let mut manifest = Manifest::of_unknown_origin(world);
    manifest.config.insert("TITRACE_PART".into(), "region=step,2-3".into());
    let trace = Trace::new(world, lists).with_manifest(manifest);
    with_worlds(&[Path::new("nowhere")], |_| Ok(trace.clone())).unwrap()
}

/// The lines of each rank in a replay, and the sentences on what is missing.
fn seen(ranks: &[&str]) -> (Vec<String>, Vec<String>) {
    let trace = trace(ranks);
    let rank = |number| {
        let mut stream = trace.stream(Rank(number)).unwrap_or_else(|error| panic!("{error}"));
        let mut text = Vec::new();
        while let Some(event) = stream.next_event().unwrap() {
            write_event(&mut text, Actor { rank: Rank(0), thread: stream.location().thread }, &event);
        }
        let text = String::from_utf8(text).unwrap();
        text.lines().map(|line| line.trim_start_matches("0 ")).collect::<Vec<_>>().join("; ")
    };
    ((0..trace.ranks()).map(rank).collect(), trace.untranslated())
}

#[test]
fn messages_that_cross_an_end_are_left_out() {
    let (ranks, sentences) = seen(&[
        "init\nunrecorded sent 0 1 7 1\npart_begin\nsend 1 7 10\ncompute 5\nsend 1 7 20\nsend 1 8 4\npart_end\nfinalize",
        "init\npart_begin\nrecv 0 7 9\nrecv 0 7 10\nrecv 0 7 20\npart_end\nunrecorded received 0 0 8 1\nfinalize",
    ]);
    assert_eq!(
        ranks,
        ["init; send 1 7 10; compute 5; send 1 7 20; finalize", "init; recv 0 7 10; recv 0 7 20; finalize"]
    );
    let left = "left out, because their counterparts are not in this part: 1 receive, 1 send";
    assert_eq!(sentences, [format!("only a part of the program is in the trace (region=step,2-3); {left}")]);
}

#[test]
fn requests_that_cross_an_end_are_left_out() {
    let (ranks, sentences) = seen(&[
        // Request 0 was created before, request 1 has its message later, request 2 receives a message that was sent
        // before.
        "init\npart_begin\nirecv 1 3 8 6 1\nirecv * * 8 6 2\nmatched 2 1 4\nwaitall_of 0,2\npart_end\nfinalize",
        "init\nunrecorded sent 0 0 4 1\npart_begin\nisend 0 5 8 6 0\nwaitall_of 0\npart_end\nfinalize",
    ]);
    assert_eq!(ranks, ["init; finalize", "init; finalize"]);
    assert!(sentences[0].ends_with("1 completion, 2 receives, 1 send"), "{sentences:?}");
}

/// The request of a wildcard receive is kept if its message was sent in the part.
#[test]
fn receives_from_anybody_are_kept_with_what_they_received() {
    let (ranks, _) = seen(&[
        "init\npart_begin\nirecv * * 8 6 0\nirecv * * 8 6 1\nmatched 1 1 4\nwaitall_of 1\npart_end\nfinalize",
        "init\npart_begin\nsend 0 4 8\npart_end\nfinalize",
    ]);
    assert_eq!(ranks[0], "init; irecv * * 8 6 1 any; matched 1 1 4; waitall_of 1; finalize");
    assert_eq!(ranks[1], "init; send 0 4 8; finalize");
}

/// Persistent requests are set up before the part and started in it; a start that the other side has not is left out.
#[test]
fn starts_of_persistent_requests_are_numbered() {
    let (ranks, _) = seen(&[
        "init\nsend_init 1 7 8 0\nunrecorded start 0 2\npart_begin\nstart 0\nwaitall_of 0\nstart 0\npart_end\nfinalize",
        "init\nrecv_init 0 7 8 0\nunrecorded start 0 1\npart_begin\nstart 0\nwaitall_of 0\nstart 0\nwaitall_of 0\npart_end\nfinalize",
    ]);
    // Starts 3 and 4 of one side, 2 and 3 of the other.
    assert_eq!(ranks[0], "init; send_init 1 7 8 0; start 0; waitall_of 0; finalize");
    assert_eq!(ranks[1], "init; recv_init 0 7 8 0; start 0; waitall_of 0; finalize");
}

/// A wait for all outstanding requests waits for those that are kept, and operations that the part does not wait for
/// are complete at the end.
#[test]
fn waits_for_everything_are_for_what_is_kept() {
    let (ranks, sentences) = seen(&[
        "init\nunrecorded sent 0 1 7 1\npart_begin\nisend 1 8 4 6 1\nisend 1 9 4 6 2\nwaitall 3\nisend 1 8 4 6 0\npart_end\nfinalize",
        "init\npart_begin\nirecv 0 7 4 6 0\nirecv 0 8 4 6 1\nwaitall 2\nrecv 0 8 4\npart_end\nfinalize",
    ]);
    assert_eq!(ranks[0], "init; isend 1 8 4 6 1; waitall 1; isend 1 8 4 6 0; waitall_of 0; finalize");
    assert_eq!(ranks[1], "init; irecv 0 8 4 6 1; waitall 1; recv 0 8 4; finalize");
    assert!(sentences[0].ends_with("1 completion, 1 receive, 1 send"), "{sentences:?}");
}

/// A request that was completed between two stretches of a part is complete before its number is used again.
#[test]
fn a_number_that_is_used_again_is_free() {
    let (ranks, _) = seen(&[
        "init\npart_begin\nisend 1 7 8 6 0\npart_end\npart_begin\nisend 1 7 8 6 0\nwaitall_of 0\npart_end\nfinalize",
        "init\npart_begin\nrecv 0 7 8\nrecv 0 7 8\npart_end\nfinalize",
    ]);
    assert_eq!(ranks[0], "init; isend 1 7 8 6 0; waitall_of 0; isend 1 7 8 6 0; waitall_of 0; finalize");
}

/// Collectives that some members have not are left out, and communicators that some made before the part take no time.
#[test]
fn collectives_are_of_all_members() {
    let (ranks, sentences) = seen(&[
        "init\ncomm_dup 2 0 0-1\nunrecorded collective 0 1 collective 2 1\npart_begin\non 2 barrier\nbarrier\nbarrier\npart_end\nfinalize",
        "init\nunrecorded collective 0 1\npart_begin\ncomm_dup 2 0 0-1\non 2 barrier\non 2 barrier\nbarrier\npart_end\nunrecorded collective 0 1\nfinalize",
    ]);
    let made = |line: &str| line.split("; ").filter(|line| !line.starts_with("comm_")).collect::<Vec<_>>().join("; ");
    assert!(ranks.iter().all(|rank| rank.contains("comm_world 2 0 0-1") && !rank.contains("comm_dup")), "{ranks:?}");
    assert_eq!(made(&ranks[0]), "init; on 2 barrier; barrier; finalize");
    assert_eq!(made(&ranks[1]), "init; on 2 barrier; barrier; finalize");
    assert!(sentences[0].ends_with("2 collective calls"), "{sentences:?}");
}

/// A communicator that all make in the part takes the time of making it.
#[test]
fn a_communicator_that_is_made_in_the_part_is_made() {
    let rank = "init\npart_begin\ncomm_dup 2 0 0-1\non 2 barrier\ncomm_free 2\npart_end\nfinalize";
    let (ranks, sentences) = seen(&[rank, rank]);
    assert_eq!(ranks[0], "init; comm_dup 2 0 0-1; on 2 barrier; comm_free 2; finalize");
    assert_eq!(sentences, ["only a part of the program is in the trace (region=step,2-3)"]);
}

#[test]
fn a_part_that_began_nowhere_is_an_error() {
    let trace = trace(&["init\nunrecorded sent 0 1 7 1\nfinalize", "init\nfinalize"]);
    let error = trace.stream(Rank(0)).err().unwrap().to_string();
    assert!(error.contains("no rank came to the part") && error.contains("region=step,2-3"), "{error}");
}

//! The grammar from outside: round trips, SimGrid's lines with SimGrid's meaning, and errors at the right place of a
//! wrong line.

#![cfg(test)] // Tells clippy that helpers are tests too.

mod round_trip;
mod strategies;

use titr_common::event::*;
use titr_common::grammar::{Parser, write_event};
use titr_common::units::{Bytes, Instructions};

const WORLD: u32 = 4;

fn text(actor: impl Into<Actor>, event: &Event) -> String {
    let mut out = Vec::new();
    write_event(&mut out, actor, event);
    String::from_utf8(out).unwrap()
}

fn read(line: &str) -> Event {
    read_after(&[], line)
}

fn read_after(before: &[&str], line: &str) -> Event {
    let mut parser = Parser::new(WORLD);
    for line in before {
        parser.line(line.as_bytes()).unwrap();
    }
    parser.line(line.as_bytes()).unwrap().unwrap().1
}

fn refusal(line: &str) -> String {
    Parser::new(WORLD).line(line.as_bytes()).unwrap_err().to_string()
}

fn send(bytes: u64) -> Event {
    let message = Outgoing { comm: CommId::WORLD, to: Rank(1), tag: Tag(7), bytes: Bytes(bytes) };
    Event::Send(SendMode::Standard, message, Completion::Blocking)
}

/// A blocking collective on the world.
fn on_world(kind: CollectiveKind, send: Volumes, recv: Volumes, element: u64) -> Collective {
    let root = kind.signature().is_rooted.then_some(Rank(0));
    let (comm, element, work) = (CommId::WORLD, Bytes(element), Instructions(0.0));
    Collective { comm, kind, root, send, recv, element, work, is_commutative: true }
}

fn each(bytes: u64) -> Volumes {
    Volumes::Each(Bytes(bytes))
}

fn per_member(bytes: [u64; 4]) -> Volumes {
    Volumes::PerMember(bytes.map(Bytes).to_vec())
}

#[test]
fn counts_are_of_the_datatype_named_or_the_default() {
    assert_eq!(read("0 send 1 7 1000"), send(1000));
    assert_eq!(read("0 send 1 7 1000 0"), send(8000));
    assert_eq!(read("0 send 1 7 1e3 1"), send(4000));
    assert_eq!(read_after(&["0 init 0"], "0 send 1 7 1000"), send(8000));
    assert_eq!(read_after(&["0 init"], "0 send 1 7 1000"), send(1000));
}

#[test]
fn simgrid_collectives() {
    let read = |line: &str| match read(line) {
        Event::Collective(collective, Completion::Blocking) => collective,
        other => panic!("{other:?}"),
    };
    assert_eq!(read("0 bcast 1 0 1 "), on_world(CollectiveKind::Bcast, each(4), Volumes::None, 4));
    assert_eq!(read("0 bcast 1000"), on_world(CollectiveKind::Bcast, each(1000), Volumes::None, 1));
    let allreduce = on_world(CollectiveKind::Allreduce, each(1000), Volumes::None, 1);
    assert_eq!(read("0 allreduce 1000 5000000"), Collective { work: Instructions(5e6), ..allreduce.clone() });
    let ordered = Collective { is_commutative: false, ..allreduce.clone() };
    assert_eq!(read("0 allreduce 1000 0 6 1 noncommutative"), ordered);
    let reduce = on_world(CollectiveKind::Reduce, each(8), Volumes::None, 1);
    assert_eq!(read("0 reduce 1 -1 2 0 0 "), Collective { root: Some(Rank(2)), ..reduce });
    let alltoallv = on_world(CollectiveKind::Alltoallv, per_member([4, 8, 12, 16]), per_member([1; 4]), 4);
    assert_eq!(read("0 alltoallv 10 1 2 3 4 4 1 1 1 1 1 6"), alltoallv);
    let allgatherv = on_world(CollectiveKind::Allgatherv, each(8), per_member([8; 4]), 1);
    assert_eq!(read("0 allgatherv 1 1 1 1 1 0 0 0 1 2 3"), allgatherv);
    assert_eq!(read("0 allgatherv 8 8 8 8 8 0 1 2 3"), allgatherv);
}

#[test]
fn simgrid_words_without_a_meaning_are_passed_over() {
    for line in ["", "   ", "# 0 send", "0 comm_size 4", "0 location file.c 12", "1 comm_split", "1 comm_dup"] {
        assert_eq!(Parser::new(WORLD).line(line.as_bytes()), Ok(None), "{line}");
    }
}

#[test]
fn simgrid_waits_name_what_moves_and_tests_do_not_say_whether_they_succeed() {
    let key = RequestKey { from: Some(Rank(2)), to: Rank(0), tag: Some(Tag(7)) };
    assert_eq!(read("0 wait 2 0 7"), Event::Wait(Quantifier::Single, Completed::One(key, None)));
    assert_eq!(read("0 test 2 0 7"), Event::Test(Quantifier::Single, None));
    assert_eq!(read("0 waitall 12"), Event::Wait(Quantifier::All, Completed::Outstanding(Some(12))));
    assert_eq!(read("0 waitall"), Event::Wait(Quantifier::All, Completed::Outstanding(None)));
    let any = RequestKey { from: None, ..key };
    assert_eq!(read("0 wait -333 0 7"), Event::Wait(Quantifier::Single, Completed::One(any, None)));
}

#[test]
fn a_wildcard_receive_without_a_request_is_written_as_it_is_read() {
    for line in ["0 irecv * * 100\n", "0 irecv * 7 100\n", "0 irecv * * 100 6 3 any\n"] {
        assert_eq!(text(Rank(0), &read(line)), line);
    }
}

#[test]
fn a_word_that_means_nothing_where_it_stands_is_refused() {
    let refusals: Vec<String> = [
        "0 recv 1 5 1000 6 any_source any_tag",
        "0 recv 1 5 1000 6 any any_source",
        "0 sendrecv - 1 7 8 1 7 8",
        "0 sendrecv - - 1 7 8",
        "0 sendrecv 1 7 8 - -",
        "0 on 1 compute 5",
        "0 on 1 wait_of 3",
        "0 on 1 comm_free 1",
        "0 allgatherv 8 8 8 8 8 6 6 now",
    ]
    .iter()
    .map(|line| format!("{line}\n    {}", refusal(line)))
    .collect();
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn a_wrong_line_is_refused_where_it_is_wrong() {
    let refusals: Vec<String> = [
        "0 sned 1 7 1000",
        "0 send 1 7",
        "0 send 1 7 many",
        "0 send 9 7 1000",
        "0 send 1 7 1000 99",
        "0 send 1 7 1000 6 5",
        "x send 1 7 1000",
        "0 compute -5",
        "0 compute nan",
        "0 alltoallv 10 1 2 3",
        "0 on 3 barrier",
        "0 comm_split 2 0 0-9",
        "0 iprobe 1 7 0",
        "0 recv 1 7 0 6 anything",
        "0 icollect 1",
        "0 put 0 9 8 0",
        "0 win_post 0 1,9",
        "0 neighbor_alltoall 1,2 0 8 8",
        "0 neighbor_alltoall 9 - 8",
        "0 bcast_init 0",
        "0 file_read_end 0 8",
        "0 call MPI-Spawn 0 0",
    ]
    .iter()
    .map(|line| format!("{line}\n    {}", refusal(line)))
    .collect();
    insta::assert_snapshot!(refusals.join("\n"));
}

//! The grammar from outside: what is written is read, SimGrid's lines mean what they mean there, and a wrong line is
//! refused where it is wrong.

#![cfg(test)] // Tells clippy that helpers are tests too.

use proptest::prelude::*;
use titr_common::event::*;
use titr_common::grammar::{EventReader, EventWriter, Parser, write_event};
use titr_common::passage::{Moment, Passage};
use titr_common::units::{Bytes, Instructions, Nanoseconds, Seconds};

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
    Event::Send(SendMode::Standard, Outgoing { comm: CommId::WORLD, to: Rank(1), tag: Tag(7), bytes: Bytes(bytes) })
}

fn on_world(op: CollectiveOp, element: u64) -> Event {
    Event::Collective(Collective { comm: CommId::WORLD, op, element: Bytes(element) })
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
    let root = Rank(0);
    assert_eq!(read("0 bcast 1 0 1 "), on_world(CollectiveOp::Bcast { bytes: Bytes(4), root }, 4));
    assert_eq!(read("0 bcast 1000"), on_world(CollectiveOp::Bcast { bytes: Bytes(1000), root }, 1));
    let work = Instructions(5e6);
    assert_eq!(read("0 allreduce 1000 5000000"), on_world(CollectiveOp::Allreduce { bytes: Bytes(1000), work }, 1));
    let (bytes, work) = (Bytes(8), Instructions(0.0));
    assert_eq!(read("0 reduce 1 -1 2 0 0 "), on_world(CollectiveOp::Reduce { bytes, work, root: Rank(2) }, 1));
    let (sends, recvs) = (vec![Bytes(4), Bytes(8), Bytes(12), Bytes(16)], vec![Bytes(1); 4]);
    assert_eq!(read("0 alltoallv 10 1 2 3 4 4 1 1 1 1 1 6"), on_world(CollectiveOp::Alltoallv { sends, recvs }, 4));
    let recvs = vec![Bytes(8); 4];
    let op = CollectiveOp::Allgatherv { send: Bytes(8), recvs };
    assert_eq!(read("0 allgatherv 1 1 1 1 1 0 0 0 1 2 3"), on_world(op, 1));
}

#[test]
fn simgrid_words_without_a_meaning_are_passed_over() {
    for line in ["", "   ", "# 0 send", "0 comm_size 4", "0 location file.c 12", "1 comm_split", "1 comm_dup"] {
        assert_eq!(Parser::new(WORLD).line(line.as_bytes()), Ok(None), "{line}");
    }
}

#[test]
fn simgrid_waits_name_what_moves_and_tests_do_not_say_whether_they_succeed() {
    let key = Key { from: Some(Rank(2)), to: Rank(0), tag: Some(Tag(7)) };
    assert_eq!(read("0 wait 2 0 7"), Event::Wait(Ask::Single, Requests::One(key, None)));
    assert_eq!(read("0 test 2 0 7"), Event::Test(Ask::Single, None));
    assert_eq!(read("0 waitall 12"), Event::Wait(Ask::All, Requests::Outstanding(Some(12))));
    assert_eq!(read("0 waitall"), Event::Wait(Ask::All, Requests::Outstanding(None)));
    let any = Key { from: None, ..key };
    assert_eq!(read("0 wait -333 0 7"), Event::Wait(Ask::Single, Requests::One(any, None)));
}

#[test]
fn a_wildcard_receive_without_a_request_is_written_as_it_is_read() {
    for line in ["0 irecv * * 100\n", "0 irecv * 7 100\n", "0 irecv * * 100 6 3 any\n"] {
        assert_eq!(text(Rank(0), &read(line)), line);
    }
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

fn rank() -> impl Strategy<Value = Rank> {
    (0..WORLD).prop_map(Rank)
}

fn volume() -> impl Strategy<Value = Bytes> {
    prop_oneof![0..100u64, any::<u64>()].prop_map(Bytes)
}

fn instructions() -> impl Strategy<Value = Instructions> {
    prop_oneof![any::<u32>().prop_map(f64::from), 0.0..1e18f64].prop_map(Instructions)
}

fn request() -> impl Strategy<Value = RequestId> {
    any::<u32>().prop_map(RequestId)
}

fn requests() -> impl Strategy<Value = Vec<RequestId>> {
    prop::collection::vec(request(), 0..5)
}

/// One of the communicators that the round trip introduces first.
fn comm() -> impl Strategy<Value = CommId> {
    (0..3u32).prop_map(CommId)
}

fn outgoing() -> impl Strategy<Value = Outgoing> {
    (comm(), rank(), any::<i32>(), volume()).prop_map(|(comm, to, tag, bytes)| Outgoing {
        comm,
        to,
        tag: Tag(tag),
        bytes,
    })
}

/// Receives up to what a float counts exactly, as SimGrid's negative counts make them floats.
fn incoming() -> impl Strategy<Value = Incoming> {
    let peers = (prop::option::of(rank()), prop::option::of(0..i32::MAX), any::<bool>(), any::<bool>());
    (comm(), peers, 0..1u64 << 53).prop_map(|(comm, (from, tag, any_source, any_tag), bytes)| Incoming {
        comm,
        from,
        tag: tag.map(Tag),
        bytes: Bytes(bytes),
        wildcard: Wildcard { source: from.is_none() || any_source, tag: tag.is_none() || any_tag },
    })
}

fn mode() -> impl Strategy<Value = SendMode> {
    prop::sample::select(SendMode::ALL.to_vec())
}

fn ask() -> impl Strategy<Value = Ask> {
    prop::sample::select(Ask::ALL.to_vec())
}

fn key() -> impl Strategy<Value = Key> {
    (prop::option::of(rank()), rank(), prop::option::of(0..i32::MAX)).prop_map(|(from, to, tag)| Key {
        from,
        to,
        tag: tag.map(Tag),
    })
}

fn collective() -> impl Strategy<Value = Collective> {
    (comm(), 1..100u64).prop_flat_map(|(comm, element)| {
        let members = [WORLD as usize, 1, 3][comm.0 as usize];
        let counts = move || prop::collection::vec((0..1u64 << 40).prop_map(Bytes), members);
        let root = rank();
        let (b, w) = (volume, instructions);
        let op = prop_oneof![
            Just(CollectiveOp::Barrier),
            (b(), rank()).prop_map(|(bytes, root)| CollectiveOp::Bcast { bytes, root }),
            (b(), w(), rank()).prop_map(|(bytes, work, root)| CollectiveOp::Reduce { bytes, work, root }),
            (b(), w()).prop_map(|(bytes, work)| CollectiveOp::Allreduce { bytes, work }),
            (b(), w()).prop_map(|(bytes, work)| CollectiveOp::Scan { bytes, work }),
            (b(), w()).prop_map(|(bytes, work)| CollectiveOp::Exscan { bytes, work }),
            (counts(), w()).prop_map(|(counts, work)| CollectiveOp::ReduceScatter { counts, work }),
            (b(), w()).prop_map(|(bytes, work)| CollectiveOp::ReduceScatterBlock { bytes, work }),
            (b(), b(), rank()).prop_map(|(send, recv, root)| CollectiveOp::Gather { send, recv, root }),
            (b(), b(), rank()).prop_map(|(send, recv, root)| CollectiveOp::Scatter { send, recv, root }),
            (b(), b()).prop_map(|(send, recv)| CollectiveOp::Allgather { send, recv }),
            (b(), b()).prop_map(|(send, recv)| CollectiveOp::Alltoall { send, recv }),
            (b(), counts(), rank()).prop_map(|(send, recvs, root)| CollectiveOp::Gatherv { send, recvs, root }),
            (counts(), b(), root).prop_map(|(sends, recv, root)| CollectiveOp::Scatterv { sends, recv, root }),
            (b(), counts()).prop_map(|(send, recvs)| CollectiveOp::Allgatherv { send, recvs }),
            (counts(), counts()).prop_map(|(sends, recvs)| CollectiveOp::Alltoallv { sends, recvs }),
            (counts(), counts()).prop_map(|(sends, recvs)| CollectiveOp::Alltoallw { sends, recvs }),
        ];
        op.prop_map(move |op| {
            // A barrier has no data, and SimGrid's allgatherv no place for the element.
            let plain = matches!(op, CollectiveOp::Barrier | CollectiveOp::Allgatherv { .. });
            Collective { comm, op, element: Bytes(if plain { 1 } else { element }) }
        })
    })
}

fn neighborhood() -> impl Strategy<Value = Neighborhood> {
    let neighbors = || prop::collection::vec((rank(), volume()), 0..5);
    (comm(), prop::sample::select(NeighborOp::ALL.to_vec()), neighbors(), neighbors())
        .prop_map(|(comm, op, sends, recvs)| Neighborhood { comm, op, sends, recvs })
}

fn one_sided() -> impl Strategy<Value = OneSided> {
    let win = || any::<u32>().prop_map(WinId);
    let access =
        (prop::sample::select(AccessOp::ALL.to_vec()), win(), rank(), volume(), volume(), prop::option::of(request()));
    prop_oneof![
        (prop::sample::select(WinCall::ALL.to_vec()), comm(), win(), volume())
            .prop_map(|(call, comm, win, bytes)| OneSided::Create(call, comm, win, bytes)),
        win().prop_map(OneSided::Free),
        (prop::sample::select(WinSync::ALL.to_vec()), win(), prop::collection::vec(rank(), 0..4))
            .prop_map(|(sync, win, ranks)| OneSided::Sync(sync, win, ranks)),
        access.prop_map(|(op, win, target, there, back, request)| {
            OneSided::Access(Access { op, win, target, there, back, request })
        }),
    ]
}

fn file() -> impl Strategy<Value = FileEvent> {
    use Reach::*;
    let file = || any::<u32>().prop_map(FileId);
    let access = |reach: &'static [Reach], phase: BoxedStrategy<Phase>| {
        let direction = prop_oneof![Just(Direction::Read), Just(Direction::Write)];
        (file(), direction, prop::sample::select(reach), phase, volume()).prop_map(
            |(file, direction, reach, phase, bytes)| {
                let bytes = if phase == Phase::End { Bytes(0) } else { bytes };
                FileEvent::Access(FileAccess { file, direction, reach, phase, bytes })
            },
        )
    };
    prop_oneof![
        (comm(), file()).prop_map(|(comm, file)| FileEvent::Open(comm, file)),
        file().prop_map(FileEvent::Close),
        (prop::sample::select(Manage::ALL.to_vec()), file()).prop_map(|(call, file)| FileEvent::Manage(call, file)),
        access(&[Own, At, Shared, All, AtAll, Ordered], Just(Phase::Blocking).boxed()),
        access(&[Own, At, Shared, All, AtAll], request().prop_map(Phase::Nonblocking).boxed()),
        access(&[All, AtAll, Ordered], prop_oneof![Just(Phase::Begin), Just(Phase::End)].boxed()),
    ]
}

/// What is neither a message between two ranks nor a collective of all members.
fn beyond_messages() -> impl Strategy<Value = Event> {
    prop_oneof![
        (collective(), request()).prop_map(|(collective, request)| Event::CollectiveInit(collective, request)),
        neighborhood().prop_map(Event::Neighbor),
        (neighborhood(), request()).prop_map(|(call, request)| Event::Ineighbor(call, request)),
        (neighborhood(), request()).prop_map(|(call, request)| Event::NeighborInit(call, request)),
        (outgoing(), any::<u32>(), request())
            .prop_map(|(message, parts, request)| Event::PsendInit(message, parts, request)),
        (incoming(), any::<u32>(), request())
            .prop_map(|(message, parts, request)| Event::PrecvInit(message, parts, request)),
        (request(), prop::collection::vec(any::<u32>(), 0..5))
            .prop_map(|(request, parts)| Event::Pready(request, parts)),
        one_sided().prop_map(Event::OneSided),
        file().prop_map(Event::File),
        ("MPIX?_[A-Z][a-z_]{2,20}", volume(), volume()).prop_map(|(function, sent, received)| Event::Other(Other {
            function: function.into(),
            sent,
            received
        })),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let point_to_point = prop_oneof![
        (mode(), outgoing()).prop_map(|(mode, message)| Event::Send(mode, message)),
        incoming().prop_map(Event::Recv),
        (mode(), outgoing(), prop::option::of(request()))
            .prop_map(|(mode, message, request)| Event::Isend(mode, message, request)),
        (incoming(), request()).prop_map(|(message, request)| Event::Irecv(message, Some(request))),
        (prop::option::of(outgoing()), prop::option::of(incoming())).prop_map(|(send, recv)| {
            let comm = send.map(|message| message.comm).or(recv.map(|message| message.comm)).unwrap_or_default();
            Event::Sendrecv(send, recv.map(|message| Incoming { comm, ..message }))
        }),
        incoming().prop_map(Event::Probe),
        (incoming(), any::<bool>()).prop_map(|(message, found)| Event::Iprobe(message, found)),
        (mode(), outgoing(), request()).prop_map(|(mode, message, request)| Event::SendInit(mode, message, request)),
        (incoming(), request()).prop_map(|(message, request)| Event::RecvInit(message, request)),
    ];
    let requests_of = prop_oneof![
        requests().prop_map(Event::Start),
        request().prop_map(Event::RequestFree),
        request().prop_map(Event::Cancel),
        (request(), rank(), any::<i32>()).prop_map(|(request, source, tag)| Event::Matched(request, source, Tag(tag))),
        prop::option::of(any::<u32>()).prop_map(|count| Event::Wait(Ask::All, Requests::Outstanding(count))),
        (ask(), key(), request()).prop_map(|(ask, key, request)| Event::Wait(ask, Requests::One(key, Some(request)))),
        (ask(), requests()).prop_map(|(ask, requests)| Event::Wait(ask, Requests::These(requests))),
        ask().prop_map(|ask| Event::Test(ask, None)),
        (ask(), key(), request())
            .prop_map(|(ask, key, request)| Event::Test(ask, Some(Requests::One(key, Some(request))))),
        (ask(), requests()).prop_map(|(ask, requests)| Event::Test(ask, Some(Requests::These(requests)))),
    ];
    let members = || prop::collection::vec(rank(), 1..6);
    let communicators = prop_oneof![
        collective().prop_map(Event::Collective),
        (collective(), request()).prop_map(|(collective, request)| Event::Icollective(collective, request)),
        (prop::sample::select(CommCall::ALL.to_vec()), comm())
            .prop_map(|(call, parent)| Event::CommCreate(call, parent, None)),
        (prop::sample::select(CommCall::ALL.to_vec()), comm(), members(), prop::option::of(members())).prop_map(
            |(call, parent, members, remote)| {
                let group = Group { id: CommId(9), members, remote: remote.unwrap_or_default() };
                Event::CommCreate(call, parent, Some(group))
            }
        ),
        comm().prop_map(Event::CommFree),
    ];
    let span = || {
        (any::<u32>(), any::<u32>()).prop_map(|(begin, length)| {
            let (begin, length) = (u64::from(begin), u64::from(length));
            Span { begin: Nanoseconds(begin), end: Nanoseconds(begin + length) }
        })
    };
    let message = (comm(), any::<u64>(), any::<bool>(), rank(), any::<u32>(), span());
    let seen = prop_oneof![
        span().prop_map(Seen::Call),
        message.prop_map(|(comm, number, is_sent, peer, bytes, span)| {
            let end = if is_sent { MessageEnd::Sent } else { MessageEnd::Received };
            let bytes = Bytes(u64::from(bytes));
            Seen::Message(Message { comm, number, end, peer, bytes, span })
        }),
    ];
    prop_oneof![
        2 => prop_oneof![
            Just(Event::Init),
            Just(Event::Finalize),
            instructions().prop_map(Event::Compute),
            (0.0..1e9f64).prop_map(|span| Event::Sleep(Seconds(span))),
        ],
        9 => point_to_point,
        9 => requests_of,
        9 => communicators,
        2 => seen.prop_map(Event::Seen),
        9 => beyond_messages(),
    ]
}

fn thread() -> impl Strategy<Value = ThreadId> {
    prop_oneof![3 => Just(ThreadId::MAIN), 2 => (1..4_u32).prop_map(ThreadId), 1 => (0..65_536_u32).prop_map(ThreadId)]
}

proptest! {
    #[test]
    fn what_is_written_is_read(rank in rank(), thread in thread(), event in event()) {
        let mut parser = Parser::new(WORLD);
        parser.line(b"0 comm_split 2 0 0-2").unwrap();
        let actor = Actor { rank, thread };
        let line = text(actor, &event);
        let read = parser.line(line.as_bytes());
        prop_assert_eq!(read, Ok(Some((actor, event))), "{}", line);
    }

    #[test]
    fn no_line_panics(line in prop::collection::vec(any::<u8>(), 0..60), words in "[0-9]{1,2} (on 0 )?[a-z_]{3,9}( [-0-9*a-z,/.]{1,9}){0,6}") {
        let _ = Parser::new(WORLD).line(&line);
        let _ = Parser::new(WORLD).line(words.as_bytes());
        let _ = EventReader::new(WORLD).line(&line, &mut Passage::default());
    }

    #[test]
    fn events_that_come_again_are_read_again(
        events in prop::collection::vec(event(), 1..20),
        order in prop::collection::vec((any::<prop::sample::Index>(), thread()), 0..200),
    ) {
        let mut events: Vec<(ThreadId, Event)> =
            order.iter().map(|(index, thread)| (*thread, index.get(&events).clone())).collect();
        // What the communicators are that the events speak of.
        let members = vec![Rank(0), Rank(1), Rank(2)];
        let group = Group { id: CommId(2), members, remote: Vec::new() };
        events.insert(0, (ThreadId::MAIN, Event::CommCreate(CommCall::Split, CommId::WORLD, Some(group))));
        let (mut writer, mut text) = (EventWriter::new(Rank(1)), Vec::new());
        for (thread, event) in &events {
            writer.switch(&mut text, *thread);
            writer.write(&mut text, event);
        }
        writer.end_line(&mut text);

        let (mut reader, mut read, mut threads) = (EventReader::new(WORLD), Passage::default(), Vec::new());
        reader.remember();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let before = read.len();
            let actor = reader.line(line.trim_ascii_end(), &mut read).unwrap().unwrap();
            prop_assert_eq!(actor, Actor { rank: Rank(1), thread: reader.thread() });
            threads.resize(threads.len() + read.len() - before, actor.thread);
        }
        prop_assert_eq!(threads.into_iter().zip(read.iter().map(Moment::to_event)).collect::<Vec<_>>(), events);
    }
}

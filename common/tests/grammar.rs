//! The grammar from outside: what is written is read, SimGrid's lines mean what they mean there, and a wrong line is
//! refused where it is wrong.

#![cfg(test)] // Tells clippy that helpers are tests too.

use proptest::prelude::*;
use titr_common::event::*;
use titr_common::event_buffer::{EventBuffer, EventRef};
use titr_common::grammar::{EventReader, EventWriter, Parser, write_event};
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
    let message = Outgoing { comm: CommId::WORLD, to: Rank(1), tag: Tag(7), bytes: Bytes(bytes) };
    Event::Send(SendMode::Standard, message, Completion::Blocking)
}

/// A blocking collective on the world.
fn on_world(kind: CollectiveKind, send: Volumes, recv: Volumes, element: u64) -> Collective {
    let root = kind.signature().is_rooted.then_some(Rank(0));
    let (comm, element, work) = (CommId::WORLD, Bytes(element), Instructions(0.0));
    Collective { comm, kind, root, send, recv, element, work }
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
    assert_eq!(read("0 allreduce 1000 5000000"), Collective { work: Instructions(5e6), ..allreduce });
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

fn quantifier() -> impl Strategy<Value = Quantifier> {
    prop::sample::select(Quantifier::ALL.to_vec())
}

fn key() -> impl Strategy<Value = RequestKey> {
    (prop::option::of(rank()), rank(), prop::option::of(0..i32::MAX)).prop_map(|(from, to, tag)| RequestKey {
        from,
        to,
        tag: tag.map(Tag),
    })
}

fn completion() -> impl Strategy<Value = Completion> {
    prop_oneof![
        Just(Completion::Blocking),
        request().prop_map(Completion::Request),
        request().prop_map(Completion::Persistent),
    ]
}

fn message_completion() -> impl Strategy<Value = MessageCompletion> {
    completion().prop_map(|completion| match completion {
        Completion::Blocking => Completion::Blocking,
        Completion::Request(request) => Completion::Request(Some(request)),
        Completion::Persistent(request) => Completion::Persistent(request),
    })
}

fn volumes(extent: Extent, members: usize) -> BoxedStrategy<Volumes> {
    match extent {
        Extent::None => Just(Volumes::None).boxed(),
        Extent::Each => volume().prop_map(Volumes::Each).boxed(),
        Extent::PerMember => {
            prop::collection::vec((0..1u64 << 40).prop_map(Bytes), members).prop_map(Volumes::PerMember).boxed()
        }
    }
}

fn collective() -> impl Strategy<Value = Collective> {
    (comm(), prop::sample::select(CollectiveKind::ALL.to_vec()), 1..100u64).prop_flat_map(|(comm, kind, element)| {
        let members = [WORLD as usize, 1, 3][comm.0 as usize];
        let signature = kind.signature();
        let root = rank().prop_map(move |root| signature.is_rooted.then_some(root));
        let work = instructions().prop_map(move |work| if signature.reduces { work } else { Instructions(0.0) });
        (volumes(signature.send, members), volumes(signature.recv, members), root, work).prop_map(
            move |(send, recv, root, work)| {
                // A barrier has no data, and SimGrid's allgatherv no place for the element.
                let plain = matches!(kind, CollectiveKind::Barrier | CollectiveKind::Allgatherv);
                let element = Bytes(if plain { 1 } else { element });
                Collective { comm, kind, root, send, recv, element, work }
            },
        )
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
        (neighborhood(), completion()).prop_map(|(call, completion)| Event::Neighborhood(call, completion)),
        (outgoing(), any::<u32>(), request())
            .prop_map(|(message, parts, request)| Partitioned::SendInit(message, parts, request))
            .prop_map(Event::Partitioned),
        (incoming(), any::<u32>(), request())
            .prop_map(|(message, parts, request)| Partitioned::RecvInit(message, parts, request))
            .prop_map(Event::Partitioned),
        (request(), prop::collection::vec(any::<u32>(), 0..5))
            .prop_map(|(request, parts)| Event::Partitioned(Partitioned::Ready(request, parts))),
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
        (mode(), outgoing(), message_completion())
            .prop_map(|(mode, message, completion)| Event::Send(mode, message, completion)),
        (mode(), outgoing()).prop_map(|(mode, message)| Event::Send(mode, message, Completion::Request(None))),
        (incoming(), message_completion()).prop_map(|(message, completion)| Event::Recv(message, completion)),
        (prop::option::of(outgoing()), prop::option::of(incoming())).prop_map(|(send, recv)| {
            let comm = send.map(|message| message.comm).or(recv.map(|message| message.comm)).unwrap_or_default();
            Event::Sendrecv(send, recv.map(|message| Incoming { comm, ..message }))
        }),
        incoming().prop_map(Event::Probe),
        (incoming(), any::<bool>()).prop_map(|(message, found)| Event::Iprobe(message, found)),
    ];
    let requests_of = prop_oneof![
        requests().prop_map(Event::Start),
        request().prop_map(Event::RequestFree),
        request().prop_map(Event::Cancel),
        (request(), rank(), any::<i32>()).prop_map(|(request, source, tag)| Event::Matched(request, source, Tag(tag))),
        prop::option::of(any::<u32>()).prop_map(|count| Event::Wait(Quantifier::All, Completed::Outstanding(count))),
        (quantifier(), key(), request())
            .prop_map(|(quantifier, key, request)| Event::Wait(quantifier, Completed::One(key, Some(request)))),
        (quantifier(), requests())
            .prop_map(|(quantifier, requests)| Event::Wait(quantifier, Completed::These(requests))),
        quantifier().prop_map(|quantifier| Event::Test(quantifier, None)),
        (quantifier(), key(), request())
            .prop_map(|(quantifier, key, request)| Event::Test(quantifier, Some(Completed::One(key, Some(request))))),
        (quantifier(), requests())
            .prop_map(|(quantifier, requests)| Event::Test(quantifier, Some(Completed::These(requests)))),
    ];
    let members = || prop::collection::vec(rank(), 1..6);
    let communicators = prop_oneof![
        (collective(), completion()).prop_map(|(collective, completion)| Event::Collective(collective, completion)),
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
    let annotation = prop_oneof![
        span().prop_map(Annotation::Call),
        message.prop_map(|(comm, number, is_sent, peer, bytes, span)| {
            let end = if is_sent { MessageEnd::Sent } else { MessageEnd::Received };
            let bytes = Bytes(u64::from(bytes));
            Annotation::Message(Message { comm, number, end, peer, bytes, span })
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
        2 => annotation.prop_map(Event::Annotation),
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

    /// Whatever is put into a line makes it wrong, or is still there when the event is written again.
    #[test]
    fn no_word_of_a_line_is_dropped(
        event in event(),
        at in any::<prop::sample::Index>(),
        word in "any|any_source|any_tag|-|[*]|found|none|on [12]|x",
    ) {
        let before = "0 comm_split 2 0 0-2";
        let line = text(Rank(0), &event);
        let mut fields: Vec<&str> = line.split_whitespace().collect();
        fields.insert(1 + at.index(fields.len()), &word);
        let line = fields.join(" ");
        let mut parser = Parser::new(WORLD);
        parser.line(before.as_bytes()).unwrap();
        // SimGrid's `init` has an argument that says no more than that it is there.
        if let Ok(Some((actor, read))) = parser.line(line.as_bytes()) && read != Event::Init {
            let is_word = |field: &&str| !field.as_bytes()[0].is_ascii_digit();
            let words = |line: &str| line.split_whitespace().filter(is_word).map(str::to_owned).collect::<Vec<_>>();
            // An empty list at the end is as good as none.
            let said = words(line.trim_end_matches(" -"));
            prop_assert_eq!(said, words(text(actor, &read).trim_end().trim_end_matches(" -")), "{}", line);
        }
    }

    #[test]
    fn no_line_panics(line in prop::collection::vec(any::<u8>(), 0..60), words in "[0-9]{1,2} (on 0 )?[a-z_]{3,9}( [-0-9*a-z,/.]{1,9}){0,6}") {
        let _ = Parser::new(WORLD).line(&line);
        let _ = Parser::new(WORLD).line(words.as_bytes());
        let _ = EventReader::new(WORLD).line(&line, &mut EventBuffer::default());
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

        let (mut reader, mut read, mut threads) = (EventReader::new(WORLD), EventBuffer::default(), Vec::new());
        reader.remember();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let before = read.len();
            let actor = reader.line(line.trim_ascii_end(), &mut read).unwrap().unwrap();
            prop_assert_eq!(actor, Actor { rank: Rank(1), thread: reader.thread() });
            threads.resize(threads.len() + read.len() - before, actor.thread);
        }
        prop_assert_eq!(threads.into_iter().zip(read.iter().map(EventRef::to_event)).collect::<Vec<_>>(), events);
    }
}

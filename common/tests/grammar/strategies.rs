//! Random events of every kind.

use proptest::prelude::*;
use titr_common::event::*;
use titr_common::units::{Bytes, Instructions, Nanoseconds, Seconds};

use super::WORLD;

pub fn rank() -> impl Strategy<Value = Rank> {
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

/// Receives of sizes that a float counts exactly, as SimGrid's negative counts make them floats.
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
        // In the root's group of an inter-communicator, only the root knows that it is the root.
        let root = prop::option::of(rank()).prop_map(move |root| root.filter(|_| signature.is_rooted));
        let work = instructions().prop_map(move |work| if signature.reduces { work } else { Instructions(0.0) });
        (volumes(signature.send, members), volumes(signature.recv, members), root, work, any::<bool>()).prop_map(
            move |(send, recv, root, work, commutes)| {
                // A barrier has no data, and SimGrid's allgatherv no place for the element.
                let plain = matches!(kind, CollectiveKind::Barrier | CollectiveKind::Allgatherv);
                let element = Bytes(if plain { 1 } else { element });
                let is_commutative = commutes || !signature.reduces;
                Collective { comm, kind, root, send, recv, element, work, is_commutative }
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
        (
            prop::sample::select(WinSync::ALL.to_vec()),
            win(),
            prop::collection::vec(rank(), 0..4),
            prop::sample::subsequence(Assert::ALL.to_vec(), 0..=Assert::ALL.len()),
        )
            .prop_map(|(call, win, ranks, asserts)| {
                let asserts = asserts.into_iter().collect();
                OneSided::Sync(Synchronisation { call, win, ranks, asserts })
            }),
        access.prop_map(|(op, win, target, there, back, request)| {
            OneSided::Access(Access { op, win, target, there, back, request })
        }),
    ]
}

fn file() -> impl Strategy<Value = FileEvent> {
    use FilePointer::*;
    let file = || any::<u32>().prop_map(FileId);
    let access = |reach: &'static [FilePointer], phase: BoxedStrategy<Phase>| {
        let direction = prop_oneof![Just(Direction::Read), Just(Direction::Write)];
        let skip = prop_oneof![Just(0), any::<i64>()];
        (file(), direction, prop::sample::select(reach), phase, volume(), skip).prop_map(
            |(file, direction, reach, phase, bytes, skip)| {
                let (bytes, skip) = if phase == Phase::End { (Bytes(0), 0) } else { (bytes, skip) };
                FileEvent::Access(FileAccess { file, direction, reach, phase, bytes, skip: SeekDistance(skip) })
            },
        )
    };
    prop_oneof![
        (comm(), file()).prop_map(|(comm, file)| FileEvent::Open(comm, file)),
        file().prop_map(FileEvent::Close),
        Just(FileEvent::Delete),
        (prop::sample::select(Manage::ALL.to_vec()), file()).prop_map(|(call, file)| FileEvent::Manage(call, file)),
        access(&[Own, At, Shared, All, AtAll, Ordered], Just(Phase::Blocking).boxed()),
        access(&[Own, At, Shared, All, AtAll], request().prop_map(Phase::Nonblocking).boxed()),
        access(&[All, AtAll, Ordered], prop_oneof![Just(Phase::Begin), Just(Phase::End)].boxed()),
    ]
}

fn code_place() -> impl Strategy<Value = CodePlace> {
    prop_oneof![
        (any::<u32>(), any::<u64>()).prop_map(|(module, offset)| CodePlace::Address { module, offset }),
        "[a-zA-Z_][^\\s]{0,9}( [^\\s]{1,9})?".prop_map(|name| CodePlace::Named(name.into())),
    ]
}

/// Everything except messages between two ranks and collectives of all members.
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
        (request(), any::<u32>()).prop_map(|(request, part)| Event::Partitioned(Partitioned::Arrived(request, part))),
        "[^\\s]{1,20}".prop_map(|name| Event::Mark(Mark::RegionBegin(name.into()))),
        "[^\\s]{1,20}".prop_map(|name| Event::Mark(Mark::RegionEnd(name.into()))),
        any::<i32>().prop_map(|level| Event::Mark(Mark::Control(level))),
        any::<u32>().prop_map(|site| Event::Mark(Mark::CallSite(CallSiteId(site)))),
        prop_oneof![Just(Mark::PartBegin), Just(Mark::PartEnd)].prop_map(Event::Mark),
        prop::collection::vec(unrecorded(), 1..5).prop_map(|calls| Event::Mark(Mark::Unrecorded(calls.into()))),
        (any::<u32>(), prop::collection::vec(code_place(), 1..5))
            .prop_map(|(site, stack)| Event::Mark(Mark::CallStack(CallSiteId(site), stack.into()))),
        one_sided().prop_map(Event::OneSided),
        file().prop_map(Event::File),
        ("MPIX?_[A-Z][a-z_]{2,20}", volume(), volume()).prop_map(|(function, sent, received)| Event::Other(Other {
            function: function.into(),
            sent,
            received
        })),
    ]
}

fn unrecorded() -> impl Strategy<Value = Unrecorded> {
    let message = || (any::<u32>().prop_map(CommId), any::<u32>().prop_map(Rank), any::<i32>().prop_map(Tag));
    let call = prop_oneof![
        message().prop_map(|(comm, to, tag)| UnrecordedCall::Sent(comm, to, tag)),
        message().prop_map(|(comm, from, tag)| UnrecordedCall::Received(comm, from, tag)),
        any::<u32>().prop_map(|comm| UnrecordedCall::Collective(CommId(comm))),
        request().prop_map(UnrecordedCall::Start),
        any::<u32>().prop_map(|win| UnrecordedCall::Fence(WinId(win))),
        any::<[u32; 2]>().prop_map(|[win, rank]| UnrecordedCall::AccessEpoch(WinId(win), Rank(rank))),
        any::<[u32; 2]>().prop_map(|[win, rank]| UnrecordedCall::ExposureEpoch(WinId(win), Rank(rank))),
        any::<u32>().prop_map(|file| UnrecordedCall::File(FileId(file))),
        any::<u32>().prop_map(|file| UnrecordedCall::Moved(FileId(file))),
    ];
    (call, any::<u64>()).prop_map(|(call, number)| Unrecorded { call, number })
}

pub fn event() -> impl Strategy<Value = Event> {
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
    let group = || {
        (members(), prop::option::of(members()), prop::option::of(any::<i32>().prop_map(Tag))).prop_map(
            |(members, remote, tag)| Group { id: CommId(9), members, remote: remote.unwrap_or_default(), tag },
        )
    };
    let communicators = prop_oneof![
        (collective(), completion()).prop_map(|(collective, completion)| Event::Collective(collective, completion)),
        (prop::sample::select(CommCall::ALL.to_vec()), comm())
            .prop_map(|(call, parent)| Event::CommCreate(call, parent, None)),
        (prop::sample::select(CommCall::ALL.to_vec()), comm(), group())
            .prop_map(|(call, parent, group)| Event::CommCreate(call, parent, Some(group))),
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

pub fn thread() -> impl Strategy<Value = ThreadId> {
    prop_oneof![3 => Just(ThreadId::MAIN), 2 => (1..4_u32).prop_map(ThreadId), 1 => (0..65_536_u32).prop_map(ThreadId)]
}

//! Extended traces: collectives that the tracer carries out give what the library's give, and are the messages that their
//! schedules say.

use std::path::Path;

use titr_common::collectives::{Library, Selection, Step};
use titr_common::event::{Collective, CollectiveOp, CommId, Event, Group, Message, MessageEnd, Rank, Seen, Span};
use titr_common::trace::manifest::Mode;
use titr_common::trace::{Manifest, Source};
use titr_common::units::Bytes;
use titr_tests::{Family, Traced, binary, library, lines, run, traced, traced_as};

const EXTENDED: (&str, &str) = ("TITRACE_MODE", "extended");

fn extended(family: Family, ranks: u32, source: &str) -> Traced {
    let program = family.build(source, &["-pthread"]);
    let trace = traced_as(&[EXTENDED], family, ranks, &program, &[], str::to_owned);
    assert_eq!(trace.run.status, Some(0), "{family:?} {source}: {}", trace.run.stderr);
    trace
}

fn check(trace: &Path) {
    let verdict = run(binary("titr").arg("check").arg(trace));
    assert_eq!(verdict.status, Some(0), "{}{}", verdict.stdout, verdict.stderr);
}

/// The library that a family's collectives are like.
fn like(family: Family) -> Selection {
    Selection::from(match family {
        Family::OpenMpi => Library::OpenMpi,
        Family::Mpich => Library::Mpich,
    })
}

/// A collective in a trace, its place there, and the messages recorded for it.
struct Recorded {
    members: Vec<Rank>,
    me: Rank,
    collective: Collective,
    number: u64,
    messages: Vec<Message>,
}

/// All blocking collectives of all ranks.
fn recorded(trace: &Path) -> Vec<Recorded> {
    let source = Source::open(trace).unwrap();
    let world = (0..source.ranks()).map(Rank).collect::<Vec<_>>();
    let mut all = Vec::new();
    for (me, mut stream) in (0..).map(Rank).zip(source.streams().unwrap()) {
        let mut groups = vec![Some(world.clone()), Some(vec![me])];
        let mut numbers = vec![0_u64; 2];
        let (mut messages, mut last) = (Vec::new(), Span::default());
        while let Some(event) = stream.next_event().unwrap() {
            match event {
                Event::Seen(Seen::Call(span)) => {
                    assert!(last.end <= span.begin && span.begin <= span.end, "{last:?} {span:?}");
                    last = span;
                }
                Event::Seen(Seen::Message(message)) => {
                    let Span { begin, end } = message.span;
                    assert!(last.begin <= begin && begin <= end && end <= last.end, "{message:?} in {last:?}");
                    messages.push(message);
                }
                Event::CommCreate(_, _, Some(Group { id: CommId(id), members, .. })) => {
                    let at = id as usize;
                    if groups.len() <= at {
                        groups.resize(at + 1, None);
                        numbers.resize(at + 1, 0);
                    }
                    (groups[at], numbers[at]) = (Some(members), 0);
                }
                Event::Collective(collective) => {
                    let at = collective.comm.0 as usize;
                    let members = groups[at].clone().unwrap();
                    let (number, messages) = (numbers[at], std::mem::take(&mut messages));
                    numbers[at] += 1;
                    all.push(Recorded { members, me, collective, number, messages });
                }
                _ => {}
            }
        }
        assert!(messages.is_empty(), "messages of no collective");
    }
    all
}

/// What one end of a message says of it.
type End = (MessageEnd, Rank, Bytes);

/// The messages of a schedule, in the order in which a library starts them.
fn scheduled(selection: &Selection, recorded: &Recorded) -> Vec<End> {
    let Recorded { members, me, collective: Collective { op, element, .. }, .. } = recorded;
    let member = |rank: Rank| members.iter().position(|&it| it == rank).unwrap() as u32;
    let root = match *op {
        CollectiveOp::Bcast { root, .. }
        | CollectiveOp::Reduce { root, .. }
        | CollectiveOp::Gather { root, .. }
        | CollectiveOp::Scatter { root, .. }
        | CollectiveOp::Gatherv { root, .. }
        | CollectiveOp::Scatterv { root, .. } => member(root),
        _ => 0,
    };
    let sent = |to: u32, bytes| (MessageEnd::Sent, members[to as usize], bytes);
    let received = |from: u32, bytes| (MessageEnd::Received, members[from as usize], bytes);
    let steps = selection.schedule(member(*me), members.len() as u32, root, op, *element);
    let mut messages = Vec::new();
    for step in steps {
        match step {
            Step::Send { to, data } | Step::Isend { to, data } => messages.push(sent(to, data.len)),
            Step::Recv { from, data } | Step::Irecv { from, data } => messages.push(received(from, data.len)),
            Step::Sendrecv { to, send, from, recv } => {
                messages.extend([received(from, recv.len), sent(to, send.len)]);
            }
            Step::Wait { .. } | Step::WaitAll | Step::Copy { .. } => {}
            Step::ReduceLeft { .. } | Step::ReduceRight { .. } => {}
        }
    }
    messages
}

/// Every member gets what it gets from the library, whatever the datatype and the operation.
#[test]
fn results_are_the_librarys() {
    for family in Family::ALL {
        let trace = extended(family, 5, "every_collective.c");
        assert!(trace.run.stdout.lines().count() > 1000, "{family:?}");
        check(&trace.path());
        let manifest = Manifest::read(&trace.path()).unwrap();
        for entry in &manifest.per_rank {
            assert!(entry.opaque.is_empty() && entry.untraced.is_empty(), "{family:?}: {entry:?}");
        }
        let messages: usize = recorded(&trace.path()).iter().map(|recorded| recorded.messages.len()).sum();
        assert!(messages > 10_000, "{family:?}: {messages}");
    }
}

/// Without what it adds, an extended trace is the time-independent one.
#[test]
fn it_folds_back_to_a_time_independent_trace() {
    for family in Family::ALL {
        for source in ["collectives.c", "vector_collectives.c", "in_place.c", "communicators.c", "nonblocking.c"] {
            let ranks = if source == "nonblocking.c" { 2 } else { 4 };
            let plain = traced(family, ranks, &family.build(source, &["-pthread"]), &[], str::to_owned);
            let extended = extended(family, ranks, source);
            assert_eq!(lines(&extended.path()), lines(&plain.path()), "{family:?} {source}");
            check(&extended.path());
        }
    }
}

/// `titr convert --to ti` folds it, and the manifest with it.
#[test]
fn it_is_folded_by_conversion() {
    for family in Family::ALL {
        let extended = extended(family, 4, "collectives.c");
        let folded = extended.path().with_file_name("folded");
        let convert = run(binary("titr").args(["convert", "--to", "ti", "-o"]).arg(&folded).arg(extended.path()));
        assert_eq!(convert.status, Some(0), "{}", convert.stderr);
        assert_eq!(lines(&folded), lines(&extended.path()));
        let mut stream = Source::open(&folded).unwrap().stream(Rank(0)).unwrap();
        while let Some(event) = stream.next_event().unwrap() {
            assert!(!matches!(event, Event::Seen(_)), "{event:?}");
        }
        check(&folded);
        let [before, after] = [&extended.path(), &folded].map(|trace| Manifest::read(trace).unwrap());
        assert_eq!((before.mode, after.mode), (Mode::Extended, Mode::Ti));
        let clocks = before.per_rank.iter().map(|entry| entry.clock.unwrap());
        assert!(clocks.clone().all(|clock| clock.uncertainty < 1e9), "{:?}", clocks.collect::<Vec<_>>());
    }
}

/// The messages recorded, and the same call decomposed again by the same algorithms, take the same time.
#[test]
fn it_is_replayed_as_recorded_or_decomposed_again() {
    let seconds = |trace: &Path, collectives: &str| {
        let platform = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/torus.toml");
        let mut replay = binary("titr-replay");
        replay.args(["--json", "--collectives", collectives, "--platform"]).arg(platform).arg(trace);
        let report = run(&mut replay);
        assert_eq!(report.status, Some(0), "{}", report.stderr);
        let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
        (report["simulated_time"].as_f64().unwrap(), report["warnings"].to_string())
    };
    for family in Family::ALL {
        for source in ["collectives.c", "vector_collectives.c"] {
            let traced = extended(family, 4, source);
            let trace = traced.path();
            let library = like(family).library.name();
            assert_eq!(seconds(&trace, "recorded"), seconds(&trace, library), "{family:?} {source}");
        }
    }
}

/// What the tracer carries out and what the replayer simulates are the same messages in the same order.
#[test]
fn messages_are_the_schedules() {
    for family in Family::ALL {
        let selection = like(family);
        for source in ["collectives.c", "vector_collectives.c", "in_place.c"] {
            let recorded = recorded(&extended(family, 4, source).path());
            assert!(!recorded.is_empty());
            for recorded in recorded {
                let ends = |message: &Message| (message.end, message.peer, message.bytes);
                let messages: Vec<End> = recorded.messages.iter().map(ends).collect();
                let what = format!("{family:?} {source} {:?} {:?}", recorded.me, recorded.collective);
                assert_eq!(messages, scheduled(&selection, &recorded), "{what}");
                for message in &recorded.messages {
                    assert_eq!((message.comm, message.number), (recorded.collective.comm, recorded.number), "{what}");
                }
            }
        }
    }
}

/// Collectives that are passed through are recorded and counted.
#[test]
fn what_is_not_carried_out_is_counted() {
    for family in Family::ALL {
        let trace = extended(family, 4, "nonblocking_collectives.c");
        check(&trace.path());
        for entry in Manifest::read(&trace.path()).unwrap().per_rank {
            assert_eq!(entry.opaque.get("MPI_Iallreduce"), Some(&2), "{family:?}: {entry:?}");
        }
    }
}

#[test]
fn algorithms_can_be_forced() {
    let program = Family::OpenMpi.build("collectives.c", &["-pthread"]);
    let forced = ("TITRACE_COLLECTIVES", "bcast=chain, barrier=double_ring");
    let trace = traced_as(&[EXTENDED, forced], Family::OpenMpi, 4, &program, &[], str::to_owned);
    let mut selection = like(Family::OpenMpi);
    selection.force_list(forced.1).unwrap();
    for recorded in recorded(&trace.path()) {
        let sent = recorded.messages.iter().map(|message| (message.end, message.peer, message.bytes));
        assert_eq!(sent.collect::<Vec<End>>(), scheduled(&selection, &recorded), "{:?}", recorded.collective);
    }
}

#[test]
fn a_wrong_algorithm_ends_the_program_before_it_runs() {
    let program = Family::OpenMpi.build("collectives.c", &["-pthread"]);
    let mut command = Family::OpenMpi.mpirun();
    command.args(["-np", "1"]).arg(program).env("LD_PRELOAD", library());
    let run = run(command.envs([EXTENDED, ("TITRACE_COLLECTIVES", "bcast=magic")]));
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("bcast has no algorithm `magic`; it has linear"), "{}", run.stderr);
}

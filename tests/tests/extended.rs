//! Extended traces: collectives that the tracer carries out give what the library's give, and are the messages that their
//! schedules say.

use std::collections::BTreeMap;
use std::path::Path;

use titr_common::collectives::{Call, Library, Selection, Step};
use titr_common::event::{
    Annotation, Collective, CollectiveKind, CommId, Completion, Event, Group, Message, MessageEnd, Rank, Span,
};
use titr_common::trace::manifest::Mode;
use titr_common::trace::{Manifest, Trace};
use titr_common::units::{Bytes, Nanoseconds};
use titr_tests::{Family, Traced, binary, lines, run, traced, traced_as, traced_only};

const EXTENDED: (&str, &str) = ("TITRACE_MODE", "extended");

fn extended(family: Family, ranks: u32, source: &str) -> Traced {
    let program = family.build(source, &["-pthread"]);
    let trace = traced_as(&[EXTENDED], family, ranks, &program, &[], str::to_owned);
    assert_eq!(trace.run.status, Some(0), "{family:?} {source}: {}", trace.run.stderr);
    trace
}

/// The same without an untraced run, for a program that is compared with one elsewhere.
fn extended_only(family: Family, ranks: u32, source: &str) -> Traced {
    traced_only(&[EXTENDED], family, ranks, &family.build(source, &["-pthread"]))
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

/// All collectives of all ranks.
fn recorded(trace: &Path) -> Vec<Recorded> {
    let source = Trace::open(trace).unwrap();
    let world = (0..source.ranks()).map(Rank).collect::<Vec<_>>();
    let mut all: Vec<Recorded> = Vec::new();
    for (me, mut stream) in (0..).map(Rank).zip(source.streams().unwrap()) {
        let mut groups = vec![Some(world.clone()), Some(vec![me])];
        let mut numbers = vec![0_u64; 2];
        // Since when those go on that were started, and where they are among all; messages of those that are to come.
        let mut started: BTreeMap<(u32, u64), (Nanoseconds, usize)> = BTreeMap::new();
        let (mut messages, mut last) = (Vec::new(), Span::default());
        while let Some(event) = stream.next_event().unwrap() {
            match event {
                Event::Annotation(Annotation::Call(span)) => {
                    assert!(last.end <= span.begin && span.begin <= span.end, "{last:?} {span:?}");
                    last = span;
                }
                Event::Annotation(Annotation::Message(message)) => {
                    let Span { begin, end } = message.span;
                    let background = started.get(&(message.comm.0, message.number));
                    let since = background.map_or(last.begin, |&(since, _)| since);
                    assert!(since <= begin && begin <= end && end <= last.end, "{message:?} in {last:?}");
                    background.map_or(&mut messages, |&(_, at)| &mut all[at].messages).push(message);
                }
                Event::CommCreate(_, _, Some(Group { id: CommId(id), members, .. })) => {
                    let at = id as usize;
                    if groups.len() <= at {
                        groups.resize(at + 1, None);
                        numbers.resize(at + 1, 0);
                    }
                    (groups[at], numbers[at]) = (Some(members), 0);
                }
                Event::Collective(collective, Completion::Persistent(_)) => {
                    numbers[collective.comm.0 as usize] += 1;
                }
                Event::Collective(collective, completion) => {
                    let at = collective.comm.0 as usize;
                    let members = groups[at].clone().unwrap();
                    let (number, messages) = (numbers[at], std::mem::take(&mut messages));
                    numbers[at] += 1;
                    if let Completion::Request(_) = completion {
                        started.insert((collective.comm.0, number), (last.begin, all.len()));
                    }
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
    let Recorded { members, me, collective, .. } = recorded;
    let member = |rank: Rank| members.iter().position(|&it| it == rank).unwrap() as u32;
    let root = collective.root.map_or(0, member);
    let sent = |to: u32, bytes| (MessageEnd::Sent, members[to as usize], bytes);
    let received = |from: u32, bytes| (MessageEnd::Received, members[from as usize], bytes);
    let steps = selection.steps(&Call::of(collective, member(*me), members.len() as u32, root));
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

fn nothing_is_opaque(trace: &Path) {
    for entry in Manifest::read(trace).unwrap().per_rank {
        assert!(entry.opaque.is_empty() && entry.untraced.is_empty(), "{entry:?}");
    }
}

/// Every member gets what it gets from the library, whatever the datatype and the operation, at once or later.
#[test]
fn results_are_the_librarys() {
    for (family, ranks) in [(Family::OpenMpi, 5), (Family::Mpich, 3), (Family::OpenMpi, 1)] {
        let trace = extended(family, ranks, "every_collective.c");
        assert!(trace.run.stdout.lines().count() > 1000, "{family:?}");
        check(&trace.path());
        nothing_is_opaque(&trace.path());
        let messages: usize = recorded(&trace.path()).iter().map(|recorded| recorded.messages.len()).sum();
        assert!(messages > 5_000 || ranks == 1, "{family:?}: {messages}");
    }
}

/// Collectives go on while their members wait for messages, for other collectives, or for each other.
#[test]
fn what_is_started_goes_on_in_the_background() {
    for (family, ranks) in [(Family::OpenMpi, 5), (Family::Mpich, 5), (Family::OpenMpi, 8), (Family::Mpich, 2)] {
        let trace = extended(family, ranks, "background.c");
        check(&trace.path());
        nothing_is_opaque(&trace.path());
    }
}

/// The same in Fortran.
#[test]
fn results_are_the_librarys_in_fortran() {
    for family in Family::ALL {
        for binding in ["-DBINDING=1", "-DBINDING=2", "-DBINDING=3"] {
            let program = family.build("tour.F90", &[binding]);
            let trace = traced_as(&[EXTENDED], family, 4, &program, &[], str::to_owned);
            assert_eq!(trace.run.status, Some(0), "{family:?} {binding}: {}", trace.run.stderr);
            check(&trace.path());
            assert!(
                recorded(&trace.path()).iter().all(|recorded| !recorded.messages.is_empty()),
                "{family:?} {binding}"
            );
        }
        let program = family.build("wavefront.f90", &[]);
        let trace = traced_as(&[EXTENDED], family, 6, &program, &["32", "10"], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        nothing_is_opaque(&trace.path());
    }
}

/// Without what it adds, an extended trace is the time-independent one.
#[test]
fn it_folds_back_to_a_time_independent_trace() {
    for family in Family::ALL {
        for source in ["collectives.c", "vector_collectives.c", "in_place.c", "communicators.c", "nonblocking.c"] {
            let ranks = if source == "nonblocking.c" { 2 } else { 4 };
            let plain = traced(family, ranks, &family.build(source, &["-pthread"]), &[], str::to_owned);
            let extended = extended_only(family, ranks, source);
            assert_eq!(extended.run.stdout, plain.run.stdout, "{family:?} {source}");
            assert_eq!(lines(&extended.path()), lines(&plain.path()), "{family:?} {source}");
            check(&extended.path());
        }
    }
}

/// `titr convert --to ti` folds it, and the manifest with it.
#[test]
fn it_is_folded_by_conversion() {
    for family in Family::ALL {
        let extended = extended_only(family, 4, "collectives.c");
        let folded = extended.path().with_file_name("folded");
        let convert = run(binary("titr").args(["convert", "--to", "ti", "-o"]).arg(&folded).arg(extended.path()));
        assert_eq!(convert.status, Some(0), "{}", convert.stderr);
        assert_eq!(lines(&folded), lines(&extended.path()));
        let mut stream = Trace::open(&folded).unwrap().stream(Rank(0)).unwrap();
        while let Some(event) = stream.next_event().unwrap() {
            assert!(!matches!(event, Event::Annotation(_)), "{event:?}");
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
        for source in ["collectives.c", "vector_collectives.c", "nonblocking_collectives.c"] {
            let traced = extended_only(family, 4, source);
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
        for source in
            ["collectives.c", "vector_collectives.c", "in_place.c", "nonblocking_collectives.c", "background.c"]
        {
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

/// Collectives that are passed through are recorded and counted: between groups, persistent ones, neighbours'.
#[test]
fn what_is_not_carried_out_is_counted() {
    for family in Family::ALL {
        let opaque = |source: &str, ranks| {
            let trace = extended(family, ranks, source);
            check(&trace.path());
            Manifest::read(&trace.path()).unwrap().per_rank.into_iter().map(|entry| entry.opaque)
        };
        let counts = |calls: &[(&str, u64)]| calls.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        let between: BTreeMap<_, _> =
            counts(&[("MPI_Allgatherv", 1), ("MPI_Bcast", 1), ("MPI_Gather", 1), ("MPI_Ibarrier", 1)]);
        assert!(opaque("groups.c", 2).all(|opaque| opaque == between), "{family:?}");
        let persistent = |name: &String| name.ends_with("_init");
        assert!(
            opaque("persistent_collectives.c", 4).all(|opaque| opaque.keys().filter(|it| persistent(it)).count() == 6)
        );
        assert!(opaque("neighbors.c", 4).all(|opaque| opaque.get("MPI_Neighbor_alltoallw") == Some(&1)));
    }
}

/// Each rank of eight sends to and receives from the ranks at distances 1, 2 and 4: by dissemination to the one behind
/// (MPICH), by recursive doubling to the one whose number differs in a bit (Open MPI).
#[test]
fn a_barrier_is_the_messages_of_its_algorithm() {
    for family in Family::ALL {
        let recorded = recorded(&extended(family, 8, "barrier.c").path());
        assert_eq!(recorded.len(), 8);
        for Recorded { me, messages, .. } in recorded {
            let peers = |end| messages.iter().filter(move |it| it.end == end).map(|it| it.peer.0).collect::<Vec<_>>();
            let (to, from) = match family {
                Family::OpenMpi => ([1, 2, 4].map(|bit| me.0 ^ bit), [1, 2, 4].map(|bit| me.0 ^ bit)),
                Family::Mpich => ([1, 2, 4].map(|far| (me.0 + far) % 8), [7, 6, 4].map(|far| (me.0 + far) % 8)),
            };
            assert_eq!(
                (peers(MessageEnd::Sent), peers(MessageEnd::Received)),
                (to.to_vec(), from.to_vec()),
                "{family:?} {me:?}"
            );
            assert!(messages.iter().all(|message| message.bytes == Bytes(0)));
        }
    }
}

/// What Open MPI really sends in a blocking collective is what its schedule says. (Of an all-to-all in place, which a trace
/// does not tell from others, it sends the same in another order.)
#[test]
fn what_open_mpi_sends_is_observed() {
    let observe = [EXTENDED, ("TITRACE_COLLECTIVES", "observe")];
    for (source, ranks) in [("collectives.c", 4), ("vector_collectives.c", 4), ("barrier.c", 7), ("barrier.c", 8)] {
        let program = Family::OpenMpi.build(source, &["-pthread"]);
        let trace = traced_as(&observe, Family::OpenMpi, ranks, &program, &[], str::to_owned);
        check(&trace.path());
        nothing_is_opaque(&trace.path());
        let recorded = recorded(&trace.path());
        assert!(!recorded.is_empty());
        for recorded in recorded {
            let mut sent: Vec<End> = recorded.messages.iter().map(|it| (it.end, it.peer, it.bytes)).collect();
            let mut scheduled = scheduled(&like(Family::OpenMpi), &recorded);
            // Receives are posted before or after sends; of either kind the order is the schedule's, but for those of a
            // barrier from whoever comes first.
            let any = recorded.collective.kind == CollectiveKind::Barrier;
            for messages in [&mut sent, &mut scheduled] {
                messages.sort_by_key(|&(end, peer, _)| match end {
                    MessageEnd::Received => (false, if any { peer } else { Rank(0) }),
                    MessageEnd::Sent => (true, Rank(0)),
                });
            }
            assert_eq!(sent, scheduled, "{source} {:?} {:?}", recorded.me, recorded.collective);
        }
    }
}

/// MPICH hides what it sends: that is said, and the collectives are carried out.
#[test]
fn where_nothing_can_be_observed_it_is_carried_out() {
    let program = Family::Mpich.build("collectives.c", &["-pthread"]);
    let observe = [EXTENDED, ("TITRACE_COLLECTIVES", "observe")];
    let trace = traced_as(&observe, Family::Mpich, 4, &program, &[], str::to_owned);
    assert!(trace.run.stderr.contains("only Open MPI 4 shows the messages"), "{}", trace.run.stderr);
    assert!(recorded(&trace.path()).iter().all(|recorded| !recorded.messages.is_empty()));
    nothing_is_opaque(&trace.path());
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
    command.args(["-np", "1"]).arg(program).env("LD_PRELOAD", Family::OpenMpi.preload());
    let run = run(command.envs([EXTENDED, ("TITRACE_COLLECTIVES", "bcast=magic")]));
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("bcast has no algorithm `magic`; it has linear"), "{}", run.stderr);
}

//! `titr-reenact` under each MPI library: a program's trace, reenacted and traced again, has the program's events; a
//! trace that cannot be reenacted is rejected.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use titr_common::event::{Completed, Completion, Event, Group, Incoming, Rank, RequestId, Wildcard};
use titr_common::trace::Trace;
use titr_tests::{Family, Run, assert_sound, built, run, traced_only};

/// Programs whose calls can all be reenacted, with their number of ranks.
const PROGRAMS: [(&str, u32); 10] = [
    ("send_modes.c", 2),
    ("sendrecv.c", 4),
    ("probe.c", 2),
    ("persistent.c", 2),
    ("completion.c", 2),
    ("nonblocking.c", 2),
    ("collectives.c", 4),
    ("vector_collectives.c", 4),
    ("nonblocking_collectives.c", 4),
    ("in_place.c", 4),
];

/// Rank 0 takes any messages and got that of rank 2 first, on a communicator of the ranks in reverse order and a duplicate.
const WILDCARDS: &str = "\
0 init
0 comm_split 2 0 2,1,0
0 comm_dup 3 2 2,1,0
0 on 2 irecv * 9 4 6 0 any_source
0 matched 0 2 9
0 wait 2 0 9 0
0 on 2 irecv * 9 4 6 0 any_source
0 matched 0 1 9
0 wait 1 0 9 0
0 on 3 irecv * * 4 6 0 any
0 matched 0 1 8
0 wait 1 0 8 0
0 on 3 bcast 8 1
0 comm_free 3
0 comm_free 2
0 finalize
1 init
1 comm_split 2 0 2,1,0
1 comm_dup 3 2 2,1,0
1 on 2 send 0 9 4
1 on 3 send 0 8 4
1 on 3 bcast 8 1
1 comm_free 3
1 comm_free 2
1 finalize
2 init
2 comm_split 2 0 2,1,0
2 comm_dup 3 2 2,1,0
2 on 2 send 0 9 4
2 on 3 bcast 8 1
2 comm_free 3
2 comm_free 2
2 finalize
";

/// `mpirun` of the reenactment with the changes of a file if that is given, traced into `again` if that is given.
fn reenact(family: Family, ranks: u32, trace: &Path, changes: Option<&Path>, again: Option<&Path>) -> Run {
    let mut command: Command = family.mpirun();
    command.args(["-np", &ranks.to_string()]);
    if let Some(again) = again {
        command.arg(built("titrace")).arg("--dir").arg(again);
    }
    command.arg(built("titr-reenact")).args(["--compute", "ignored"]);
    if let Some(changes) = changes {
        command.arg("--what-if").arg(changes);
    }
    run(command.arg(trace))
}

/// Whose calls a trace has. A reenactment waits in `MPI_Probe` where the program's `MPI_Iprobe` found a message, and
/// repeats those in vain by `MPI_Iprobe`, which may find a message that had not come yet when the program asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Program,
    Reenactment,
}

/// Each rank's calls as a reenactment has to repeat them. Receives have the source and the tag that they got. How often a rank
/// asked in vain differs from run to run, and is left out. Requests that complete are only counted: a library gives all sends
/// that are done at once one handle, so the tracer cannot tell which of them a wait names. A message that the program cancelled is
/// exchanged with nobody, and left out.
fn calls(trace: &Path, by: By) -> Vec<Vec<String>> {
    let source = Trace::open(trace).unwrap();
    let calls_of = |rank| {
        let mut stream = source.stream(rank).unwrap();
        let mut calls = Vec::new();
        // Receives that the trace leaves open, by their requests.
        let mut open: Vec<(RequestId, usize, Event)> = Vec::new();
        let (mut started, mut cancelled) = (BTreeMap::new(), BTreeSet::new());
        while let Some(event) = stream.next_event().unwrap() {
            if let Event::Send(_, _, Completion::Request(Some(id))) | Event::Recv(_, Completion::Request(Some(id))) =
                event
            {
                started.insert(id, calls.len());
            }
            match event {
                Event::Cancel(id) if started.contains_key(&id) => {
                    calls[started[&id]] = String::new();
                    cancelled.insert(id);
                }
                Event::Compute(_) | Event::Sleep(_) | Event::Annotation(_) | Event::Mark(_) => {}
                Event::Test(_, None) | Event::Iprobe(_, false) => {}
                Event::Iprobe(_, true) if by == By::Reenactment => {}
                Event::Matched(request, from, tag) => {
                    let place = open.iter().position(|(id, ..)| *id == request).unwrap();
                    let (_, at, received) = open.remove(place);
                    if let Event::Recv(message, completion) = received {
                        let message = Incoming { from: Some(from), tag: Some(tag), ..message };
                        calls[at] = format!("{:?}", Event::Recv(message, completion));
                    }
                }
                Event::Recv(message, completion) => {
                    let event = Event::Recv(plain(message), completion);
                    if let Completion::Request(Some(id)) = completion
                        && message.is_open()
                    {
                        open.retain(|(other, ..)| *other != id);
                        open.push((id, calls.len(), event.clone()));
                    }
                    calls.push(format!("{event:?}"));
                }
                Event::Sendrecv(sent, received) => {
                    calls.push(format!("{:?}", Event::Sendrecv(sent, received.map(plain))));
                }
                Event::Probe(message) | Event::Iprobe(message, true) => {
                    calls.push(format!("{:?}", Event::Probe(plain(message))));
                }
                Event::Wait(_, completed) | Event::Test(_, Some(completed)) => {
                    let mut is_exchanged = |id: &RequestId| !cancelled.remove(id);
                    let requests = match completed {
                        Completed::Outstanding(count) => count.unwrap() as usize,
                        Completed::One(_, id) => usize::from(id.is_none_or(|id| is_exchanged(&id))),
                        Completed::These(ids) => ids.iter().filter(|id| is_exchanged(id)).count(),
                    };
                    calls.push(if requests > 0 { format!("{requests} requests complete") } else { String::new() });
                }
                // The type of the data is bytes.
                Event::Collective(call, completion) => {
                    let volumes = (&call.send, &call.recv);
                    calls.push(format!(
                        "{:?} on {:?}, root {:?}, {volumes:?}, {completion:?}",
                        call.kind, call.comm, call.root
                    ));
                }
                // Whichever call made it.
                Event::CommCreate(_, parent, group) => {
                    let group = group.map(|Group { id, members, .. }| (id, members));
                    calls.push(format!("communicator {group:?} of {parent:?}"));
                }
                other => calls.push(format!("{other:?}")),
            }
        }
        calls.retain(|call| !call.is_empty());
        calls
    };
    (0..source.ranks()).map(Rank).map(calls_of).collect()
}

/// A message without the wildcards that the program used.
fn plain(message: Incoming) -> Incoming {
    Incoming { wildcard: Wildcard::default(), ..message }
}

/// The reenactment of `trace` makes the calls in it.
#[track_caller]
fn assert_reenacted(family: Family, ranks: u32, trace: &Path, what: &str) {
    let directory = TempDir::new().unwrap();
    let again = directory.path().join("again");
    let reenacted = reenact(family, ranks, trace, None, Some(&again));
    assert_eq!(reenacted.status, Some(0), "{family:?} {what}: {}", reenacted.stderr);
    assert!(reenacted.stdout.contains("Reenacted time"), "{family:?} {what}: {}", reenacted.stdout);
    assert_sound(&again);
    for (rank, (calls, repeated)) in
        calls(trace, By::Program).into_iter().zip(calls(&again, By::Reenactment)).enumerate()
    {
        assert_eq!(repeated, calls, "{family:?} {what}: rank {rank}");
    }
}

/// The trace is refused: with one message on standard error, and exit status 1.
#[track_caller]
fn assert_refused(family: Family, ranks: u32, trace: &Path, reason: &str) {
    assert_refusal(family, &reenact(family, ranks, trace, None, None), reason);
}

#[track_caller]
fn assert_refusal(family: Family, refused: &Run, reason: &str) {
    let said = refused.stderr.lines().filter(|line| line.starts_with("titr-reenact:")).collect::<Vec<_>>();
    assert!(said.len() == 1 && refused.stderr.contains(reason), "{family:?}: {}", refused.stderr);
    assert_eq!((refused.status, refused.stdout.as_str()), (Some(1), ""), "{family:?}: {}", refused.stderr);
}

fn stream(trace: &Path, rank: u32) -> PathBuf {
    trace.join(format!("rank-{rank:06}.tit.gz"))
}

#[test]
fn a_reenactment_makes_the_calls_of_the_program() {
    for family in Family::ALL {
        for (source, ranks) in PROGRAMS {
            let original = traced_only(&[], family, ranks, &family.build(source, &[]));
            assert_reenacted(family, ranks, &original.path(), source);
        }
    }
}

#[test]
fn a_trace_of_one_library_is_reenacted_under_the_other() {
    let [first, second] = Family::ALL;
    for (traced, reenacting) in [(first, second), (second, first)] {
        let original = traced_only(&[], traced, 2, &traced.build("persistent.c", &[]));
        assert_reenacted(reenacting, 2, &original.path(), "persistent.c of the other library");
    }
}

#[test]
fn wildcards_get_what_the_program_got_whichever_comes_first() {
    let directory = TempDir::new().unwrap();
    let trace = directory.path().join("wildcards.txt");
    fs::write(&trace, WILDCARDS).unwrap();
    for family in Family::ALL {
        assert_reenacted(family, 3, &trace, "wildcards");
    }
}

/// Rank 0's messages are there before rank 1 posts the receives that it cancelled, one of them persistent. The send that it
/// cancelled has the tag of one that rank 0 received.
const CANCELLED: &str = "\
0 init
0 send 1 1 4
0 send 1 2 4
0 send 1 9 4
0 recv 1 3 8
0 finalize
1 init
1 recv 0 9 4
1 irecv 0 1 4 6 0
1 cancel 0
1 wait 0 1 1 0
1 recv 0 1 4
1 recv_init 0 2 4 0
1 start 0
1 cancel 0
1 wait 0 1 2 0
1 start 0
1 wait 0 1 2 0
1 request_free 0
1 isend 0 3 80 6 0
1 cancel 0
1 wait 1 0 3 0
1 send 0 3 8
1 finalize
";

/// Rank 1 had too little room in each kind of receive.
const TRUNCATED: &str = "\
0 init
0 send 1 1 40
0 send 1 2 40
0 sendrecv 1 3 40 1 3 4
0 send 1 4 100000
0 send 1 5 100000
0 send 1 6 40
0 barrier
0 finalize
1 init
1 recv 0 1 20
1 irecv 0 2 20 6 0
1 wait 0 1 2 0
1 sendrecv 0 3 4 0 3 20
1 irecv 0 4 20 6 0
1 irecv 0 5 100000 6 1
1 recv_init 0 6 20 2
1 start 2
1 waitall
1 request_free 2
1 barrier
1 finalize
";

#[test]
fn what_was_cancelled_gets_nothing_and_what_was_truncated_ends_nothing() {
    let directory = TempDir::new().unwrap();
    let trace = directory.path().join("trace.txt");
    for (what, text) in [("cancelled", CANCELLED), ("truncated", TRUNCATED)] {
        fs::write(&trace, text).unwrap();
        for family in Family::ALL {
            let reenacted = reenact(family, 2, &trace, None, None);
            assert_eq!(reenacted.status, Some(0), "{family:?} {what}: {}", reenacted.stderr);
        }
    }
}

#[test]
fn what_cannot_be_reenacted_is_refused_by_name() {
    let cases = [
        ("neighbors.c", 4, "a collective of neighbours"),
        ("one_sided.c", 4, "one-sided communication"),
        ("groups.c", 2, "IntercommCreate"),
        ("files.c", 2, "a call on a file"),
        ("wildcards.c", 3, "a persistent receive from any source or with any tag"),
    ];
    for family in Family::ALL {
        for (source, ranks, reason) in cases {
            let original = traced_only(&[], family, ranks, &family.build(source, &[]));
            assert_refused(family, ranks, &original.path(), &format!("{reason} cannot be reenacted"));
        }
    }
}

#[test]
fn a_trace_that_is_not_whole_or_not_of_this_world_is_refused() {
    for family in Family::ALL {
        let original = traced_only(&[], family, 4, &family.build("sendrecv.c", &[]));
        let trace = original.path();
        assert_refused(family, 3, &trace, "the trace has 4 ranks, and 3 processes were started");
        let torn = stream(&trace, 1);
        let text = fs::read(&torn).unwrap();
        fs::write(&torn, &text[..text.len() - 20]).unwrap();
        assert_refused(family, 4, &trace, "torn after line");
        fs::write(&torn, text).unwrap();
        fs::remove_file(stream(&trace, 2)).unwrap();
        assert_refused(family, 4, &trace, "the stream of rank 2 is missing");
    }
}

/// A program whose messages without content are removed by a hypothesis makes the calls of the program without them.
#[test]
fn a_changed_program_is_reenacted() {
    let directory = TempDir::new().unwrap();
    let [changes, again] = ["changes.toml", "again"].map(|name| directory.path().join(name));
    fs::write(&changes, "[[change]]\nkind = 'remove-messages'\nmax_bytes = 0\n").unwrap();
    for family in Family::ALL {
        let program = family.build("empty_messages.c", &[]);
        let [with, without] = ["3", "0"].map(|number| titr_tests::traced_with(&[], family, 2, &program, &[number]));
        let reenacted = reenact(family, 2, &with.path(), Some(&changes), Some(&again));
        assert_eq!(reenacted.status, Some(0), "{family:?}: {}", reenacted.stderr);
        assert_eq!(calls(&again, By::Reenactment), calls(&without.path(), By::Program), "{family:?}");
    }
}

#[test]
fn changes_of_the_machine_and_wrong_ones_are_refused() {
    let directory = TempDir::new().unwrap();
    let changes = directory.path().join("changes.toml");
    let cases = [
        ("[[change]]\nkind = 'ideal-network'\n", "cannot assume a network on which messages take no time"),
        ("[[change]]\nkind = 'scale-compute'\nfactor = 2\nregion = 'foo'\n", "changes.toml:4:10"),
    ];
    for family in Family::ALL {
        let original = traced_only(&[], family, 2, &family.build("persistent.c", &[]));
        for (text, reason) in cases {
            fs::write(&changes, text).unwrap();
            assert_refusal(family, &reenact(family, 2, &original.path(), Some(&changes), None), reason);
        }
    }
}

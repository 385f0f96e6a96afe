//! The messages of collectives in extended traces equal those of their schedules.

use titr_common::collectives::{Call, Selection, Step};
use titr_common::event::{Message, MessageEnd, Rank};
use titr_common::units::Bytes;
use titr_tests::{EXTENDED, Family, Recorded, extended, like, recorded, run, traced_as};

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

/// The tracer carries out the same messages in the same order as the replayer simulates.
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

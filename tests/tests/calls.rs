//! Each kind of MPI call, event by event: one program for each kind, one golden trace for both MPI libraries.

use std::collections::BTreeMap;
use std::path::Path;

use titr_common::event::{Completed, Completion, Event, Rank};
use titr_common::trace::{Manifest, Trace};
use titr_tests::{Family, Traced, assert_sound, binary, build, lines, replay, run, traced};

/// The trace that `program` leaves is the golden one called `name`, is consistent, and can be replayed.
fn check(name: &str, family: Family, ranks: u32, program: &Path, arguments: &[&str]) -> Traced {
    let trace = traced(family, ranks, program, arguments, str::to_owned);
    assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
    eprintln!("{name} as {} recorded it:", program.display());
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(name, lines(&trace.path())) });
    assert_sound(&trace.path());
    assert_eq!(replay("torus.toml", &trace.path())["ranks"], ranks);
    trace
}

macro_rules! programs {
    ($($name:ident: $ranks:literal;)*) => {$(
        #[test]
        fn $name() {
            for family in Family::ALL {
                let program = family.build(concat!(stringify!($name), ".c"), &[]);
                check(stringify!($name), family, $ranks, &program, &[]);
            }
        }
    )*};
}

programs! {
    send_modes: 2;
    nonblocking: 2;
    completion: 2;
    persistent: 2;
    persistent_buffered: 2;
    persistent_order: 4;
    probe: 2;
    matched: 3;
    sendrecv: 4;
    wildcards: 3;
    truncated: 2;
    null_peers: 4;
    collectives: 4;
    collective_errors: 3;
    vector_collectives: 4;
    nonblocking_collectives: 4;
    in_place: 4;
    communicators: 4;
    communicator_order: 4;
    datatypes: 2;
}

/// A library need not cancel a message that the program cancels. The trace has a `cancel` where it did, and the replay
/// delivers the message where it did not.
#[test]
fn cancelled() {
    for family in Family::ALL {
        let trace = traced(family, 2, &family.build("cancelled.c", &[]), &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        let lines = lines(&trace.path());
        let cancels = lines.lines().filter(|line| line.contains(" cancel ")).count();
        assert_eq!(cancels.to_string(), trace.run.stdout.trim(), "{family:?}: {lines}");
        assert_sound(&trace.path());
        assert_eq!(replay("torus.toml", &trace.path())["ranks"], 2);
    }
}

/// Collectives between two groups of one rank are recorded; a call that failed is not, and is counted.
#[test]
fn groups() {
    for family in Family::ALL {
        let program = family.build("groups.c", &[]);
        let trace = check("groups", family, 2, &program, &[]);
        let manifest = Manifest::read(&trace.path()).unwrap();
        for entry in &manifest.per_rank {
            assert_eq!(entry.untraced, [("MPI_Send".to_owned(), 1)].into(), "{family:?}");
            assert_eq!(entry.local.get("MPI_Wtime"), Some(&1), "{family:?}");
        }
        let info = run(binary("titr").arg("info").arg(trace.path()));
        assert!(info.stdout.contains("MPI_Send"), "{}", info.stdout);
    }
}

/// Threads that call MPI at the same time: every call is recorded once, as a call of its thread.
#[test]
fn threads() {
    for family in Family::ALL {
        let trace = traced(family, 2, &family.build("threads.c", &["-pthread"]), &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        let lines = lines(&trace.path());
        for rank in 0..2 {
            let peer = 1 - rank;
            let mut waits = 0;
            for tag in 0..4 {
                let of = |word| lines.lines().filter(move |line| line.contains(&format!(" {word} {peer} {tag} 4 ")));
                let mut threads: Vec<&str> = of("irecv")
                    .chain(of("isend"))
                    .filter_map(|line| line.split_once(' '))
                    .map(|(actor, _)| actor)
                    .filter(|actor| actor.starts_with(&format!("{rank}.")))
                    .collect();
                assert_eq!(threads.len(), 400, "{family:?}: rank {rank}, tag {tag}");
                threads.dedup();
                assert_eq!(threads.len(), 1, "{family:?}: rank {rank}, tag {tag}");
                // A thread that ended early may have left its number to a later one.
                waits += lines.lines().filter(|line| line.starts_with(&format!("{rank}.{} waitall", tag + 1))).count();
            }
            assert_eq!(waits, 800, "{family:?}");
        }
        let threads =
            Manifest::read(&trace.path()).unwrap().per_rank.iter().map(|rank| rank.threads).collect::<Vec<_>>();
        assert!(threads.iter().all(|threads| (2..=5).contains(threads)), "{family:?}: {threads:?}");
        replayed(family, &trace.path(), 1600);
    }
}

/// A thread blocks in a receive until another one of its rank sends, or in a send until it receives.
#[test]
fn threads_that_wait_for_each_other() {
    for family in Family::ALL {
        let trace = traced(family, 2, &family.build("thread_pair.c", &["-pthread"]), &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        replayed(family, &trace.path(), 200);
    }
}

/// Threads make communicators of the same members, of which a rank makes those of one thread before those of another, and
/// the next rank the other way round. Their ranks mean the same ones nevertheless.
#[test]
fn threads_that_make_communicators() {
    for family in Family::ALL {
        let program = family.build("communicator_threads.c", &["-pthread"]);
        let trace = traced(family, 2, &program, &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        let made = lines(&trace.path()).lines().filter(|line| line.contains(" comm_create_group ")).count();
        assert_eq!(made, 200, "{family:?}");
        assert_sound(&trace.path());
        assert_eq!(replay("torus.toml", &trace.path())["ranks"], 2, "{family:?}");
    }
}

/// A thread may get the handle of a message that another one is about to have received. Each receive is recorded nevertheless.
#[test]
fn threads_that_receive_what_they_found() {
    for family in Family::ALL {
        let program = family.build("message_threads.c", &["-pthread"]);
        let trace = traced(family, 2, &program, &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        assert_eq!(replay("torus.toml", &trace.path())["messages"], 8 * 5000, "{family:?}");
        assert_sound(&trace.path());
    }
}

/// A thread has its number from the beginning of its first call: a thread that begins and ends meanwhile has another one.
#[test]
fn a_thread_in_its_first_call_has_a_number() {
    for family in Family::ALL {
        let trace = traced(family, 2, &family.build("thread_numbers.c", &["-pthread"]), &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        let lines = lines(&trace.path());
        assert!(lines.contains("\n0.1 recv 1 1 4\n") && lines.contains("\n0.2 send 1 2 4\n"), "{family:?}: {lines}");
        replayed(family, &trace.path(), 3);
    }
}

/// The main thread frees communicators once the threads have ended that had persistent requests on them.
#[test]
fn communicators_freed_after_their_threads() {
    for family in Family::ALL {
        let program = family.build("thread_communicators.c", &["-pthread"]);
        let trace = traced(family, 2, &program, &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        assert_sound(&trace.path());
        assert_eq!(replay("torus.toml", &trace.path())["ranks"], 2, "{family:?}");
    }
}

/// What one thread does because of what another one did stands behind that: a request is waited for after it was made, and
/// every wait finds its own.
#[test]
fn requests_handed_from_thread_to_thread() {
    const ROUNDS: usize = 20_000;
    for family in Family::ALL {
        let trace = traced(family, 1, &family.build("handover.c", &["-pthread"]), &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        let mut stream = Trace::open(&trace.path()).unwrap().stream(Rank(0)).unwrap();
        let (mut received, mut matched, mut under_way) = (Vec::new(), 0, BTreeMap::new());
        let mut completed = 0;
        while let Some(event) = stream.next_event().unwrap() {
            match event {
                Event::Recv(message, Completion::Request(Some(id))) => {
                    received.push(message.tag.unwrap().0);
                    assert_eq!(under_way.insert(id, message.from.is_none()), None, "{family:?}: {id:?} is taken");
                }
                Event::Send(_, _, Completion::Request(Some(id))) => {
                    assert_eq!(under_way.insert(id, false), None, "{family:?}: {id:?} is taken");
                }
                Event::Matched(id, source, _) => {
                    assert_eq!((under_way.get(&id), source), (Some(&true), Rank(0)), "{family:?}");
                    matched += 1;
                }
                Event::Wait(_, Completed::One(_, Some(id))) => {
                    assert!(under_way.remove(&id).is_some(), "{family:?}");
                    completed += 1;
                }
                Event::Wait(_, Completed::These(ids)) => {
                    completed += ids.len();
                    assert!(ids.iter().all(|id| under_way.remove(id).is_some()), "{family:?}");
                }
                Event::Wait(_, Completed::Outstanding(_)) => {
                    completed += under_way.len();
                    under_way.clear();
                }
                _ => {}
            }
        }
        assert!(received.iter().enumerate().all(|(round, &tag)| tag == round as i32 % 100), "{family:?}");
        assert_eq!((received.len(), matched, completed), (ROUNDS, ROUNDS.div_ceil(3), 2 * ROUNDS), "{family:?}");
        let entry = Manifest::read(&trace.path()).unwrap().per_rank.remove(0);
        assert_eq!((entry.null_peer.len(), entry.untraced.len()), (0, 0), "{family:?}");
        replayed(family, &trace.path(), ROUNDS as u64);
    }
}

/// The trace is sound, and its replay comes to the end.
fn replayed(family: Family, trace: &Path, messages: u64) {
    assert_sound(trace);
    let report = replay("torus.toml", trace);
    assert_eq!(report["messages"], messages, "{family:?}");
    let left: Vec<_> = report["warnings"].as_array().unwrap().iter().filter_map(|warning| warning.as_str()).collect();
    assert!(!left.iter().any(|warning| warning.contains("never")), "{family:?}: {left:?}");
}

/// An MPI library that only a plugin sees, as where an interpreter loads it.
#[test]
fn hidden() {
    for family in Family::ALL {
        let plugin = family.build("hidden_plugin.c", &["-shared", "-fPIC"]);
        let host = build("cc", "hidden_host.c", &["-ldl"]);
        check("hidden", family, 2, &host, &[plugin.to_str().unwrap()]);
    }
}

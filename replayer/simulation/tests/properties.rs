//! Properties of every program whose calls match.

use proptest::prelude::*;
use titr_common::units::Bytes;
use titr_platform::{Mpi, Progress, Rendezvous};
use titr_test_machine::programs::{Happening, RANKS, blocking, happening, protocol, trace};
use titr_test_machine::{events, run};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Such a program comes to its end under every protocol, and all that is sent is received.
    #[test]
    fn it_ends_and_all_is_received(happenings in prop::collection::vec(happening(), 0..60), mpi in protocol()) {
        let trace = trace(&happenings);
        let outcome = run(events(RANKS, &trace), &mpi);
        let outcome = outcome.map_err(|error| TestCaseError::fail(format!("{error}\n{trace}")))?;
        prop_assert_eq!(outcome.warnings.as_slice(), [""; 0]);
        let is_message = |happening: &&Happening| matches!(happening, Happening::Message { .. });
        let sent = happenings.iter().filter(is_message).count() as u64;
        prop_assert!(outcome.messages >= sent);
        if !happenings.iter().any(|happening| matches!(happening, Happening::Collective(_))) {
            let bytes = |happening: &Happening| match happening {
                Happening::Message { bytes, .. } => u64::from(*bytes),
                _ => 0,
            };
            prop_assert_eq!(outcome.messages, sent);
            prop_assert_eq!(outcome.bytes, Bytes(happenings.iter().map(bytes).sum()));
        }
    }

    /// A rank's time is made of its parts, is no shorter than what it computes, and the last rank's is the program's.
    #[test]
    fn time_adds_up(happenings in prop::collection::vec(happening(), 0..60), mpi in protocol()) {
        let outcome = run(events(RANKS, &trace(&happenings)), &mpi).unwrap();
        let picoseconds = |seconds: f64| (seconds * 1e12).round() as u64;
        let mut last = 0;
        for (rank, share) in (0..).zip(outcome.observer.per_rank()) {
            let parts = [share.compute, share.send, share.recv, share.wait, share.collective];
            let finish = picoseconds(share.finish.0);
            prop_assert_eq!(parts.iter().map(|part| picoseconds(part.0)).sum::<u64>(), finish);
            let work = |happening: &Happening| match happening {
                Happening::Compute(of, work) if *of == rank => u64::from(*work) * 1000,
                _ => 0,
            };
            prop_assert_eq!(picoseconds(share.compute.0), happenings.iter().map(work).sum::<u64>());
            last = last.max(finish);
        }
        prop_assert_eq!(outcome.simulated_time.0, last);
    }

    /// The same program takes the same time, to the picosecond, at every rank.
    #[test]
    fn it_is_the_same_every_time(happenings in prop::collection::vec(happening(), 0..60), mpi in protocol()) {
        let trace = trace(&happenings);
        let shares = || run(events(RANKS, &trace), &mpi).unwrap().observer.per_rank().collect::<Vec<_>>();
        prop_assert_eq!(shares(), shares());
    }

    /// Faster processors never make a program of blocking calls slower where messages do not contend.
    #[test]
    fn less_work_takes_no_longer(happenings in prop::collection::vec(happening(), 0..60), mpi in protocol()) {
        let lighter: Vec<Happening> = happenings
            .iter()
            .map(|happening| match *happening {
                Happening::Compute(rank, work) => Happening::Compute(rank, work / 2),
                ref other => other.clone(),
            })
            .collect();
        let time = |happenings: &[Happening]| run(events(RANKS, &trace(happenings)), &mpi).unwrap().simulated_time;
        prop_assert!(time(&lighter) <= time(&happenings));
    }

    /// Who makes progress in calls only is never faster than who does in the background, where messages do not contend. Neither
    /// rendezvous is always the faster one: a rank that waits longer for one message is there to answer the next.
    #[test]
    fn progress_in_calls_takes_no_less_time(happenings in prop::collection::vec(happening(), 0..60), mpi in protocol()) {
        let program = events(RANKS, &trace(&happenings));
        let time = |progress, rendezvous| run(program.clone(), &Mpi { progress, rendezvous, ..mpi.clone() }).unwrap().simulated_time;
        let [thread, get, send] = [
            time(Progress::Thread, Rendezvous::ClearToSend),
            time(Progress::Calls, Rendezvous::Get),
            time(Progress::Calls, Rendezvous::ClearToSend),
        ];
        prop_assert!(thread <= get && thread <= send, "{thread:?} {get:?} {send:?}");
    }

    /// A program that only makes blocking calls takes the same time, whoever makes progress.
    #[test]
    fn who_makes_progress_matters_to_no_blocking_call(happenings in prop::collection::vec(happening(), 0..60), mpi in protocol()) {
        let program = events(RANKS, &trace(&happenings.iter().map(blocking).collect::<Vec<_>>()));
        let shares = |progress| run(program.clone(), &Mpi { progress, ..mpi.clone() }).unwrap().observer.per_rank().collect::<Vec<_>>();
        prop_assert_eq!(shares(Progress::Thread), shares(Progress::Calls));
    }
}

//! Properties of every program whose calls match.

use crate::support::machine::{events, mpi, run};
use proptest::prelude::*;
use titr_common::units::Bytes;
use titr_platform::{EagerTransfer, Mpi, Progress, Rendezvous};

/// Something that happens in a program, as one sees it who sees all ranks.
#[derive(Clone, Debug)]
pub enum Happening {
    Message {
        from: u32,
        to: u32,
        tag: u8,
        bytes: u16,
        call: &'static str,
        posted: bool,
        known: bool,
    },
    Compute(u32, u16),
    /// A rank completes all it has outstanding.
    Waitall(u32),
    Collective(&'static str),
}

pub const RANKS: u32 = 4;

const CALLS: [&str; 6] = ["send", "ssend", "bsend", "rsend", "isend", "issend"];
const COLLECTIVES: [&str; 6] =
    ["barrier", "bcast 5000 1", "allreduce 800 100", "alltoall 700 700", "gather 40 40 2", "comm_dup"];

pub fn happening() -> impl Strategy<Value = Happening> {
    let message =
        (0..RANKS, 1..RANKS, 0..3u8, 0..30_000u16, prop::sample::select(&CALLS[..]), any::<bool>(), any::<bool>())
            .prop_map(|(from, distance, tag, bytes, call, posted, known)| Happening::Message {
                from,
                to: (from + distance) % RANKS,
                tag,
                bytes,
                call,
                posted,
                known,
            });
    prop_oneof![
        8 => message,
        4 => (0..RANKS, any::<u16>()).prop_map(|(rank, work)| Happening::Compute(rank, work)),
        2 => (0..RANKS).prop_map(Happening::Waitall),
        1 => prop::sample::select(&COLLECTIVES[..]).prop_map(Happening::Collective),
    ]
}

/// The same with calls that return when all is done.
fn blocking(happening: &Happening) -> Happening {
    match happening.clone() {
        Happening::Message { from, to, tag, bytes, call, known, .. } => {
            let call = call.strip_prefix('i').unwrap_or(call).replace("bsend", "send");
            let call = CALLS.into_iter().find(|name| *name == call).unwrap();
            Happening::Message { from, to, tag, bytes, call, known, posted: false }
        }
        other => other,
    }
}

/// The text of the trace of a program in which all that happens is done in one order by all ranks: so none can wait for
/// another that waits for it.
pub fn trace(happenings: &[Happening]) -> String {
    let mut lines = Vec::new();
    let mut requests = [0; RANKS as usize];
    let mut request = |rank: u32| {
        requests[rank as usize] += 1;
        requests[rank as usize]
    };
    let mut communicators = 1;
    for happening in happenings {
        match *happening {
            Happening::Message { from, to, tag, bytes, call, posted, known } => {
                let number = if call.starts_with('i') { format!(" 6 {}", request(from)) } else { String::new() };
                lines.push(format!("{from} {call} {to} {tag} {bytes}{number}"));
                match (posted, known) {
                    (false, _) => lines.push(format!("{to} recv {from} {tag} {bytes}")),
                    (true, true) => lines.push(format!("{to} irecv {from} {tag} {bytes} 6 {}", request(to))),
                    (true, false) => {
                        let number = request(to);
                        lines.push(format!("{to} irecv * * {bytes} 6 {number}"));
                        lines.push(format!("{to} matched {number} {from} {tag}"));
                    }
                }
            }
            Happening::Compute(rank, work) => lines.push(format!("{rank} compute {work}")),
            Happening::Waitall(rank) => lines.push(format!("{rank} waitall")),
            Happening::Collective("comm_dup") => {
                communicators += 1;
                lines.extend((0..RANKS).map(|rank| format!("{rank} comm_dup {communicators} 0 0-{}", RANKS - 1)));
            }
            Happening::Collective(call) => lines.extend((0..RANKS).map(|rank| format!("{rank} {call}"))),
        }
    }
    lines.extend((0..RANKS).map(|rank| format!("{rank} waitall")));
    lines.join("\n")
}

pub fn protocol() -> impl Strategy<Value = Mpi> {
    (0..20_000u64, prop::bool::ANY).prop_map(|(threshold, on_match)| Mpi {
        eager_threshold: Bytes(threshold),
        eager_transfer: if on_match { EagerTransfer::OnMatch } else { EagerTransfer::AtOnce },
        ..mpi()
    })
}

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

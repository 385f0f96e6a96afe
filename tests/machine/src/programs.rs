//! Random programs whose calls match, and random MPI libraries.

use proptest::prelude::*;
use titr_common::units::{Bytes, Seconds};
use titr_platform::{EagerTransfer, Mpi, Overhead, OverheadStep, Progress, Rendezvous};

use crate::mpi;

/// Something that happens in a program, as one sees it who sees all ranks.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A message is sent and received.
    Message {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// Its tag.
        tag: u8,
        /// Its size.
        bytes: u16,
        /// The word of the call that sends it.
        call: &'static str,
        /// Whether the receive is posted and completed later.
        posted: bool,
        /// Whether the receive names its sender and tag.
        known: bool,
    },
    /// A rank executes instructions.
    Compute(u32, u16),
    /// A rank completes all it has outstanding.
    Waitall(u32),
    /// All ranks call a collective, with its arguments.
    Collective(&'static str),
}

/// The number of ranks of each program.
pub const RANKS: u32 = 4;

const CALLS: [&str; 6] = ["send", "ssend", "bsend", "rsend", "isend", "issend"];
const COLLECTIVES: [&str; 6] =
    ["barrier", "bcast 5000 1", "allreduce 800 100", "alltoall 700 700", "gather 40 40 2", "comm_dup"];

/// Any happening.
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

/// The happening with calls that return when all is done.
pub fn blocking(happening: &Happening) -> Happening {
    match happening.clone() {
        Happening::Message { from, to, tag, bytes, call, known, .. } => {
            let call = call.strip_prefix('i').unwrap_or(call).replace("bsend", "send");
            let call = CALLS.into_iter().find(|name| *name == call).unwrap();
            Happening::Message { from, to, tag, bytes, call, known, posted: false }
        }
        other => other,
    }
}

/// The text of the trace of a program. All ranks do all that happens in one order, so that none can wait for another that
/// waits for it.
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

/// Libraries with any eager threshold and transfer.
pub fn protocol() -> impl Strategy<Value = Mpi> {
    (0..20_000u64, prop::bool::ANY).prop_map(|(threshold, on_match)| Mpi {
        eager_threshold: Bytes(threshold),
        eager_transfer: if on_match { EagerTransfer::OnMatch } else { EagerTransfer::AtOnce },
        ..mpi()
    })
}

/// An overhead of so many seconds, whatever the size.
pub fn overhead(seconds: f64) -> Overhead {
    Overhead::new(vec![OverheadStep { above: Bytes(0), seconds: Seconds(seconds), seconds_per_byte: Seconds(0.0) }])
}

/// Libraries of each kind, with overheads or without.
pub fn library() -> impl Strategy<Value = Mpi> {
    let progress = prop::sample::select(vec![Progress::Thread, Progress::Calls]);
    let rendezvous = prop::sample::select(vec![Rendezvous::ClearToSend, Rendezvous::Get]);
    let overlap = prop::sample::select(vec![0.0, 0.4, 1.0]);
    (protocol(), progress, rendezvous, any::<bool>(), any::<bool>(), overlap).prop_map(
        |(mpi, progress, rendezvous, rendezvous_duplex, is_free, send_overlap)| {
            let overhead = |seconds| if is_free { Overhead::default() } else { overhead(seconds) };
            Mpi {
                progress,
                rendezvous,
                rendezvous_duplex,
                send_overhead: overhead(0.3e-6),
                isend_overhead: overhead(0.7e-6),
                send_overlap,
                recv_overhead: overhead(1.1e-6),
                ..mpi
            }
        },
    )
}

//! Random programs: their events, and the trace of a program with these events.

use proptest::prelude::*;

/// Something that all ranks of a program do, or some, while the others wait for their turn.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A message, by the calls that send and receive it.
    Message {
        from: u32,
        to: u32,
        comm: u32,
        tag: u8,
        bytes: u32,
        sent: &'static str,
        received: &'static str,
    },
    Compute(u32, u16),
    /// A rank completes the request that it has had for so long.
    Wait(u32, prop::sample::Index),
    Waitall(u32),
    Collective(u32, &'static str),
    /// Non-blocking collectives that are under way together.
    Background(Vec<(u32, &'static str)>),
}

pub const RANKS: u32 = 4;

/// Communicator 2 is a copy of the world, 3 is one of two halves, the first in another order than the world's.
const COMMUNICATORS: &str = "\
0 comm_dup 2 0 0-3\n1 comm_dup 2 0 0-3\n2 comm_dup 2 0 0-3\n3 comm_dup 2 0 0-3\n\
0 comm_split 3 0 2,0\n1 comm_split 3 0 1,3\n2 comm_split 3 0 2,0\n3 comm_split 3 0 1,3\n";

const SENT: [&str; 7] = ["send", "bsend", "isend", "ibsend", "issend", "send_init", "sendrecv"];
const RECEIVED: [&str; 5] = ["recv", "irecv", "wild", "recv_init", "sendrecv"];
/// On any communicator of four, and of two.
const COLLECTIVES: [(&str, &str); 8] = [
    ("barrier", "barrier"),
    ("bcast 30000 ROOT", "bcast 30000 ROOT"),
    ("allreduce 800 100 6 8", "allreduce 800 100 6 8"),
    ("alltoall 700 700", "alltoall 700 700"),
    ("reducescatter 8 16 24 8 50 6 8", "reducescatter 8 16 50 6 8"),
    ("reducescatter_block 80 50 6 8", "reducescatter_block 80 50 6 8"),
    ("allgatherv 10 10 10 10 10", "allgatherv 10 10 10"),
    ("alltoallw 4 1 1 1 1 4 1 1 1 1", "alltoallw 2 1 1 2 1 1"),
];

pub fn happening() -> impl Strategy<Value = Happening> {
    let message = (
        (0..RANKS, 1..RANKS, 0..4u32, 0..3u8),
        prop_oneof![0..9000u32, 9000..200_000u32],
        prop::sample::select(&SENT[..]),
        prop::sample::select(&RECEIVED[..]),
    );
    let message = message.prop_map(|((from, distance, comm, tag), bytes, sent, received)| {
        let to = (from + distance) % RANKS;
        let comm = match comm {
            0 | 1 => 0,
            3 if distance == 2 => 3,
            _ => 2,
        };
        Happening::Message { from, to, comm, tag, bytes, sent, received }
    });
    let collective = || {
        (prop::sample::select(&[0, 2, 3][..]), prop::sample::select(&COLLECTIVES[..]))
            .prop_map(|(comm, (of_four, of_two))| (comm, if comm == 3 { of_two } else { of_four }))
    };
    prop_oneof![
        8 => message,
        3 => (0..RANKS, any::<u16>()).prop_map(|(rank, work)| Happening::Compute(rank, work)),
        3 => (0..RANKS, any::<prop::sample::Index>()).prop_map(|(rank, which)| Happening::Wait(rank, which)),
        1 => (0..RANKS).prop_map(Happening::Waitall),
        2 => collective().prop_map(|(comm, call)| Happening::Collective(comm, call)),
        1 => prop::collection::vec(collective(), 1..4).prop_map(Happening::Background),
    ]
}

/// The lines of a program in which all that happens is done in one order by all ranks, so that none can wait for another
/// that waits for it.
#[derive(Default)]
pub struct Program {
    lines: String,
    requests: u32,
    /// What each rank has outstanding, and whether it is persistent.
    outstanding: [Vec<(u32, bool)>; RANKS as usize],
}

impl Program {
    pub fn of(happenings: &[Happening]) -> String {
        let mut this = Self { lines: COMMUNICATORS.into(), ..Self::default() };
        happenings.iter().for_each(|happening| this.happen(happening));
        (0..RANKS).for_each(|rank| this.complete(rank, 0..));
        this.lines
    }

    fn line(&mut self, line: &str) {
        self.lines += line;
        self.lines.push('\n');
    }

    fn request(&mut self, rank: u32, persistent: bool) -> u32 {
        self.requests += 1;
        self.outstanding[rank as usize].push((self.requests, persistent));
        self.requests
    }

    fn complete(&mut self, rank: u32, which: impl std::ops::RangeBounds<usize>) {
        let done: Vec<_> = self.outstanding[rank as usize].drain(which).collect();
        let list: Vec<String> = done.iter().map(|(id, _)| id.to_string()).collect();
        if !list.is_empty() {
            self.line(&format!("{rank} waitall_of {}", list.join(",")));
        }
        for (id, _) in done.iter().filter(|(_, persistent)| *persistent) {
            self.line(&format!("{rank} request_free {id}"));
        }
    }

    fn happen(&mut self, happening: &Happening) {
        match *happening {
            Happening::Message { from, to, comm, tag, bytes, sent, received } => {
                let on = |rank| if comm == 0 { format!("{rank}") } else { format!("{rank} on {comm}") };
                let message = |peer| format!("{peer} {tag} {bytes}");
                match sent {
                    "sendrecv" => self.line(&format!("{} sendrecv {} - - -", on(from), message(to))),
                    "send_init" => {
                        let id = self.request(from, true);
                        self.line(&format!("{} send_init {} {id}\n{from} start {id}", on(from), message(to)));
                    }
                    call if call.starts_with('i') => {
                        let id = self.request(from, false);
                        self.line(&format!("{} {call} {} 6 {id}", on(from), message(to)));
                    }
                    call => self.line(&format!("{} {call} {}", on(from), message(to))),
                }
                match received {
                    "sendrecv" => self.line(&format!("{} sendrecv - - - {}", on(to), message(from))),
                    "recv" => self.line(&format!("{} recv {}", on(to), message(from))),
                    "irecv" => {
                        let id = self.request(to, false);
                        self.line(&format!("{} irecv {} 6 {id}", on(to), message(from)));
                    }
                    "wild" => {
                        let id = self.request(to, false);
                        self.line(&format!("{} irecv * * {bytes} 6 {id}\n{to} matched {id} {from} {tag}", on(to)));
                    }
                    _ => {
                        let id = self.request(to, true);
                        self.line(&format!("{} recv_init {} {id}\n{to} start {id}", on(to), message(from)));
                    }
                }
            }
            Happening::Compute(rank, work) => self.line(&format!("{rank} compute {work}")),
            Happening::Wait(rank, which) => {
                let count = self.outstanding[rank as usize].len();
                if count > 0 {
                    let at = which.index(count);
                    self.complete(rank, at..=at);
                }
            }
            Happening::Waitall(rank) => self.complete(rank, 0..),
            Happening::Collective(comm, call) => {
                (0..RANKS).for_each(|rank| self.line(&format!("{rank} on {comm} {}", rooted(call, comm, rank))));
            }
            Happening::Background(ref all) => {
                for &(comm, call) in all {
                    for rank in 0..RANKS {
                        let id = self.request(rank, false);
                        let (word, volumes) = call.split_once(' ').unwrap_or((call, ""));
                        let volumes = rooted(volumes, comm, rank);
                        self.line(&format!("{rank} on {comm} i{word} {id} {volumes}"));
                    }
                }
                for rank in 0..RANKS {
                    let before = self.outstanding[rank as usize].len() - all.len();
                    self.complete(rank, before..);
                }
            }
        }
    }
}

/// A call with the rank of its root: one that is a member with `rank`.
fn rooted(call: &str, comm: u32, rank: u32) -> String {
    call.replace("ROOT", if comm == 3 && rank.is_multiple_of(2) { "2" } else { "1" })
}

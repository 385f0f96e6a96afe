//! Messages of real libraries (`tests/data/collectives/README.md`) against those of our schedules.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use titr_common::collectives::{Library, Member, Selection, Step, collective_named};
use titr_common::event::CollectiveKind;

use crate::definition::{Case, Kind};

const OPEN_MPI: &[u8] = include_bytes!("../data/collectives/open-mpi-4.1.4.txt.gz");
const LIBNBC: &[u8] = include_bytes!("../data/collectives/open-mpi-4.1.4-nonblocking.txt.gz");
const MPICH: &[u8] = include_bytes!("../data/collectives/mpich-4.0.2.txt.gz");
const SIMGRID: &[u8] = include_bytes!("../data/collectives/simgrid-3.32.txt.gz");

/// One recorded collective.
struct Recording {
    library: Library,
    collective: String,
    algorithm: String,
    case: Case,
    /// Messages and bytes from each sender to each receiver; empty where only calls were seen.
    pairs: BTreeMap<(Member, Member), (u64, u64)>,
    /// Each member's calls in order; empty where they were not seen.
    calls: BTreeMap<Member, Vec<String>>,
}

fn recordings(library: Library) -> Vec<Recording> {
    match library {
        Library::Mpich => recordings_in(library, MPICH),
        Library::OpenMpi | Library::OpenMpi40 | Library::OpenMpi50 => recordings_in(library, OPEN_MPI),
        Library::SimGrid | Library::SimGridOpenMpi => recordings_in(library, SIMGRID),
    }
}

fn recordings_in(library: Library, data: &[u8]) -> Vec<Recording> {
    let mut text = String::new();
    GzDecoder::new(data).read_to_string(&mut text).expect("a gzip file");
    let mut recordings: Vec<Recording> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |field: usize| fields[field].parse::<u64>().expect("a number");
        match fields[0] {
            "case" => recordings.push(Recording {
                library,
                collective: fields[1].to_owned(),
                algorithm: fields[2].to_owned(),
                case: Case {
                    size: number(3) as u32,
                    root: number(4) as Member,
                    element: number(5),
                    mode: collective_named(fields[1]).expect("a collective").1,
                    is_commutative: fields[6] == "yes",
                    nodes: None,
                    kind: kind(fields[1], fields[7]),
                },
                pairs: BTreeMap::new(),
                calls: BTreeMap::new(),
            }),
            "pair" => {
                let pair = (number(1) as Member, number(2) as Member);
                let last = recordings.last_mut().expect("a case before it");
                last.pairs.insert(pair, (number(3), number(4)));
            }
            _ => {
                let calls = fields[2].split_whitespace().map(str::to_owned).collect();
                let last = recordings.last_mut().expect("a case before it");
                last.calls.insert(number(1) as Member, calls);
            }
        }
    }
    recordings
}

fn kind(collective: &str, counts: &str) -> Kind {
    let count = || counts.parse::<u64>().expect("a number");
    let list = |counts: &str| -> Vec<u64> { counts.split(',').map(|it| it.parse().expect("a number")).collect() };
    let matrix = || counts.split(';').map(list).collect();
    match collective_named(collective).expect("a collective").0 {
        CollectiveKind::Barrier => Kind::Barrier,
        CollectiveKind::Bcast => Kind::Bcast(count()),
        CollectiveKind::Reduce => Kind::Reduce(count()),
        CollectiveKind::Allreduce => Kind::Allreduce(count()),
        CollectiveKind::Scan => Kind::Scan(count()),
        CollectiveKind::Exscan => Kind::Exscan(count()),
        CollectiveKind::ReduceScatter => Kind::ReduceScatter(list(counts)),
        CollectiveKind::ReduceScatterBlock => Kind::ReduceScatterBlock(count()),
        CollectiveKind::Gather => Kind::Gather(count()),
        CollectiveKind::Scatter => Kind::Scatter(count()),
        CollectiveKind::Allgather => Kind::Allgather(count()),
        CollectiveKind::Alltoall => Kind::Alltoall(count()),
        CollectiveKind::Gatherv => Kind::Gatherv(list(counts)),
        CollectiveKind::Scatterv => Kind::Scatterv(list(counts)),
        CollectiveKind::Allgatherv => Kind::Allgatherv(list(counts)),
        CollectiveKind::Alltoallv => Kind::Alltoallv(matrix()),
        CollectiveKind::Alltoallw => Kind::Alltoallw(matrix()),
    }
}

impl Recording {
    fn name(&self) -> String {
        let Self { collective, algorithm, case, .. } = self;
        format!("{collective} {algorithm} {} {:?}", case.size, case.kind)
    }

    fn steps(&self, me: Member) -> Vec<Step> {
        let mut selection = Selection::from(self.library);
        let forced = selection.force(&self.collective, &self.algorithm);
        forced.expect("the library's own name");
        self.case.with_call(me, |call| selection.steps(call))
    }
}

/// The calls that a library makes for a step: `Sendrecv` posts its receive first.
fn calls(step: Step) -> Vec<(char, Member, u64)> {
    match step {
        Step::Send { to, data } => vec![('S', to, data.len.0)],
        Step::Recv { from, data } => vec![('R', from, data.len.0)],
        Step::Isend { to, data } => vec![('s', to, data.len.0)],
        Step::Irecv { from, data } => vec![('r', from, data.len.0)],
        Step::Sendrecv { to, send, from, recv } => vec![('r', from, recv.len.0), ('S', to, send.len.0)],
        Step::Wait { .. } | Step::WaitAll | Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. } => {
            Vec::new()
        }
    }
}

/// Whether a call is the recorded one. A receive may have had more room than necessary, and any source.
fn is_recorded(recording: &Recording, (kind, peer, len): (char, Member, u64), recorded: &str) -> bool {
    let (head, room) = recorded.split_once(':').expect("a peer and bytes");
    let (recorded_kind, recorded_peer) = head.split_at(1);
    let blocks_unseen = match recording.library {
        // Where recursive halving only receives, Open MPI posts a non-blocking receive and waits for it at once.
        Library::OpenMpi | Library::OpenMpi40 | Library::OpenMpi50 => {
            recording.collective == "reduce_scatter" && kind == 'R'
        }
        Library::Mpich | Library::SimGrid | Library::SimGridOpenMpi => true,
    };
    let is_send = kind.eq_ignore_ascii_case(&'s');
    (recorded_kind.starts_with(kind) || (blocks_unseen && recorded_kind.starts_with(kind.to_ascii_lowercase())))
        && (recorded_peer == "-1" || recorded_peer == peer.to_string())
        && match room.parse::<u64>() {
            Ok(room) if is_send => len == room,
            Ok(room) => len <= room,
            Err(_) => room == "?",
        }
}

/// Checks the pairs of all recordings that have them; tells how many.
fn check_pairs(library: Library) -> usize {
    let mut with_pairs = recordings(library);
    with_pairs.retain(|recording| !recording.pairs.is_empty());
    for recording in &with_pairs {
        let mut pairs: BTreeMap<(Member, Member), (u64, u64)> = BTreeMap::new();
        for me in 0..recording.case.size {
            for (kind, peer, len) in recording.steps(me).into_iter().flat_map(calls) {
                if kind.eq_ignore_ascii_case(&'s') {
                    let (messages, bytes) = pairs.entry((me, peer)).or_default();
                    *messages += 1;
                    *bytes += len;
                }
            }
        }
        assert_eq!(pairs, recording.pairs, "{}", recording.name());
    }
    with_pairs.len()
}

/// Checks the calls of all recordings that have them; tells how many.
fn check_calls(library: Library) -> usize {
    let mut with_calls = recordings(library);
    with_calls.retain(|recording| !recording.calls.is_empty());
    for recording in &with_calls {
        for (&me, recorded) in &recording.calls {
            let ours: Vec<_> = recording.steps(me).into_iter().flat_map(calls).collect();
            let mut both = ours.iter().zip(recorded);
            let is_same = ours.len() == recorded.len() && both.all(|(&call, it)| is_recorded(recording, call, it));
            let name = recording.name();
            assert!(is_same, "{name}, member {me}: {ours:?} instead of {recorded:?}");
        }
    }
    with_calls.len()
}

#[test]
fn every_pair_of_members_exchanges_what_open_mpi_sent() {
    assert_eq!(check_pairs(Library::OpenMpi), 220);
}

#[test]
fn every_member_calls_in_the_order_in_which_open_mpi_did() {
    assert_eq!(check_calls(Library::OpenMpi), 959);
}

#[test]
fn every_member_calls_in_the_order_in_which_mpich_did() {
    assert_eq!(check_calls(Library::Mpich), 647);
}

#[test]
fn every_pair_of_members_exchanges_what_simgrid_sent() {
    assert_eq!(check_pairs(Library::SimGrid), 124);
}

/// For messages that start together in a round of `libnbc`, only the order of the sends and the order of the receives
/// are compared.
#[test]
fn every_member_starts_the_messages_that_libnbc_did() {
    let recordings = recordings_in(Library::OpenMpi, LIBNBC);
    let split = |calls: &[(bool, Member, u64)], is_send| -> Vec<(Member, u64)> {
        calls.iter().filter(|call| call.0 == is_send).map(|&(_, peer, len)| (peer, len)).collect()
    };
    let mut failures = Vec::new();
    for recording in &recordings {
        for (&me, recorded) in &recording.calls {
            let told = |call: &String| {
                let (head, len) = call.split_once(':').expect("a peer and bytes");
                let (kind, peer) = head.split_at(1);
                (kind == "s", peer.parse().expect("a member"), len.parse().expect("bytes"))
            };
            let recorded: Vec<(bool, Member, u64)> = recorded.iter().map(told).collect();
            let ours: Vec<_> = recording.steps(me).into_iter().flat_map(calls).collect();
            let ours: Vec<_> =
                ours.into_iter().map(|(kind, peer, len)| (kind.eq_ignore_ascii_case(&'s'), peer, len)).collect();
            for is_send in [true, false] {
                let (ours, theirs) = (split(&ours, is_send), split(&recorded, is_send));
                if ours != theirs {
                    failures
                        .push(format!("{}, member {me}, sends {is_send}: {ours:?} not {theirs:?}", recording.name()));
                }
            }
        }
    }
    assert_eq!(failures, [""; 0]);
    assert_eq!(recordings.len(), 1698);
}

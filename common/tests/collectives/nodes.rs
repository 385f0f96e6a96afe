//! The messages between hosts of collectives that know them.

use std::collections::BTreeMap;

use titr_common::collectives::{CallMode, Library, Member, NodeMap, Selection, Step, collective_named};
use titr_common::event::CollectiveKind;

use crate::definition::{Case, Kind};

/// The length of the message that a step sends, and its receiver.
fn sent(step: Step) -> Option<(Member, u64)> {
    match step {
        Step::Send { to, data } | Step::Isend { to, data } | Step::Sendrecv { to, send: data, .. } => {
            Some((to, data.len.0))
        }
        _ => None,
    }
}

/// MPICH's last broadcast in a barrier is of one byte; here it is empty.
#[test]
fn mpich_really_sends_these_messages() {
    let recorded = include_str!("../data/collectives/mpich-4.0.2-nodes.txt");
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let [nodes, size, count, root, bytes] =
            [0, 3, 4, 5, 6].map(|field: usize| fields[field].parse::<u64>().expect("a number"));
        let (collective, mode) = collective_named(fields[1]).expect("a collective");
        let kind = match collective {
            CollectiveKind::Barrier => Kind::Barrier,
            CollectiveKind::Bcast => Kind::Bcast(count),
            CollectiveKind::Reduce => Kind::Reduce(count),
            _ => Kind::Allreduce(count),
        };
        let (size, root, is_commutative) = (size as u32, root as Member, fields[2] == "yes");
        let nodes = NodeMap::of((0..size).map(|member| u64::from(member) % nodes));
        let case = Case { size, root, element: 1, mode, is_commutative, nodes, kind };
        let mpich = Selection::from(Library::Mpich);
        let of = |me| case.with_call(me, |call| mpich.steps(call)).into_iter().filter_map(sent);
        let messages: Vec<String> = (0..size).map(|me| of(me).count().to_string()).collect();
        assert_eq!(messages, fields[7..], "{line}");
        if collective != CollectiveKind::Barrier {
            assert_eq!((0..size).flat_map(of).map(|(_, len)| len).sum::<u64>(), bytes, "{line}");
        }
    }
}

/// `han` of Open MPI 4.1.4, which 5.0 has by default: each sender and receiver, the number of messages, and their bytes.
#[test]
fn open_mpi_really_sends_these_messages() {
    let recorded = include_str!("../data/collectives/open-mpi-4.1.4-han.txt");
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let hosts: Vec<&str> = fields[0].split(',').collect();
        let [count, root] = [2, 3].map(|field: usize| fields[field].parse::<u64>().expect("a number"));
        let (collective, mode) = collective_named(fields[1]).expect("a collective");
        let kind = match collective {
            CollectiveKind::Barrier => Kind::Barrier,
            CollectiveKind::Bcast => Kind::Bcast(count),
            CollectiveKind::Reduce => Kind::Reduce(count),
            CollectiveKind::Allreduce => Kind::Allreduce(count),
            CollectiveKind::Gather => Kind::Gather(count),
            CollectiveKind::Scatter => Kind::Scatter(count),
            _ => Kind::Allgather(count),
        };
        let (size, nodes) = (hosts.len() as u32, NodeMap::of(&hosts));
        let case = Case { size, root: root as Member, element: 4, mode, is_commutative: true, nodes, kind };
        let open_mpi = Selection::from(Library::OpenMpi50);
        let mut pairs = BTreeMap::new();
        for me in 0..size {
            for (to, len) in case.with_call(me, |call| open_mpi.steps(call)).into_iter().filter_map(sent) {
                let (messages, bytes) = pairs.entry((me, to)).or_insert((0, 0));
                *messages += 1;
                *bytes += len;
            }
        }
        let pairs = pairs.into_iter().map(|((from, to), (messages, bytes))| format!("{from}>{to}:{messages}:{bytes}"));
        assert_eq!(pairs.collect::<Vec<_>>(), fields[4..], "{line}");
    }
}

/// The messages that leave their host, with four of eight members on each of two hosts, and their bytes.
fn between_hosts(selection: &Selection, root: Member, mode: CallMode, kind: Kind) -> (usize, u64) {
    let host = |member: Member| member / 4;
    let nodes = NodeMap::of((0..8).map(host));
    let case = Case { size: 8, root, element: 1, mode, is_commutative: true, nodes, kind };
    let leaving = |me: Member| {
        let steps = case.with_call(me, |call| selection.steps(call)).into_iter();
        steps.filter_map(sent).filter(move |&(to, _)| host(to) != host(me)).map(|(_, len)| len)
    };
    let all: Vec<u64> = (0..8).flat_map(leaving).collect();
    (all.len(), all.iter().sum())
}

#[test]
fn mpich_sends_what_the_first_members_of_two_hosts_exchange() {
    let mpich = Selection::from(Library::Mpich);
    let blocking = |root, kind| between_hosts(&mpich, root, CallMode::Blocking, kind);
    assert_eq!(blocking(0, Kind::Barrier), (2, 0));
    for root in 0..8 {
        // Down the tree, and as a scatter and an allgather of two halves.
        assert_eq!(blocking(root, Kind::Bcast(8)), (1, 8));
        assert_eq!(blocking(root, Kind::Bcast(20_000)), (1, 20_000));
        assert_eq!(blocking(root, Kind::Reduce(8)), (1, 8));
        // Halves are exchanged, and one of them comes back to member 0.
        let to_root = if root < 4 { 0 } else { 1 };
        assert_eq!(blocking(root, Kind::Reduce(20_000)), (3 + to_root, 30_000 + 20_000 * to_root as u64));
        let nonblocking = |kind| between_hosts(&mpich, root, CallMode::Nonblocking, kind);
        assert_eq!(nonblocking(Kind::Bcast(1_000_000)), (1, 1_000_000));
        assert_eq!(nonblocking(Kind::Reduce(8)), (1, 8));
    }
    assert_eq!(blocking(0, Kind::Allreduce(8)), (2, 16));
    assert_eq!(blocking(0, Kind::Allreduce(20_000)), (4, 40_000));
    // Eight members exchange at a distance of four.
    assert_eq!(between_hosts(&mpich, 0, CallMode::Nonblocking, Kind::Allreduce(8)), (8, 64));
    assert_eq!(between_hosts(&mpich, 0, CallMode::Nonblocking, Kind::Barrier), (14, 0));
}

#[test]
fn a_name_chooses_whether_hosts_count() {
    let allreduce = |library: Library, algorithm: &str| {
        let mut selection = Selection::from(library);
        selection.force("allreduce", algorithm).expect("a name of all libraries");
        between_hosts(&selection, 0, CallMode::Blocking, Kind::Allreduce(8))
    };
    assert_eq!(allreduce(Library::Mpich, "recursive_doubling"), (8, 64));
    let mut halving = Selection::from(Library::Mpich);
    halving.force("allreduce", "reduce_scatter_allgather").expect("a name of all libraries");
    let elements = |count| between_hosts(&halving, 0, CallMode::Blocking, Kind::Allreduce(count));
    assert_eq!(elements(8), (16, 16)); // At a distance of four, one of eight elements.
    assert_eq!(elements(7), (8, 56)); // Fewer elements than members: recursive doubling.
    assert_eq!(allreduce(Library::OpenMpi, "default"), (8, 64));
    for library in [Library::Mpich, Library::OpenMpi] {
        assert_eq!(allreduce(library, "smp"), (2, 16), "{library:?}");
    }
}

#[test]
fn hosts_do_not_count_where_they_divide_nothing() {
    assert_eq!(NodeMap::of([7, 7, 7]), None);
    assert_eq!(NodeMap::of([3, 1, 2]), None);
    assert_eq!(NodeMap::of([0_u32; 0]), None);
    assert_eq!(NodeMap::of([5, 9, 5]), NodeMap::of(["a", "b", "a"]));
}

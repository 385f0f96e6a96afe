//! The result of every algorithm of every library: all small cases, and larger ones at random.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use titr_common::collectives::{Algorithm, Call, CallMode, Library, NodeMap, Selection};
use titr_common::event::{CollectiveKind, Extent, Volumes};
use titr_common::units::Bytes;

use crate::definition::{Case, Kind};

/// Every algorithm, and each library's choice (`None`).
fn algorithms() -> Vec<(CollectiveKind, Option<Algorithm>)> {
    let of = |collective: CollectiveKind| {
        let choices = std::iter::once(None).chain(Algorithm::all(collective).into_iter().map(Some));
        choices.map(move |algorithm| (collective, algorithm))
    };
    CollectiveKind::ALL.into_iter().flat_map(of).collect()
}

fn selection(library: Library, mode: CallMode, algorithm: Option<Algorithm>, segment: u64) -> Selection {
    let mut selection = Selection::from(library);
    if let Some(algorithm) = algorithm {
        let text = format!("{}{}={algorithm}:{segment}", mode.prefix(), algorithm.collective());
        selection.force_list(&text).expect("its own name");
    }
    selection
}

/// A case of a collective: `count` elements where there is one number, `counts(n)` for the n-th of several.
fn kind(collective: CollectiveKind, size: u32, count: u64, counts: impl Fn(u32) -> u64) -> Kind {
    let list = |from: u32| -> Vec<u64> { (0..size).map(|member| counts(from + member)).collect() };
    match collective {
        CollectiveKind::Barrier => Kind::Barrier,
        CollectiveKind::Bcast => Kind::Bcast(count),
        CollectiveKind::Reduce => Kind::Reduce(count),
        CollectiveKind::Allreduce => Kind::Allreduce(count),
        CollectiveKind::Scan => Kind::Scan(count),
        CollectiveKind::Exscan => Kind::Exscan(count),
        CollectiveKind::ReduceScatter => Kind::ReduceScatter(list(0)),
        CollectiveKind::ReduceScatterBlock => Kind::ReduceScatterBlock(count),
        CollectiveKind::Gather => Kind::Gather(count),
        CollectiveKind::Scatter => Kind::Scatter(count),
        CollectiveKind::Allgather => Kind::Allgather(count),
        CollectiveKind::Alltoall => Kind::Alltoall(count),
        CollectiveKind::Gatherv => Kind::Gatherv(list(0)),
        CollectiveKind::Scatterv => Kind::Scatterv(list(0)),
        CollectiveKind::Allgatherv => Kind::Allgatherv(list(0)),
        CollectiveKind::Alltoallv => Kind::Alltoallv((0..size).map(|row| list(row * size)).collect()),
        CollectiveKind::Alltoallw => Kind::Alltoallw((0..size).map(|row| list(row * size)).collect()),
    }
}

/// Whether the order of operands matters.
fn reduces(collective: CollectiveKind) -> bool {
    collective.signature().reduces
}

/// Members on hosts of their own; on hosts of three each; and dealt out to two hosts.
fn nodes(collective: CollectiveKind, size: u32) -> Vec<Option<NodeMap>> {
    let mut all = vec![None];
    if NodeMap::matters_to(collective) {
        let some = [NodeMap::of((0..size).map(|member| member / 3)), NodeMap::of((0..size).map(|member| member % 2))];
        all.extend(some.into_iter().filter(Option::is_some));
    }
    all
}

#[test]
fn all_small_cases_end_as_defined() {
    let mut failures = Vec::new();
    for (collective, algorithm) in algorithms() {
        for (library, mode) in Library::ALL.iter().flat_map(|&library| CallMode::ALL.map(|mode| (library, mode))) {
            let selection = selection(library, mode, algorithm, 0);
            for size in (1..=9).chain([12, 13]) {
                for count in [0, 1, 3, 17] {
                    let orders = [true, false].into_iter().filter(|it| *it || reduces(collective));
                    for (is_commutative, nodes) in
                        orders.flat_map(|order| nodes(collective, size).into_iter().map(move |nodes| (order, nodes)))
                    {
                        let case = Case {
                            size,
                            root: size / 3 * 2,
                            element: 1,
                            mode,
                            is_commutative,
                            nodes,
                            kind: kind(collective, size, count, |n| u64::from(n + 1) * 7 % (count + 1)),
                        };
                        let result = catch_unwind(AssertUnwindSafe(|| case.check(&selection)));
                        if let Err(why) = result.unwrap_or_else(|_| Err("panic".to_owned())) {
                            failures.push(format!("{algorithm:?} {library:?} {case:?}: {why}"));
                        }
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures, the first: {}", failures.len(), failures[0]);
}

prop_compose! {
    fn any_case()(
        (collective, algorithm) in prop::sample::select(algorithms()),
        size in 1_u32..40,
    )(
        collective in Just(collective),
        algorithm in Just(algorithm),
        library in prop::sample::select(Library::ALL),
        mode in prop::sample::select(&CallMode::ALL[..]),
        size in Just(size),
        root in 0..size,
        element in 1_u64..4,
        is_commutative in any::<bool>(),
        hosts in prop::option::of(prop::collection::vec(0_u32..6, size as usize)),
        segment in 0_u64..20,
        count in 0_u64..70,
        counts in prop::collection::vec(prop_oneof![Just(0), 0_u64..9], (size * size) as usize),
    ) -> (Selection, Case) {
        let kind = kind(collective, size, count, |n| counts[n as usize]);
        let nodes = hosts.and_then(NodeMap::of);
        (selection(library, mode, algorithm, segment), Case { size, root, element, mode, is_commutative, nodes, kind })
    }
}

fn strange_volumes() -> impl Strategy<Value = (Bytes, Vec<Bytes>)> {
    let volume = || prop_oneof![0_u64..100, any::<u64>()].prop_map(Bytes);
    (volume(), prop::collection::vec(volume(), 0..20))
}

/// Equal volumes in any form, in any argument of a collective.
fn strange(extent: Extent, volume: Bytes, list: &[Bytes]) -> Volumes {
    match extent {
        Extent::None => Volumes::None,
        Extent::Each => Volumes::Each(volume),
        Extent::PerMember => Volumes::PerMember(list.to_vec()),
    }
}

proptest! {
    #[test]
    fn any_case_ends_as_defined((selection, case) in any_case()) {
        prop_assert_eq!(case.check(&selection), Ok(()));
    }

    /// Any trace gets a result, even with lists of a wrong length or with impossible volumes.
    #[test]
    fn no_volumes_are_too_strange(
        (collective, algorithm) in prop::sample::select(algorithms()),
        library in prop::sample::select(Library::ALL),
        mode in prop::sample::select(&CallMode::ALL[..]),
        (me, size, root) in (0_u32..20, 0_u32..20, 0_u32..20),
        hosts in prop::collection::vec(0_u32..4, 0..20),
        element in prop_oneof![0_u64..10, any::<u64>()],
        segment in prop_oneof![Just(0), any::<u64>()],
        (volume, volumes) in strange_volumes(),
    ) {
        let signature = collective.signature();
        let (kind, element, is_commutative) = (collective, Bytes(element), true);
        let other = volumes.first().copied().unwrap_or_default();
        let send = &strange(signature.send, volume, &volumes);
        let recv = &strange(signature.recv, if send.each() == volume { other } else { volume }, &volumes);
        let nodes = &NodeMap::of(hosts);
        let call = Call { me, size, root, kind, send, recv, element, mode, is_commutative, nodes: nodes.as_ref() };
        let _ = selection(library, mode, algorithm, segment).steps(&call);
    }
}

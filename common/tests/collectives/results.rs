//! The result of every algorithm of every library, for small cases all of them and for larger ones at random.

use std::panic::{AssertUnwindSafe, catch_unwind};

use titr_common::collectives::{Algorithm, Collective, Library, Selection};

use crate::definition::{Case, Kind};

fn forced(library: Library, algorithm: Algorithm, segment: u64) -> Selection {
    let mut selection = Selection::from(library);
    let name = match segment {
        0 => algorithm.name().to_owned(),
        _ => format!("{algorithm}:{segment}"),
    };
    selection
        .force(algorithm.collective().name(), &name)
        .expect("its own name");
    selection
}

/// A case of a collective: `count` elements where there is one number, `counts(n)` for the n-th of several.
fn kind(collective: Collective, size: u32, count: u64, counts: impl Fn(u32) -> u64) -> Kind {
    let list = |from: u32| -> Vec<u64> { (0..size).map(|member| counts(from + member)).collect() };
    match collective {
        Collective::Barrier => Kind::Barrier,
        Collective::Bcast => Kind::Bcast(count),
        Collective::Reduce => Kind::Reduce(count),
        Collective::Allreduce => Kind::Allreduce(count),
        Collective::Scan => Kind::Scan(count),
        Collective::Exscan => Kind::Exscan(count),
        Collective::ReduceScatter => Kind::ReduceScatter(list(0)),
        Collective::ReduceScatterBlock => Kind::ReduceScatterBlock(count),
        Collective::Gather => Kind::Gather(count),
        Collective::Scatter => Kind::Scatter(count),
        Collective::Allgather => Kind::Allgather(count),
        Collective::Alltoall => Kind::Alltoall(count),
        Collective::Gatherv => Kind::Gatherv(list(0)),
        Collective::Scatterv => Kind::Scatterv(list(0)),
        Collective::Allgatherv => Kind::Allgatherv(list(0)),
        Collective::Alltoallv => Kind::Alltoallv((0..size).map(|row| list(row * size)).collect()),
        Collective::Alltoallw => Kind::Alltoallw((0..size).map(|row| list(row * size)).collect()),
    }
}

/// Every algorithm, and each library's choice (`None`).
fn algorithms(collective: Collective) -> impl Iterator<Item = Option<Algorithm>> {
    std::iter::once(None).chain(collective.algorithms().into_iter().map(Some))
}

fn selection(library: Library, algorithm: Option<Algorithm>, segment: u64) -> Selection {
    algorithm.map_or_else(
        || Selection::from(library),
        |algorithm| forced(library, algorithm, segment),
    )
}

#[test]
fn all_small_cases_end_as_defined() {
    let mut failures = Vec::new();
    for &collective in Collective::ALL {
        for algorithm in algorithms(collective) {
            for &library in Library::ALL {
                for size in (1..=13).chain([16, 17]) {
                    for count in [0, 1, 2, 5, 19] {
                        for is_commutative in [true, false] {
                            let case = Case {
                                size,
                                root: size / 3 * 2,
                                element: 2,
                                is_commutative,
                                kind: kind(collective, size, count, |n| u64::from(n + 1) * 7 % (count + 1)),
                            };
                            let selection = selection(library, algorithm, 0);
                            let result = catch_unwind(AssertUnwindSafe(|| case.check(&selection)));
                            let result = result.unwrap_or_else(|_| Err("panic".to_owned()));
                            if let Err(why) = result {
                                failures.push(format!("{collective} {algorithm:?} {library:?} {case:?}: {why}"));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures, the first: {}",
        failures.len(),
        failures[0]
    );
}

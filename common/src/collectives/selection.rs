//! The choice of an algorithm for each collective: by a library's rules, or by name.

use std::collections::BTreeMap;

use super::algorithms::{Algorithm, Choice};
use super::call::{Call, CallMode};
use super::library::{Library, collective_named};
use super::rules::{Condition, Rule, SiteRules};
use crate::event::CollectiveKind;
use crate::units::Bytes;

/// The choice of an algorithm for each collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The library whose rules choose.
    pub library: Library,
    /// In order: the first that holds decides, before the library's rules.
    forced: BTreeMap<(CollectiveKind, CallMode), Vec<Rule>>,
}

/// A text that names no algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownAlgorithm {
    /// The text is not of the form `collective=algorithm`.
    #[error("`{0}` is not of the form collective=algorithm")]
    Form(String),
    /// There is no collective of this name.
    #[error("there is no collective `{0}`; there are {list}, and with an `i` before the name those that do not block", list = listed(CollectiveKind::ALL.iter().map(|it| it.name())))]
    Collective(String),
    /// The collective has no algorithm of this name.
    #[error("{0} has no algorithm `{1}`; it has {list}", list = listed(Algorithm::all(*.0).iter().map(|it| it.name())))]
    Algorithm(CollectiveKind, String),
    /// The text behind the algorithm's name is not a number of bytes.
    #[error("`{0}` is not a number of bytes")]
    Segment(String),
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

impl From<Library> for Selection {
    fn from(library: Library) -> Self {
        Self { library, forced: BTreeMap::new() }
    }
}

impl Selection {
    /// Forces algorithms by name: `bcast=binomial,allreduce=ring`; for non-blocking and persistent collectives,
    /// `ibcast=chain`; with a segment size in bytes, `bcast=pipeline:65536`. `default` restores the library's rules.
    pub fn force_list(&mut self, list: &str) -> Result<(), UnknownAlgorithm> {
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let Some((collective, algorithm)) = item.split_once('=') else {
                return Err(UnknownAlgorithm::Form(item.to_owned()));
            };
            self.force(collective, algorithm)?;
        }
        Ok(())
    }

    /// Forces one algorithm by name, as [`Selection::force_list`] does.
    pub fn force(&mut self, collective: &str, algorithm: &str) -> Result<(), UnknownAlgorithm> {
        self.force_by_size(collective, [(Bytes(0), algorithm)])
    }

    /// Forces algorithms by name, each for calls from a size on: of the data of a member, or for each member where that
    /// differs.
    pub fn force_by_size<'a>(
        &mut self,
        collective: &str,
        algorithms: impl IntoIterator<Item = (Bytes, &'a str)>,
    ) -> Result<(), UnknownAlgorithm> {
        let (kind, mode) =
            collective_named(collective).ok_or_else(|| UnknownAlgorithm::Collective(collective.trim().to_owned()))?;
        let step = |(from, algorithm)| Ok((from, self.choice(kind, mode, algorithm)?));
        let steps: BTreeMap<Bytes, _> = algorithms.into_iter().map(step).collect::<Result<_, _>>()?;
        let rule = |(from, choice): (Bytes, _)| Rule { conditions: vec![Condition::Bytes(from.0..=u64::MAX)], choice };
        self.forced.insert((kind, mode), steps.into_iter().rev().map(rule).collect());
        Ok(())
    }

    /// Follows the rules of a site, and where these say nothing, those of the library.
    pub fn follow(&mut self, site: SiteRules) {
        for (kind, mode, mut rule) in site.rules {
            // The costly condition is the last.
            rule.conditions.push(Condition::IsNotComposedBy(self.library));
            self.forced.entry((kind, mode)).or_default().push(rule);
        }
    }

    /// The choice of a name; `None`: the library's rules.
    fn choice(
        &self,
        collective: CollectiveKind,
        mode: CallMode,
        algorithm: &str,
    ) -> Result<Option<Choice>, UnknownAlgorithm> {
        if algorithm.trim() == "default" {
            return Ok(None);
        }
        let (name, segment) = match algorithm.split_once(':') {
            Some((name, segment)) => (name, Some(segment.trim())),
            None => (algorithm, None),
        };
        let algorithm = self
            .library
            .algorithm_named(mode, collective, name)
            .ok_or_else(|| UnknownAlgorithm::Algorithm(collective, name.trim().to_owned()))?;
        let mut choice = Choice::forced(algorithm);
        if let Some(segment) = segment {
            choice.segment = segment.parse().map_err(|_| UnknownAlgorithm::Segment(segment.to_owned()))?;
        }
        Ok(Some(choice))
    }

    /// The choices that were forced by name.
    pub fn forced(&self) -> impl Iterator<Item = Choice> {
        self.forced.values().flatten().filter_map(|rule| rule.choice)
    }

    /// Whether the algorithm of a call may depend on the nodes of its members.
    pub(crate) fn knows_nodes(&self) -> bool {
        matches!(self.library, Library::Mpich | Library::OpenMpi50)
            || self.forced().any(|choice| choice.algorithm.knows_nodes())
    }

    /// The algorithm of a call: the forced or else the library's one, or a substitute if that is impossible.
    pub fn choose(&self, call: &Call) -> Choice {
        let rules = self.forced.get(&(call.kind, call.mode)).map_or(&[][..], Vec::as_slice);
        match rules.iter().find(|rule| rule.holds(call)).and_then(|rule| rule.choice) {
            Some(forced) => self.library.possible(forced, call),
            None => self.library.choose(call),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Volumes;
    use crate::units::Bytes;

    /// The algorithm of a broadcast.
    fn chosen(selection: &Selection, size: u32, bytes: u64) -> String {
        let (kind, send, recv) = (CollectiveKind::Bcast, &Volumes::Each(Bytes(bytes)), &Volumes::None);
        let call = Call {
            me: 0,
            size,
            root: 0,
            kind,
            send,
            recv,
            element: Bytes(8),
            mode: CallMode::Blocking,
            is_commutative: true,
            nodes: None,
        };
        let choice = selection.choose(&call);
        selection.library.name_of(call.mode, choice.algorithm).to_owned()
    }

    #[test]
    fn mpich_switches_at_its_thresholds() {
        let mpich = Selection::from(Library::Mpich);
        for (size, bytes, expected) in [
            (7, 1 << 20, "binomial"),
            (8, 12_288, "binomial"),
            (8, 12_289, "scatter_allgather"),
            (8, 524_288, "scatter_allgather"),
            (8, 524_289, "scatter_allgather_ring"),
            (9, 12_289, "scatter_allgather_ring"),
        ] {
            assert_eq!(chosen(&mpich, size, bytes), expected, "{size} {bytes}");
        }
    }

    #[test]
    fn open_mpi_switches_at_its_thresholds() {
        let openmpi = Selection::from(Library::OpenMpi);
        for (size, bytes, expected) in [
            (3, 31, "pipeline"),
            (3, 32, "binary_tree"),
            (4, 63, "binary_tree"),
            (4, 64, "binomial"),
            (4096, 8191, "knomial"),
            (4096, 262_144, "scatter_allgather"),
        ] {
            assert_eq!(chosen(&openmpi, size, bytes), expected, "{size} {bytes}");
        }
    }

    #[test]
    fn a_forced_algorithm_is_taken_where_it_is_possible() {
        let mut selection = Selection::from(Library::OpenMpi);
        assert_eq!(selection.force_list("bcast=scatter_allgather, allreduce = ring,"), Ok(()));
        assert_eq!(chosen(&selection, 8, 64), "scatter_allgather");
        assert_eq!(chosen(&selection, 9, 64), "linear"); // Fewer elements than members.
        assert_eq!(selection.force("bcast", "default"), Ok(()));
        assert_eq!(chosen(&selection, 8, 64), "knomial");
        let forced: Vec<_> = selection.forced().map(|choice| choice.to_string()).collect();
        assert_eq!(forced, ["ring"]);
    }

    #[test]
    fn a_mistake_is_explained() {
        let mut selection = Selection::from(Library::Mpich);
        let mut explain = |list: &str| selection.force_list(list).expect_err("a mistake").to_string();
        insta::assert_snapshot!(explain("bcast"), @"`bcast` is not of the form collective=algorithm");
        insta::assert_snapshot!(explain("scan=bogus"), @"scan has no algorithm `bogus`; it has linear, linear_nb, recursive_doubling");
        insta::assert_snapshot!(explain("broadcast=linear"), @"there is no collective `broadcast`; there are barrier, bcast, reduce, allreduce, scan, exscan, reduce_scatter, reduce_scatter_block, gather, scatter, allgather, alltoall, gatherv, scatterv, allgatherv, alltoallv, alltoallw, and with an `i` before the name those that do not block");
        insta::assert_snapshot!(explain("bcast=pipeline:64KX"), @"`64KX` is not a number of bytes");
    }
}

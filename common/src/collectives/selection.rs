//! The choice of an algorithm for each collective: by a library's rules, or by name.

use std::collections::BTreeMap;

use super::algorithms::{Algorithm, Choice};
use super::call::{Call, CallMode};
use super::library::{Library, collective_named};
use crate::event::CollectiveKind;

/// The choice of an algorithm for each collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The library whose rules choose.
    pub library: Library,
    forced: BTreeMap<(CollectiveKind, CallMode), Choice>,
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
    ///
    /// # Errors
    /// If the list contains an unknown name.
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
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn force(&mut self, collective: &str, algorithm: &str) -> Result<(), UnknownAlgorithm> {
        let (collective, mode) =
            collective_named(collective).ok_or_else(|| UnknownAlgorithm::Collective(collective.trim().to_owned()))?;
        if algorithm.trim() == "default" {
            self.forced.remove(&(collective, mode));
            return Ok(());
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
        self.forced.insert((collective, mode), choice);
        Ok(())
    }

    /// The choices that were forced by name.
    pub fn forced(&self) -> impl Iterator<Item = Choice> {
        self.forced.values().copied()
    }

    /// The algorithm of a call: the forced or else the library's one, or a substitute if that is impossible.
    #[must_use]
    pub fn choose(&self, call: &Call) -> Choice {
        match self.forced.get(&(call.kind, call.mode)) {
            Some(&forced) => self.library.possible(forced, call),
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

//! The required result of each collective, directly from its definition in the MPI standard (MPI 4.0, chapter 6).

use titr_common::collectives::{Call, CallMode, Member, NodeMap, Selection};
use titr_common::event::{CollectiveKind, Volumes};
use titr_common::units::Bytes;

use crate::machine::{Program, Word, run};

/// One collective with volumes for all members.
#[derive(Clone, Debug)]
pub struct Case {
    pub size: u32,
    pub root: Member,
    pub element: u64,
    pub mode: CallMode,
    pub is_commutative: bool,
    /// The nodes that the members are on.
    pub nodes: Option<NodeMap>,
    pub kind: Kind,
}

/// A collective and its numbers of elements; `counts` has one for each member, `matrix` a row for each sender.
#[derive(Clone, Debug)]
pub enum Kind {
    Barrier,
    Bcast(u64),
    Reduce(u64),
    Allreduce(u64),
    Scan(u64),
    Exscan(u64),
    ReduceScatter(Vec<u64>),
    ReduceScatterBlock(u64),
    Gather(u64),
    Scatter(u64),
    Allgather(u64),
    Alltoall(u64),
    Gatherv(Vec<u64>),
    Scatterv(Vec<u64>),
    Allgatherv(Vec<u64>),
    Alltoallv(Vec<Vec<u64>>),
    Alltoallw(Vec<Vec<u64>>),
}

impl Case {
    /// The collective, and the bytes that the member passes for what it gives and gets.
    pub fn volumes(&self, me: Member) -> (CollectiveKind, Volumes, Volumes) {
        let bytes = |count: u64| Bytes(count * self.element);
        let each = |count: u64| Volumes::Each(bytes(count));
        let list = |counts: &[u64]| Volumes::PerMember(counts.iter().map(|&count| bytes(count)).collect());
        let at_root = |count: u64| each(if me == self.root { count } else { 0 });
        let list_at_root = |counts: &[u64]| list(if me == self.root { counts } else { &[] });
        let column = |matrix: &[Vec<u64>]| list(&matrix.iter().map(|row| row[me as usize]).collect::<Vec<_>>());
        let none = Volumes::None;
        match &self.kind {
            Kind::Barrier => (CollectiveKind::Barrier, none.clone(), none),
            Kind::Bcast(n) => (CollectiveKind::Bcast, each(*n), none),
            Kind::Reduce(n) => (CollectiveKind::Reduce, each(*n), none),
            Kind::Allreduce(n) => (CollectiveKind::Allreduce, each(*n), none),
            Kind::Scan(n) => (CollectiveKind::Scan, each(*n), none),
            Kind::Exscan(n) => (CollectiveKind::Exscan, each(*n), none),
            Kind::ReduceScatter(counts) => (CollectiveKind::ReduceScatter, none, list(counts)),
            Kind::ReduceScatterBlock(n) => (CollectiveKind::ReduceScatterBlock, none, each(*n)),
            Kind::Gather(n) => (CollectiveKind::Gather, each(*n), at_root(*n)),
            Kind::Scatter(n) => (CollectiveKind::Scatter, at_root(*n), each(*n)),
            Kind::Allgather(n) => (CollectiveKind::Allgather, each(*n), each(*n)),
            Kind::Alltoall(n) => (CollectiveKind::Alltoall, each(*n), each(*n)),
            Kind::Gatherv(counts) => (CollectiveKind::Gatherv, each(counts[me as usize]), list_at_root(counts)),
            Kind::Scatterv(counts) => (CollectiveKind::Scatterv, list_at_root(counts), each(counts[me as usize])),
            Kind::Allgatherv(counts) => (CollectiveKind::Allgatherv, each(counts[me as usize]), list(counts)),
            Kind::Alltoallv(matrix) => (CollectiveKind::Alltoallv, list(&matrix[me as usize]), column(matrix)),
            Kind::Alltoallw(matrix) => (CollectiveKind::Alltoallw, list(&matrix[me as usize]), column(matrix)),
        }
    }

    /// How many elements the member gives.
    fn given(&self, me: Member) -> u64 {
        let (p, me_at) = (u64::from(self.size), me as usize);
        match &self.kind {
            Kind::Barrier | Kind::Bcast(_) => 0,
            Kind::Reduce(n) | Kind::Allreduce(n) | Kind::Scan(n) | Kind::Exscan(n) => *n,
            Kind::Gather(n) | Kind::Allgather(n) => *n,
            Kind::ReduceScatterBlock(n) | Kind::Alltoall(n) => n * p,
            Kind::ReduceScatter(counts) => counts.iter().sum(),
            Kind::Scatter(n) => {
                if me == self.root {
                    n * p
                } else {
                    0
                }
            }
            Kind::Gatherv(counts) | Kind::Allgatherv(counts) => counts[me_at],
            Kind::Scatterv(counts) => {
                if me == self.root {
                    counts.iter().sum()
                } else {
                    0
                }
            }
            Kind::Alltoallv(matrix) | Kind::Alltoallw(matrix) => matrix[me_at].iter().sum(),
        }
    }

    /// The required result of the member.
    fn expected(&self, me: Member) -> Vec<Word> {
        let is_root = me == self.root;
        let members = || 0..self.size;
        // A run of elements as bytes, each made of one letter per member in `from`.
        let reduced = |from: std::ops::Range<Member>, start: u64, count: u64| -> Vec<Word> {
            (start * self.element..(start + count) * self.element)
                .map(|byte| from.clone().map(|member| (member, byte)).collect())
                .collect()
        };
        let taken = |from: Member, start: u64, count: u64| reduced(from..from + 1, start, count);
        let before = |counts: &[u64], member: Member| counts[..member as usize].iter().sum::<u64>();
        match &self.kind {
            Kind::Barrier => Vec::new(),
            Kind::Bcast(n) => taken(self.root, 0, *n),
            Kind::Reduce(n) if is_root => reduced(members(), 0, *n),
            Kind::Gather(n) if is_root => members().flat_map(|member| taken(member, 0, *n)).collect(),
            Kind::Gatherv(counts) if is_root => {
                members().flat_map(|member| taken(member, 0, counts[member as usize])).collect()
            }
            Kind::Reduce(_) | Kind::Gather(_) | Kind::Gatherv(_) => Vec::new(),
            Kind::Allreduce(n) => reduced(members(), 0, *n),
            Kind::Scan(n) => reduced(0..me + 1, 0, *n),
            Kind::Exscan(_) if me == 0 => Vec::new(),
            Kind::Exscan(n) => reduced(0..me, 0, *n),
            Kind::ReduceScatter(counts) => reduced(members(), before(counts, me), counts[me as usize]),
            Kind::ReduceScatterBlock(n) => reduced(members(), n * u64::from(me), *n),
            Kind::Scatter(n) => taken(self.root, n * u64::from(me), *n),
            Kind::Scatterv(counts) => taken(self.root, before(counts, me), counts[me as usize]),
            Kind::Allgather(n) => members().flat_map(|member| taken(member, 0, *n)).collect(),
            Kind::Allgatherv(counts) => {
                members().flat_map(|member| taken(member, 0, counts[member as usize])).collect()
            }
            Kind::Alltoall(n) => members().flat_map(|member| taken(member, n * u64::from(me), *n)).collect(),
            Kind::Alltoallv(matrix) | Kind::Alltoallw(matrix) => members()
                .flat_map(|member| {
                    let row = &matrix[member as usize];
                    taken(member, before(row, me), row[me as usize])
                })
                .collect(),
        }
    }

    /// The call as the member makes it.
    pub fn with_call<T>(&self, me: Member, use_it: impl FnOnce(&Call) -> T) -> T {
        let (kind, send, recv) = &self.volumes(me);
        let &Self { size, root, element, mode, is_commutative, .. } = self;
        let (kind, element) = (*kind, Bytes(element));
        let nodes = self.nodes.as_ref();
        use_it(&Call { me, size, root, kind, send, recv, element, mode, is_commutative, nodes })
    }

    /// Runs the schedules of all members and compares each result with the required one; for commutative operations, in
    /// any order of operands.
    pub fn check(&self, selection: &Selection) -> Result<(), String> {
        let letters = |member: Member, count: u64| -> Vec<Word> {
            (0..count * self.element).map(|byte| vec![(member, byte)]).collect()
        };
        let programs = (0..self.size).map(|me| Program {
            send: letters(me, self.given(me)),
            recv: match self.kind {
                Kind::Bcast(n) if me == self.root => letters(me, n).into_iter().map(Some).collect(),
                _ => vec![None; self.expected(me).len()],
            },
            steps: self.with_call(me, |call| selection.steps(call)),
        });
        let results = run(programs.collect()).map_err(|stuck| format!("deadlock: {stuck:?}"))?;
        for (me, got) in (0..).zip(results) {
            let mut expected = self.expected(me);
            let mut got: Vec<Word> = got.into_iter().map(Option::unwrap_or_default).collect();
            if self.is_commutative {
                for word in expected.iter_mut().chain(&mut got) {
                    word.sort_unstable();
                }
            }
            if got != expected {
                return Err(format!("member {me} gets {got:?} instead of {expected:?}"));
            }
        }
        Ok(())
    }
}

//! What each collective is to achieve, straight from its definition in the MPI standard (MPI 4.0, chapter 6).

use titr_common::collectives::{Call, Member, Selection};
use titr_common::event::{CollectiveOp, Rank};
use titr_common::units::{Bytes, Instructions};

use crate::machine::{Program, Word, run};

/// One collective with volumes for all members.
#[derive(Clone, Debug)]
pub struct Case {
    pub size: u32,
    pub root: Member,
    pub element: u64,
    pub is_commutative: bool,
    pub kind: Kind,
}

/// What is done with how many elements; `counts` has one for each member, `matrix` a row for each sender.
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
    /// What the member passes.
    pub fn op(&self, me: Member) -> CollectiveOp {
        let bytes = |count: u64| Bytes(count * self.element);
        let list = |counts: &[u64]| counts.iter().map(|&count| bytes(count)).collect();
        let at_root = |value: Bytes| if me == self.root { value } else { Bytes(0) };
        let work = Instructions(0.0);
        let root = Rank(u32::MAX); // Not to be looked at.
        match &self.kind {
            Kind::Barrier => CollectiveOp::Barrier,
            Kind::Bcast(n) => CollectiveOp::Bcast { bytes: bytes(*n), root },
            Kind::Reduce(n) => CollectiveOp::Reduce { bytes: bytes(*n), work, root },
            Kind::Allreduce(n) => CollectiveOp::Allreduce { bytes: bytes(*n), work },
            Kind::Scan(n) => CollectiveOp::Scan { bytes: bytes(*n), work },
            Kind::Exscan(n) => CollectiveOp::Exscan { bytes: bytes(*n), work },
            Kind::ReduceScatter(counts) => CollectiveOp::ReduceScatter { counts: list(counts), work },
            Kind::ReduceScatterBlock(n) => CollectiveOp::ReduceScatterBlock { bytes: bytes(*n), work },
            Kind::Gather(n) => CollectiveOp::Gather { send: bytes(*n), recv: at_root(bytes(*n)), root },
            Kind::Scatter(n) => CollectiveOp::Scatter { send: at_root(bytes(*n)), recv: bytes(*n), root },
            Kind::Allgather(n) => CollectiveOp::Allgather { send: bytes(*n), recv: bytes(*n) },
            Kind::Alltoall(n) => CollectiveOp::Alltoall { send: bytes(*n), recv: bytes(*n) },
            Kind::Gatherv(counts) => CollectiveOp::Gatherv {
                send: bytes(counts[me as usize]),
                recvs: if me == self.root { list(counts) } else { Vec::new() },
                root,
            },
            Kind::Scatterv(counts) => CollectiveOp::Scatterv {
                sends: if me == self.root { list(counts) } else { Vec::new() },
                recv: bytes(counts[me as usize]),
                root,
            },
            Kind::Allgatherv(counts) => {
                CollectiveOp::Allgatherv { send: bytes(counts[me as usize]), recvs: list(counts) }
            }
            Kind::Alltoallv(matrix) => CollectiveOp::Alltoallv {
                sends: list(&matrix[me as usize]),
                recvs: matrix.iter().map(|row| bytes(row[me as usize])).collect(),
            },
            Kind::Alltoallw(matrix) => CollectiveOp::Alltoallw {
                sends: list(&matrix[me as usize]),
                recvs: matrix.iter().map(|row| bytes(row[me as usize])).collect(),
            },
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

    /// What the member must have in the end.
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
        use_it(&Call {
            me,
            size: self.size,
            root: self.root,
            op: &self.op(me),
            element: Bytes(self.element),
            is_commutative: self.is_commutative,
        })
    }

    /// Runs the schedules of all members and compares what each gets with what it must get; where operands may change
    /// places, whatever their order.
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

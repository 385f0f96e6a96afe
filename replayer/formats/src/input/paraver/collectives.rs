//! The arguments of collectives, from the bytes that their members give and get.

use titr_common::event::{Collective, CollectiveKind, CommId, Rank, Signature, Volumes};
use titr_common::units::{Bytes, Instructions};

/// The entry of a list at a place, from what each member gives and gets.
type Share<'s> = dyn Fn(&[(u64, u64)], usize) -> u64 + 's;

/// What is known of a call.
pub(super) struct PrvCall<'c> {
    pub kind: CollectiveKind,
    pub comm: CommId,
    pub members: &'c [Rank],
    pub me: Rank,
    pub root: Option<Rank>,
    pub sent: u64,
    pub received: u64,
    /// What each member gives and gets, for collectives with lists.
    pub volumes: Option<Vec<(u64, u64)>>,
}

impl PrvCall<'_> {
    /// The collective; `None` for a root or a caller that is no member.
    pub(super) fn collective(&self) -> Option<Collective> {
        use CollectiveKind as Kind;
        let number = self.members.len() as u64;
        let root = self.root.filter(|root| self.members.contains(root));
        let is_root = root == Some(self.me);
        let each = |bytes: u64| Volumes::Each(Bytes(bytes));
        let none = Volumes::None;
        let at_root = |volume: u64| each(if is_root { volume } else { 0 });
        // Where only the sums of lists are known, members have equal shares.
        let listed = |list: &Share, sum: u64| {
            let equal = |at: u64| sum / number + u64::from(at < sum % number);
            let volumes = match &self.volumes {
                Some(volumes) => (0..volumes.len()).map(|at| Bytes(list(volumes, at))).collect(),
                None => (0..number).map(|at| Bytes(equal(at))).collect(),
            };
            Volumes::PerMember(volumes)
        };
        let nothing = || Volumes::PerMember(vec![Bytes(0); self.members.len()]);
        let mine = self.members.iter().position(|&rank| rank == self.me)?;
        let largest = self.sent.max(self.received);
        let (send, recv) = match self.kind {
            Kind::Barrier => (none.clone(), none),
            // The root of a reduction has only what it gets.
            Kind::Bcast | Kind::Reduce => (each(largest), none),
            Kind::Allreduce | Kind::Scan | Kind::Exscan => (each(self.sent), none),
            Kind::Gather => (each(self.sent), at_root(self.received / number)),
            Kind::Scatter => (at_root(self.sent / number), each(self.received)),
            Kind::Allgather => (each(self.sent), each(self.received / number)),
            Kind::Alltoall => (each(self.received / number), each(self.received / number)),
            Kind::ReduceScatter => (none, listed(&|of, at| of[at].1, self.sent)),
            Kind::ReduceScatterBlock => (none, each(self.received)),
            Kind::Gatherv if is_root => (each(self.sent), listed(&|of, at| of[at].0, self.received)),
            Kind::Gatherv => (each(self.sent), nothing()),
            Kind::Scatterv if is_root => (listed(&|of, at| of[at].1, self.sent), each(self.received)),
            Kind::Scatterv => (nothing(), each(self.received)),
            Kind::Allgatherv => (each(self.sent), listed(&|of, at| of[at].0, self.received)),
            Kind::Alltoallv | Kind::Alltoallw => {
                (listed(&|of, at| share(of, mine, at), self.sent), listed(&|of, at| share(of, at, mine), self.received))
            }
        };
        let Signature { reduces, is_rooted, .. } = self.kind.signature();
        let reduced = match (&send, &recv) {
            _ if !reduces => 0,
            (Volumes::Each(bytes), _) => bytes.0,
            (_, volumes) => volumes.per_member().iter().fold(0_u64, |all, bytes| all.saturating_add(bytes.0)),
        };
        // The trace does not say what the elements are: the largest usual size that divides the volume is taken.
        let element = [8, 4, 2].into_iter().find(|size| largest > 0 && largest.is_multiple_of(*size)).unwrap_or(1);
        let root = if is_rooted { Some(root?) } else { None };
        Some(Collective {
            comm: self.comm,
            kind: self.kind,
            root,
            send,
            recv,
            element: Bytes(element),
            work: Instructions((reduced / element) as f64),
            is_commutative: true,
        })
    }
}

/// The share of what one member gives that another one gets: as much as that one gets of all.
fn share(volumes: &[(u64, u64)], from: usize, to: usize) -> u64 {
    let all: u128 = volumes.iter().map(|&(_, received)| u128::from(received)).sum();
    let share = u128::from(volumes[from].0) * u128::from(volumes[to].1);
    share.checked_div(all).and_then(|share| u64::try_from(share).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_share_agree() {
        let volumes = vec![(30, 10), (10, 30)];
        let of = |me: u32| {
            let (comm, members) = (CommId::WORLD, &[Rank(0), Rank(1)][..]);
            let (sent, received) = volumes[me as usize];
            let call = PrvCall {
                kind: CollectiveKind::Alltoallv,
                comm,
                members,
                me: Rank(me),
                root: None,
                sent,
                received,
                volumes: Some(volumes.clone()),
            };
            call.collective().unwrap()
        };
        assert_eq!(of(0).send.per_member()[1], of(1).recv.per_member()[0]);
        assert_eq!(of(0).send.per_member(), [Bytes(7), Bytes(22)]);
    }
}

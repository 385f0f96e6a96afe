//! The position of a member in the communicator: neighbours around the ring, places counted from the root, and the
//! treatment of sizes that are not a power of two.

use crate::collectives::step::Member;

/// A communicator as one of its members sees it.
#[derive(Clone, Copy, Debug)]
pub(in crate::collectives) struct Comm {
    /// The member whose steps are computed; less than `size`.
    pub me: Member,
    /// The number of members; at least one.
    pub size: u32,
}

impl Comm {
    /// The member `distance` places after me, around the ring.
    pub(crate) fn after(self, distance: u32) -> Member {
        shift(self.me, distance, self.size)
    }

    /// The member `distance` places before me, around the ring.
    pub(crate) fn before(self, distance: u32) -> Member {
        shift(self.me, self.size - distance % self.size, self.size)
    }

    /// All other members from the next one on, around the ring.
    pub(crate) fn others_after(self) -> impl Iterator<Item = Member> {
        (1..self.size).map(move |distance| self.after(distance))
    }

    /// All other members from the previous one on, around the ring.
    pub(crate) fn others_before(self) -> impl Iterator<Item = Member> {
        (1..self.size).map(move |distance| self.before(distance))
    }

    /// All other members in the order of the communicator.
    pub(crate) fn others(self) -> impl DoubleEndedIterator<Item = Member> {
        (0..self.size).filter(move |&member| member != self.me)
    }

    /// My place counted from the root, which has place 0.
    pub(crate) fn place(self, root: Member) -> u32 {
        self.before(root)
    }

    /// The member at a place counted from the root.
    pub(crate) fn at_place(self, place: u32, root: Member) -> Member {
        shift(place, root, self.size)
    }

    /// Whether the size is a power of two.
    pub(crate) fn is_power_of_two(self) -> bool {
        self.size.is_power_of_two()
    }
}

fn shift(member: Member, distance: u32, size: u32) -> Member {
    ((u64::from(member) + u64::from(distance)) % u64::from(size)) as Member
}

/// The partner of a pair that continues in a [`Fold`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collectives) enum Survivor {
    Even,
    Odd,
}

/// Reduces a communicator of any size to a power of two: the first `2 × extra` members pair up, and one of each pair
/// gives its data to the other and waits for the result (Thakur, Rabenseifner, Gropp: "Optimization of Collective
/// Communication Operations in MPICH", IJHPCA 19(1), 2005, section 4.5).
#[derive(Clone, Copy, Debug)]
pub(in crate::collectives) struct Fold {
    extra: u32,
    /// The number of members that continue: the largest power of two up to the size.
    pub size: u32,
    survivor: Survivor,
}

/// The part of a member in a [`Fold`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collectives) enum Role {
    /// The member gives its data to this partner, and gets the result from it.
    Gives(Member),
    /// The member takes the data of this partner, and continues with this rank among the remaining members.
    Takes(Member, u32),
    /// The member has no partner, and continues with this rank among the remaining members.
    Alone(u32),
}

impl Fold {
    pub(crate) fn new(size: u32, survivor: Survivor) -> Self {
        let folded = 1 << size.max(1).ilog2();
        Self { extra: size.saturating_sub(folded), size: folded, survivor }
    }

    /// Whether the member is one of those that pair up.
    pub(crate) fn is_paired(self, member: Member) -> bool {
        member / 2 < self.extra
    }

    pub(crate) fn role(self, member: Member) -> Role {
        if !self.is_paired(member) {
            return Role::Alone(member - self.extra);
        }
        let is_odd = member % 2 == 1;
        if is_odd == (self.survivor == Survivor::Odd) {
            Role::Takes(member ^ 1, member / 2)
        } else {
            Role::Gives(member ^ 1)
        }
    }

    /// The member that has this rank among the remaining members.
    pub(crate) fn member(self, rank: u32) -> Member {
        match self.survivor {
            _ if rank >= self.extra => rank + self.extra,
            Survivor::Even => 2 * rank,
            Survivor::Odd => 2 * rank + 1,
        }
    }

    /// The first member that this rank represents: itself, or the even member of its pair. One past the last rank gives
    /// one past the last member.
    pub(crate) fn first_member(self, rank: u32) -> Member {
        rank + rank.min(self.extra)
    }
}

/// The exchange distances 1, 2, 4, … below `size`.
pub(in crate::collectives) fn doubling(size: u32) -> impl DoubleEndedIterator<Item = u32> + Clone {
    let rounds = u32::BITS - size.saturating_sub(1).leading_zeros();
    (0..rounds).map(|round| 1 << round)
}

/// The bits of `rank` in reverse order, as many as a communicator of `size` (a power of two) needs.
pub(in crate::collectives) fn mirror(rank: u32, size: u32) -> u32 {
    match size.trailing_zeros() {
        0 => rank,
        bits => rank.reverse_bits() >> (u32::BITS - bits),
    }
}

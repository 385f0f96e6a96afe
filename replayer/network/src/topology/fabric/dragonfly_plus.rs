//! Dragonfly+: groups of leaf and spine routers, and links between the spines of different groups (A. Shpiner et al.,
//! "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017; also called Megafly, M. Flajslik, E. Borch,
//! M. A. Parker, ISC 2018).
//!
//! Every leaf of a group is joined to every spine of the group. Hosts are at leaves. The links between groups are arranged
//! among the spines as among the routers of a canonical dragonfly ([`GlobalLinks::OfRouters`](crate::topology::GlobalLinks::OfRouters)).

use super::Wiring;
use crate::topology::{RouterId, Shape};

/// The sizes of a Dragonfly+.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DragonflyPlus {
    /// Groups.
    pub groups: u32,
    /// Leaf routers of a group.
    pub leaves: u32,
    /// Spine routers of a group.
    pub spines: u32,
    /// Links from each spine to other groups.
    pub global_links: u32,
    /// Hosts of each leaf.
    pub hosts: u32,
}

impl DragonflyPlus {
    /// The dragonfly that the spines form.
    fn of_spines(&self) -> Shape {
        Shape::canonical(self.groups, self.spines, self.global_links, 1)
    }

    /// Links from each group to each other: at least one, unless there are too many groups.
    #[must_use]
    pub fn links_of_two_groups(&self) -> u32 {
        self.of_spines().links_of_two_groups()
    }

    /// The number of cables, `u64::MAX` if that many or more.
    #[must_use]
    pub fn cables(&self) -> u64 {
        let [groups, leaves, spines, global_links, hosts] =
            [self.groups, self.leaves, self.spines, self.global_links, self.hosts].map(u64::from);
        let of_group =
            leaves.saturating_mul(spines.saturating_add(hosts)).saturating_add(spines.saturating_mul(global_links));
        groups.saturating_mul(of_group)
    }

    /// Its routers, cables and hosts. No number is 0, and every two groups have a link.
    #[must_use]
    pub fn wiring(&self) -> Wiring {
        let Self { groups, leaves, spines, global_links, hosts } = *self;
        let of_group = leaves + spines;
        let name_in = |group: u32, place: u32| match place.checked_sub(leaves) {
            None => format!("leaf-{group}.{place}"),
            Some(spine) => format!("spine-{group}.{spine}"),
        };
        let mut wiring = Wiring {
            name: format!(
                "Dragonfly+ of {groups} groups × ({leaves} leaves × {hosts} hosts, {spines} spines × {global_links} global \
                 links)"
            ),
            routers: (0..groups).flat_map(|group| (0..of_group).map(move |place| name_in(group, place))).collect(),
            classes: vec!["local".to_owned(), "global".to_owned()],
            ..Wiring::default()
        };
        for group in 0..groups {
            let first = group * of_group;
            for (leaf, spine) in (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| (leaf, spine))) {
                wiring.join(first + leaf, first + leaves + spine, 0);
            }
            wiring.hosts.extend((0..leaves * hosts).map(|host| RouterId(first + host / hosts)));
        }
        let shape = self.of_spines();
        let pairs = (0..groups).flat_map(|low| (low + 1..groups).map(move |high| (low, high)));
        for ((low, high), number) in
            pairs.flat_map(|pair| (0..shape.links_of_two_groups()).map(move |link| (pair, link)))
        {
            let link = shape.global_link(low, high, number);
            let spine = |group: u32, spine: u32| group * of_group + leaves + spine;
            wiring.join(spine(low, link.exit.blade), spine(high, link.entry.blade), 1);
        }
        wiring
    }
}

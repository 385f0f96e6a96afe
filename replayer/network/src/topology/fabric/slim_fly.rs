//! Slim Fly: the graphs of McKay, Miller and Širáň (M. Besta, T. Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network
//! Topology", SC 2014, §II.B; P. R. Hafner, "Geometric realisation of the graphs of McKay–Miller–Širáň", JCTB 90, 2004).
//!
//! Let q = 4w + δ be a power of a prime, with δ ∈ {−1, 0, 1}, and ξ a primitive element of the field of q elements. There are
//! 2q² routers (0, x, y) and (1, m, c), of (3q − δ)/2 cables each:
//!
//! - (0, x, y) and (0, x, y′) are joined if y − y′ ∈ X,
//! - (1, m, c) and (1, m, c′) if c − c′ ∈ X′,
//! - (0, x, y) and (1, m, c) if y = m·x + c.
//!
//! X has even powers of ξ and X′ odd ones; if δ = −1, each has w of them and their negatives. No two routers are more than
//! two hops apart.

use super::Wiring;
use super::field::Field;

/// A Slim Fly.
#[derive(Clone, Debug)]
pub struct SlimFly {
    field: Field,
    order: u32,
    hosts: u32,
}

impl SlimFly {
    /// The Slim Fly of q = `order`, with this number of hosts at each router, or half as many as cables, rounded up. `None`
    /// unless `order` is a power of a prime above 2.
    #[must_use]
    pub fn new(order: u32, hosts: Option<u32>) -> Option<Self> {
        let field = Field::new(order).filter(|_| order > 2)?;
        Some(Self { field, order, hosts: hosts.unwrap_or(Self::cables_of_router(order).div_ceil(2)) })
    }

    /// Cables from a router to others.
    fn cables_of_router(order: u32) -> u32 {
        match order % 4 {
            1 => (3 * order - 1) / 2,
            3 => (3 * order).div_ceil(2),
            _ => 3 * order / 2,
        }
    }

    /// Hosts of each router.
    #[must_use]
    pub fn hosts_of_router(&self) -> u32 {
        self.hosts
    }

    /// The number of cables.
    #[must_use]
    pub fn cables(&self) -> u64 {
        let order = u64::from(self.order);
        order * order * u64::from(Self::cables_of_router(self.order)) + 2 * order * order * u64::from(self.hosts)
    }

    /// X and X′: for each element of the field, whether it is in the set.
    fn differences(&self) -> [Vec<bool>; 2] {
        let order = self.order;
        let exponents = |first: u32| -> Vec<u32> {
            match order % 4 {
                // w even or odd powers, and their negatives: −1 is the power of (q − 1)/2.
                3 => (0..order.div_ceil(4)).flat_map(|k| [2 * k + first, 2 * k + first + (order - 1) / 2]).collect(),
                _ => (0..order / 2).map(|k| 2 * k + first).collect(),
            }
        };
        [0, 1].map(|first| {
            let mut set = vec![false; order as usize];
            exponents(first).into_iter().for_each(|exponent| set[self.field.power(exponent) as usize] = true);
            set
        })
    }

    /// Its routers, cables and hosts. Twice the square of q fits a `u32`.
    #[must_use]
    pub fn wiring(&self) -> Wiring {
        let Self { field, order: q, hosts } = self;
        let q = *q;
        let all = move || (0..q).flat_map(move |group| (0..q).map(move |place| (group, place)));
        let names = (0..2).flat_map(|side| all().map(move |(group, place)| format!("router-{side}.{group}.{place}")));
        let mut wiring = Wiring {
            name: format!("Slim Fly of q = {q} with {hosts} hosts a router"),
            routers: names.collect(),
            classes: vec!["local".to_owned(), "global".to_owned()],
            ..Wiring::default()
        };
        let router = |side: u32, group: u32, place: u32| (side * q + group) * q + place;
        for (side, differences) in (0..).zip(self.differences()) {
            for (group, place) in all() {
                let others = place + 1..q;
                for other in others.filter(|&other| differences[field.difference(place, other) as usize]) {
                    wiring.join(router(side, group, place), router(side, group, other), 0);
                }
            }
        }
        for (x, (m, c)) in (0..q).flat_map(|x| all().map(move |other| (x, other))) {
            let y = field.sum(field.product(m, x), c);
            wiring.join(router(0, x, y), router(1, m, c), 1);
        }
        wiring.attach(*hosts);
        wiring
    }
}

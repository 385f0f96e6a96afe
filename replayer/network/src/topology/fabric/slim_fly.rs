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

/// A Slim Fly.
#[derive(Clone, Debug)]
pub struct SlimFly {
    field: Field,
    order: u32,
    /// Hosts of each router.
    pub hosts: u32,
}

impl SlimFly {
    /// The Slim Fly of q = `order`, with this number of hosts at each router, or half as many as cables, rounded up. `None`
    /// unless `order` is a power of a prime above 2.
    #[must_use]
    pub fn new(order: u32, hosts: Option<u32>) -> Option<Self> {
        let field = Field::new(order).filter(|_| order > 2)?;
        Some(Self { field, order, hosts: hosts.unwrap_or(Self::cables_of_router(order).div_ceil(2)) })
    }

    fn cables_of_router(order: u32) -> u32 {
        match order % 4 {
            1 => (3 * order - 1) / 2,
            3 => (3 * order).div_ceil(2),
            _ => 3 * order / 2,
        }
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

/// The field of q elements, which are numbers from 0. The digits of a number, to the base of the field's prime p, are the
/// coefficients of a polynomial.
#[derive(Clone, Debug)]
pub(super) struct Field {
    prime: u32,
    /// The powers of a primitive element, from the 0th on.
    powers: Vec<u32>,
    /// The exponent of each element but 0.
    logarithms: Vec<u32>,
}

impl Field {
    /// The field of `order` elements, if there is one: if `order` is a power of a prime.
    pub(super) fn new(order: u32) -> Option<Self> {
        let prime = (2..=order).find(|divisor| order.is_multiple_of(*divisor))?;
        let highest = order / prime;
        let mut power = 1;
        while power < order {
            power *= prime;
        }
        if power != order {
            return None;
        }
        // Of x^k = a polynomial of lower degree, the first that makes x a primitive element.
        let powers = (1..order).find_map(|reduction| powers_of_x(prime, highest, reduction))?;
        let mut logarithms = vec![0; order as usize];
        (0..).zip(&powers).for_each(|(exponent, &power)| logarithms[power as usize] = exponent);
        Some(Self { prime, powers, logarithms })
    }

    /// A power of the primitive element.
    pub(super) fn power(&self, exponent: u32) -> u32 {
        self.powers[exponent as usize % self.powers.len()]
    }

    pub(super) fn sum(&self, one: u32, other: u32) -> u32 {
        combine(self.prime, one, other, 1)
    }

    pub(super) fn difference(&self, one: u32, other: u32) -> u32 {
        combine(self.prime, one, other, self.prime - 1)
    }

    pub(super) fn product(&self, one: u32, other: u32) -> u32 {
        if one == 0 || other == 0 {
            return 0;
        }
        self.power(self.logarithms[one as usize] + self.logarithms[other as usize])
    }
}

/// One polynomial, plus another times a number.
fn combine(prime: u32, one: u32, other: u32, times: u32) -> u32 {
    let (mut one, mut other, mut worth, mut all) = (one, other, 1, 0);
    while one > 0 || other > 0 {
        all += (one % prime + other % prime * times) % prime * worth;
        (one, other, worth) = (one / prime, other / prime, worth * prime);
    }
    all
}

/// The powers of x where x^k is `reduction`, if they are all polynomials but 0. `highest` is the number of x^(k − 1).
fn powers_of_x(prime: u32, highest: u32, reduction: u32) -> Option<Vec<u32>> {
    let (mut powers, mut element) = (Vec::new(), 1);
    loop {
        powers.push(element);
        element = combine(prime, element % highest * prime, reduction, element / highest);
        if element == 1 {
            return (powers.len() as u32 == prime * highest - 1).then_some(powers);
        }
        if element == 0 || powers.len() as u32 >= prime * highest {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field has inverses, and products distribute over sums.
    #[test]
    fn powers_of_primes_have_fields() {
        for order in [2, 3, 4, 5, 7, 8, 9, 16, 25, 27] {
            let field = Field::new(order).unwrap();
            for one in 0..order {
                assert!(one == 0 || (1..order).any(|other| field.product(one, other) == 1), "{order}");
                for other in 0..order {
                    let difference = field.difference(one, other);
                    assert_eq!(field.sum(difference, other), one, "{order}");
                    let third = field.power(other);
                    let apart = field.sum(field.product(third, one), field.product(third, other));
                    assert_eq!(field.product(third, field.sum(one, other)), apart, "{order}");
                }
            }
        }
        assert!([0, 1, 6, 10, 12, 15, 18].iter().all(|&order| Field::new(order).is_none()));
    }
}

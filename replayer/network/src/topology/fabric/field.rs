//! Finite fields.

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

//! The fast Fourier transform of a vector of n = r² complex numbers in six steps, as in the FFT of SPLASH-2 (S. C. Woo
//! et al., "The SPLASH-2 Programs: Characterization and Methodological Considerations", ISCA 1995; D. H. Bailey, "FFTs
//! in external or hierarchical memory", Journal of Supercomputing 4(1), 1990).
//!
//! The vector is a matrix of r rows, with equally many in the memory of each node. The steps are: transpose, transform
//! each row, multiply by the roots of unity, transpose, transform each row, transpose. In a transposition every node
//! reads from every other; everything else stays within a node.

use std::f64::consts::PI;

use super::{Program, Script, address};

/// Bytes of a complex number.
const POINT: u64 = 16;

/// Instructions of a butterfly besides its accesses: ten operations on numbers, and half of the loads and stores.
const BUTTERFLY: u32 = 14;

/// Real and imaginary part.
type Point = (f64, f64);

/// The transform of a vector.
#[derive(Debug)]
pub struct Fft {
    nodes: u32,
    side: usize,
    /// The two matrices between which transpositions go.
    matrices: [Vec<Point>; 2],
    step: u32,
}

impl Fft {
    /// The transform of a vector of `side`² numbers; `side` is a power of two and a multiple of `nodes`.
    #[must_use]
    pub fn new(nodes: u32, side: usize) -> Option<Self> {
        let fits = side.is_power_of_two() && nodes > 0 && side.is_multiple_of(nodes as usize);
        let points = side * side;
        let point = |number: usize| ((number * 7 % 31) as f64, (number * 3 % 17) as f64);
        let matrices = [(0..points).map(point).collect(), vec![(0.0, 0.0); points]];
        fits.then_some(Self { nodes, side, matrices, step: 0 })
    }

    fn rows_of(&self, node: u32) -> std::ops::Range<usize> {
        let rows = self.side / self.nodes as usize;
        node as usize * rows..(node as usize + 1) * rows
    }

    fn address(&self, matrix: usize, row: usize, column: usize) -> u64 {
        let rows = self.side / self.nodes as usize;
        let place = (matrix * rows + row % rows) * self.side + column;
        address((row / rows) as u32, place as u64 * POINT)
    }

    /// Transposes into a node's rows of the other matrix: from its own columns first, then from those of the next nodes
    /// in turn, so that not all nodes read from the same one.
    fn transpose(&mut self, from: usize, node: u32, script: &mut Script) {
        for step in 0..self.nodes {
            let other = (node + step) % self.nodes;
            for row in self.rows_of(node) {
                for column in self.rows_of(other) {
                    script.read(self.address(from, column, row));
                    script.compute(2);
                    script.write(self.address(1 - from, row, column));
                    self.matrices[1 - from][row * self.side + column] = self.matrices[from][column * self.side + row];
                }
            }
        }
    }

    /// Transforms a node's rows; with `twiddle`, also multiplies them by the roots of unity.
    fn transform(&mut self, matrix: usize, node: u32, twiddle: bool, script: &mut Script) {
        let side = self.side;
        let bits = side.trailing_zeros();
        for row in self.rows_of(node) {
            for column in 0..side {
                let reversed = (column as u32).reverse_bits().checked_shr(32 - bits).unwrap_or_default() as usize;
                if column < reversed {
                    self.exchange(matrix, row, [column, reversed], script, |a, b| (b, a));
                }
            }
            for level in 0..bits {
                let half = 1 << level;
                for first in (0..side).filter(|column| column & half == 0) {
                    let root = root(first % half, 2 * half);
                    let butterfly = |a: Point, b: Point| {
                        let b = times(b, root);
                        ((a.0 + b.0, a.1 + b.1), (a.0 - b.0, a.1 - b.1))
                    };
                    self.exchange(matrix, row, [first, first + half], script, butterfly);
                }
            }
            for column in (0..side).filter(|_| twiddle) {
                let place = self.address(matrix, row, column);
                script.read(place);
                script.compute(BUTTERFLY);
                script.write(place);
                let point = &mut self.matrices[matrix][row * side + column];
                *point = times(*point, root(row * column, side * side));
            }
        }
    }

    /// Reads two numbers of a row, and writes them again.
    fn exchange(
        &mut self,
        matrix: usize,
        row: usize,
        columns: [usize; 2],
        script: &mut Script,
        compute: impl Fn(Point, Point) -> (Point, Point),
    ) {
        let addresses = columns.map(|column| self.address(matrix, row, column));
        addresses.iter().for_each(|&place| script.read(place));
        script.compute(BUTTERFLY);
        addresses.iter().for_each(|&place| script.write(place));
        let [a, b] = columns.map(|column| row * self.side + column);
        let points = &mut self.matrices[matrix];
        (points[a], points[b]) = compute(points[a], points[b]);
    }
}

/// The root of unity e^(−2πi·k/n).
fn root(k: usize, n: usize) -> Point {
    let angle = -2.0 * PI * k as f64 / n as f64;
    (angle.cos(), angle.sin())
}

fn times(a: Point, b: Point) -> Point {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

impl Program for Fft {
    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn phase(&mut self) -> Vec<Script> {
        self.step += 1;
        let mut scripts = vec![Script::default(); self.nodes as usize];
        for (node, script) in (0..).zip(&mut scripts) {
            match self.step {
                1 => self.transpose(0, node, script),
                2 => self.transform(1, node, true, script),
                3 => self.transpose(1, node, script),
                4 => self.transform(0, node, false, script),
                5 => self.transpose(0, node, script),
                _ => return Vec::new(),
            }
        }
        scripts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the sum that defines the transform.
    #[test]
    fn it_is_the_fourier_transform() {
        let mut fft = Fft::new(4, 8).unwrap();
        let input = fft.matrices[0].clone();
        while !fft.phase().is_empty() {}
        for (k, &(real, imaginary)) in fft.matrices[1].iter().enumerate() {
            let terms = input.iter().enumerate().map(|(j, &point)| times(point, root(j * k % 64, 64)));
            let sum = terms.fold((0.0, 0.0), |sum: Point, term| (sum.0 + term.0, sum.1 + term.1));
            assert!((sum.0 - real).abs() < 1e-9 && (sum.1 - imaginary).abs() < 1e-9, "{k}");
        }
    }

    #[test]
    fn rows_have_to_be_shared_out_evenly() {
        assert!(Fft::new(3, 8).is_none() && Fft::new(4, 12).is_none() && Fft::new(0, 8).is_none());
    }
}

//! Linear least squares for a few unknowns.

/// A column whose part across the columns before it is shorter than this fraction of it depends on them.
const LEAST_ACROSS: f64 = 0.05;

/// The first of the columns that is a combination of those before it, or shorter than `least`; `None`: there is none.
pub(super) fn first_dependent(columns: &[Vec<f64>], least: f64) -> Option<usize> {
    let mut across: Vec<Vec<f64>> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let mut rest = column.clone();
        for unit in &across {
            let along = dot(&rest, unit);
            rest.iter_mut().zip(unit).for_each(|(number, unit)| *number -= along * unit);
        }
        let (whole, left) = (dot(column, column).sqrt(), dot(&rest, &rest).sqrt());
        if whole < least || left < LEAST_ACROSS * whole {
            return Some(at);
        }
        across.push(rest.into_iter().map(|number| number / left).collect());
    }
    None
}

/// The coefficients of independent columns whose combination is nearest to `target`, and for each the square of its error
/// where the target has errors of 1.
pub(super) fn solve(columns: &[Vec<f64>], target: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let count = columns.len();
    // The normal equations, with the unit matrix and the right-hand side behind them.
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|row| {
            let products = columns.iter().map(|column| dot(&columns[row], column));
            let unit = (0..count).map(|at| f64::from(u8::from(at == row)));
            products.chain(unit).chain([dot(&columns[row], target)]).collect()
        })
        .collect();
    for at in 0..count {
        let pivot =
            (at..count).max_by(|&one, &other| rows[one][at].abs().total_cmp(&rows[other][at].abs())).unwrap_or(at);
        rows.swap(at, pivot);
        let scale = rows[at][at];
        rows[at].iter_mut().for_each(|number| *number /= scale);
        let row = rows[at].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(number, _)| *number != at) {
            let factor = other[at];
            other.iter_mut().zip(&row).for_each(|(number, pivot)| *number -= factor * pivot);
        }
    }
    let coefficients = rows.iter().map(|row| row[2 * count]).collect();
    (coefficients, (0..count).map(|at| rows[at][count + at]).collect())
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_through_points_is_found() {
        let columns = [vec![1.0, 1.0, 1.0, 1.0], vec![0.0, 1.0, 2.0, 3.0]];
        let (found, errors) = solve(&columns, &[1.0, 3.0, 5.0, 7.0]);
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
        // Of the slope: 1 / Σ (x - x̄)².
        assert!((errors[1] - 0.2).abs() < 1e-12, "{errors:?}");
    }

    #[test]
    fn what_cannot_be_told_apart_is_found() {
        let one = vec![1.0, 2.0, 3.0];
        let twice: Vec<f64> = one.iter().map(|number| 2.0 * number).collect();
        assert_eq!(first_dependent(&[one.clone(), vec![1.0, 0.0, 0.0]], 0.1), None);
        assert_eq!(first_dependent(&[one.clone(), twice], 0.1), Some(1));
        assert_eq!(first_dependent(&[vec![0.01; 3]], 0.1), Some(0));
        let several = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]];
        assert_eq!(first_dependent(&several, 0.1), Some(2));
    }
}

//! Linear least squares with at most four columns, by QR factorisation (modified Gram–Schmidt, applied twice).
//!
//! The columns of warm-up curves are nearly parallel at small rates, so normal equations would lose half of the digits.

/// The largest number of columns: no curve has more parameters than this.
const MAX_COLUMNS: usize = 4;

/// A column counts as linearly dependent on the ones before it if orthogonalisation leaves no more than this share of
/// its length. The share is some ten thousand times the rounding error of the lengths.
const DEPENDENT: f64 = 1e-11;

/// The factors of `columns = q · r`: `q` has orthonormal columns, `r` is upper triangular.
pub(crate) struct QrFactors {
    q: Vec<Vec<f64>>,
    r: [[f64; MAX_COLUMNS]; MAX_COLUMNS],
    independent: [bool; MAX_COLUMNS],
}

impl QrFactors {
    /// Factorises at most [`MAX_COLUMNS`] columns of the same length.
    pub(crate) fn new(columns: Vec<Vec<f64>>) -> Self {
        let mut factors = Self {
            q: Vec::with_capacity(columns.len()),
            r: [[0.0; MAX_COLUMNS]; MAX_COLUMNS],
            independent: [true; MAX_COLUMNS],
        };
        assert!(columns.len() <= MAX_COLUMNS, "{} columns", columns.len());
        for (j, mut column) in columns.into_iter().enumerate() {
            let length = dot(&column, &column).sqrt();
            // One pass is not enough for nearly parallel columns: rounding errors remain. A second pass removes them.
            for _ in 0..2 {
                for (i, q) in factors.q.iter().enumerate() {
                    let along = dot(q, &column);
                    factors.r[i][j] += along;
                    subtract(&mut column, along, q);
                }
            }
            let rest = dot(&column, &column).sqrt();
            factors.independent[j] = rest > DEPENDENT * length;
            if factors.independent[j] {
                factors.r[j][j] = rest;
                column.iter_mut().for_each(|value| *value /= rest);
            } else {
                column.fill(0.0);
            }
            factors.q.push(column);
        }
        factors
    }

    /// The coefficients of the linear combination of columns that is closest to `target`, and the residual sum of
    /// squares. A column that depends on those before it has coefficient 0.
    pub(crate) fn solve(&self, target: &[f64]) -> ([f64; MAX_COLUMNS], f64) {
        let mut rest = target.to_vec();
        let mut along = [0.0; MAX_COLUMNS];
        for (i, q) in self.q.iter().enumerate() {
            along[i] = dot(q, &rest);
            subtract(&mut rest, along[i], q);
        }
        let mut solution = [0.0; MAX_COLUMNS];
        for i in (0..self.q.len()).rev().filter(|&i| self.independent[i]) {
            let known: f64 = (i + 1..self.q.len()).map(|j| self.r[i][j] * solution[j]).sum();
            solution[i] = (along[i] - known) / self.r[i][i];
        }
        (solution, dot(&rest, &rest))
    }

    /// The diagonal of the inverse of the columns' Gram matrix: the variances of the coefficients for unit noise.
    /// `None` if a column depends on others.
    pub(crate) fn variances(&self) -> Option<Vec<f64>> {
        let n = self.q.len();
        if self.independent[..n].contains(&false) {
            return None;
        }
        // Column j of the inverse of r by back substitution. The variances are the squared lengths of the inverse's
        // rows.
        let mut variances = vec![0.0; n];
        for j in 0..n {
            let mut inverse = [0.0; MAX_COLUMNS];
            inverse[j] = 1.0 / self.r[j][j];
            for i in (0..j).rev() {
                let known: f64 = (i + 1..=j).map(|l| self.r[i][l] * inverse[l]).sum();
                inverse[i] = -known / self.r[i][i];
            }
            for (variance, value) in variances.iter_mut().zip(inverse) {
                *variance += value * value;
            }
        }
        Some(variances)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(from: &mut [f64], factor: f64, what: &[f64]) {
    for (from, what) in from.iter_mut().zip(what) {
        *from -= factor * what;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_line_matches_hand_calculation() {
        // y = 1, 2, 4 at x = 0, 1, 2: slope 3/2, intercept 5/6, residuals 1/6, -1/3, 1/6.
        let columns = QrFactors::new(vec![vec![1.0; 3], vec![0.0, 1.0, 2.0]]);
        let (solution, left) = columns.solve(&[1.0, 2.0, 4.0]);
        assert!((solution[0] - 5.0 / 6.0).abs() < 1e-15 && (solution[1] - 1.5).abs() < 1e-15);
        assert!((left - 1.0 / 6.0).abs() < 1e-15);
        // The inverse of [[3, 3], [3, 5]] is [[5, -3], [-3, 3]] / 6.
        let variances = columns.variances().unwrap();
        assert!((variances[0] - 5.0 / 6.0).abs() < 1e-14 && (variances[1] - 0.5).abs() < 1e-14);
    }

    #[test]
    fn repeated_column_gets_coefficient_zero() {
        let columns = QrFactors::new(vec![vec![1.0, 2.0], vec![1.0, 2.0]]);
        let (solution, left) = columns.solve(&[2.0, 4.0]);
        assert_eq!((solution[0], solution[1]), (2.0, 0.0));
        assert!(left < 1e-28);
        assert_eq!(columns.variances(), None);
    }

    #[test]
    fn nearly_parallel_columns_keep_full_precision() {
        let k: Vec<f64> = (1..=10).map(f64::from).collect();
        let bent: Vec<f64> = k.iter().map(|k| (-1e-4 * k).exp()).collect();
        let target: Vec<f64> = k.iter().zip(&bent).map(|(k, bent)| 0.5 + 2.0 * bent - 0.01 * k).collect();
        let (_, left) = QrFactors::new(vec![vec![1.0; 10], k, bent]).solve(&target);
        assert!(left < 1e-28, "{left}");
    }
}

//! Ridge regression onto classes: a classifier simple enough to measure with.
//!
//! ```text
//! B = (Xᵀ W X + λ n I)⁻¹ Xᵀ W Y        X: n × d, columns standardised, a column of ones kept out of the penalty's way
//! class = argmax of x B                Y: n × K of 0 and 1, W: each class the same weight in all
//! ```
//!
//! Hastie, Tibshirani & Friedman, *The Elements of Statistical Learning* (2009), sections 3.4 and 4.2.

/// Strength λ of the penalty, relative to standardised columns.
const PENALTY: f64 = 0.05;
/// Columns that vary less than this, relative to their size, say nothing and are set to 0.
const LEAST_STD: f64 = 1e-9;

/// A linear classifier of rows.
pub(super) struct Classifier {
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// `(d + 1) × K`, the last row for the constant.
    weights: Vec<f64>,
    n_classes: usize,
}

impl Classifier {
    /// The classifier learned from rows of equal length and their classes, below `n_classes`.
    pub fn learned(rows: &[&[f64]], classes: &[usize], n_classes: usize) -> Self {
        let width = rows.first().map_or(0, |row| row.len());
        let n = rows.len().max(1) as f64;
        let mean: Vec<f64> = (0..width).map(|d| rows.iter().map(|row| row[d]).sum::<f64>() / n).collect();
        let scale = (0..width).map(|d| {
            let std = (rows.iter().map(|row| (row[d] - mean[d]).powi(2)).sum::<f64>() / n).sqrt();
            if std > LEAST_STD * (1.0 + mean[d].abs()) { 1.0 / std } else { 0.0 }
        });
        let mut classifier = Self { scale: scale.collect(), mean, weights: Vec::new(), n_classes };
        let (mut gram, mut right) = classifier.sums(rows, classes);
        let size = width + 1;
        (0..width).for_each(|d| gram[d * size + d] += PENALTY * n);
        // Too small to matter, and enough where a class is absent altogether.
        gram[size * size - 1] += 1e-9 * n;
        solve(&mut gram, &mut right, size);
        classifier.weights = right;
        classifier
    }

    /// The class of a row.
    pub fn classify(&self, row: &[f64]) -> usize {
        let row = self.standardised(row);
        let score = |class: usize| {
            row.iter().enumerate().map(|(d, x)| x * self.weights[d * self.n_classes + class]).sum::<f64>()
        };
        (0..self.n_classes).max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a))).unwrap_or(0)
    }

    /// Weighted `Xᵀ W X` and `Xᵀ W Y`.
    fn sums(&self, rows: &[&[f64]], classes: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let size = self.mean.len() + 1;
        let mut counts = vec![0.0; self.n_classes];
        classes.iter().for_each(|&class| counts[class] += 1.0);
        let n_present = counts.iter().filter(|&&count| count > 0.0).count() as f64;
        let (mut gram, mut right) = (vec![0.0; size * size], vec![0.0; size * self.n_classes]);
        for (row, &class) in rows.iter().zip(classes) {
            let row = self.standardised(row);
            let weight = rows.len() as f64 / (n_present * counts[class]);
            for i in 0..size {
                right[i * self.n_classes + class] += weight * row[i];
                (0..=i).for_each(|j| gram[i * size + j] += weight * row[i] * row[j]);
            }
        }
        (gram, right)
    }

    fn standardised(&self, row: &[f64]) -> Vec<f64> {
        let scaled =
            row.iter().zip(self.mean.iter().zip(&self.scale)).map(|(x, (mean, scale))| (x - mean) * scale);
        scaled.chain([1.0]).collect()
    }
}

/// Replaces `right` (`size × k`) by the solution, through the Cholesky factor of the lower triangle of `gram`.
fn solve(gram: &mut [f64], right: &mut [f64], size: usize) {
    for i in 0..size {
        for j in 0..=i {
            let done: f64 = (0..j).map(|k| gram[i * size + k] * gram[j * size + k]).sum();
            let rest = gram[i * size + j] - done;
            gram[i * size + j] =
                if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / gram[j * size + j] };
        }
    }
    let width = right.len() / size;
    for column in 0..width {
        for i in 0..size {
            let done: f64 = (0..i).map(|k| gram[i * size + k] * right[k * width + column]).sum();
            right[i * width + column] = (right[i * width + column] - done) / gram[i * size + i];
        }
        for i in (0..size).rev() {
            let done: f64 = (i + 1..size).map(|k| gram[k * size + i] * right[k * width + column]).sum();
            right[i * width + column] = (right[i * width + column] - done) / gram[i * size + i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separate_classes_are_told_apart_whatever_their_sizes() {
        let rows: Vec<Vec<f64>> =
            (0..90).map(|i| vec![if i < 80 { 1.0 } else { 3.0 } + 0.01 * (i % 7) as f64, 5.0]).collect();
        let classes: Vec<usize> = (0..90).map(|i| usize::from(i >= 80)).collect();
        let views: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let classifier = Classifier::learned(&views, &classes, 3);
        assert_eq!(classifier.classify(&[1.1, 5.0]), 0);
        assert_eq!(classifier.classify(&[2.9, 5.0]), 1);
        // With equal weights the border is about half way; without them the large class would push it up.
        assert_eq!(classifier.classify(&[2.2, 5.0]), 1);
    }

    #[test]
    fn solving_inverts() {
        let full = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let x = [1.0, -2.0, 0.5];
        let mut right: Vec<f64> = (0..3).map(|i| (0..3).map(|j| full[3 * i + j] * x[j]).sum()).collect();
        solve(&mut full.clone(), &mut right, 3);
        assert!(right.iter().zip(x).all(|(found, x)| (found - x).abs() < 1e-12));
    }
}

//! A clock: smooth functions of the time since a sequence began, as inputs beside those of the data.
//!
//! ```text
//! κ_j(t) = √(2j + 1) P_j(x)      x = 2 (t + ½) / T − 1,  t < T      P_j: Legendre's polynomial of degree j = 1 … J
//! ```
//! A system that does not change with time has no way to know how old a sequence is, except by its state. Where members begin
//! together (growth, days, doses) the age itself tells much, and D κ(t) with a D that the code adapts holds every family of smooth
//! curves: functional principal components are the special case of a D that is affine in the code, and nothing else. The functions
//! have mean square 1 and are orthogonal over the T steps, so that none of them is learned faster than another. After T steps the
//! clock stands still.

use serde::{Deserialize, Serialize};

use crate::family::Signal;
use crate::{Error, Result};

/// Most functions: more would follow single steps.
const MOST_FUNCTIONS: usize = 64;

/// Smooth functions of the time since a sequence began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Steps T over which it runs.
    pub steps: usize,
    /// Number J of functions.
    pub functions: usize,
}

impl Clock {
    /// # Errors
    /// No steps, no functions, or more than can be told apart.
    pub(crate) fn validate(self) -> Result<()> {
        let most = MOST_FUNCTIONS.min(self.steps.saturating_sub(1));
        if (1..=most).contains(&self.functions) {
            return Ok(());
        }
        let why = format!("found {} functions of {} steps; expected 1 to {most}", self.functions, self.steps);
        Err(Error::setting("clock", why))
    }

    /// κ at a step, counted from 0.
    fn at(self, step: usize) -> impl Iterator<Item = f64> {
        let x = 2.0 * (step.min(self.steps - 1) as f64 + 0.5) / self.steps as f64 - 1.0;
        // (j + 1) P_{j+1} = (2j + 1) x P_j − j P_{j−1}
        let next = move |pair: &mut (f64, f64), j: usize| {
            let j = j as f64;
            *pair = (pair.1, ((2.0 * j + 1.0) * x * pair.1 - j * pair.0) / (j + 1.0));
            Some(pair.1 * (2.0 * j + 3.0).sqrt())
        };
        (0..self.functions).scan((0.0, 1.0), next)
    }

    /// Inputs of these steps with the functions behind them.
    ///
    /// # Errors
    /// None for inputs of at least so many steps.
    pub(crate) fn beside(self, inputs: Option<&Signal>, steps: std::ops::Range<usize>) -> Result<Signal> {
        let width = inputs.map_or(0, Signal::width) + self.functions;
        let mut values = Vec::with_capacity(steps.len() * width);
        for (row, step) in steps.clone().enumerate() {
            values.extend(inputs.map_or(&[][..], |inputs| inputs.row(row)));
            values.extend(self.at(step));
        }
        Signal::new(steps.len(), width, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_functions_are_told_apart_by_all_steps_together() {
        let clock = Clock { steps: 400, functions: 6 };
        let rows: Vec<Vec<f64>> = (0..400).map(|t| clock.at(t).collect()).collect();
        for i in 0..6 {
            for j in 0..6 {
                let product = rows.iter().map(|row| row[i] * row[j]).sum::<f64>() / 400.0;
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-3, "{i} {j}: {product}");
            }
        }
    }

    #[test]
    fn the_second_is_the_parabola_that_tables_have() {
        let clock = Clock { steps: 10, functions: 2 };
        let x = 2.0 * 3.5 / 10.0 - 1.0;
        let found: Vec<f64> = clock.at(3).collect();
        assert!((found[0] - 3f64.sqrt() * x).abs() < 1e-12);
        assert!((found[1] - 5f64.sqrt() * (3.0 * x * x - 1.0) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn it_stands_still_at_its_end_and_keeps_inputs_in_front() {
        let clock = Clock { steps: 5, functions: 3 };
        let inputs = Signal::column(vec![7.0, 8.0, 9.0]);
        let told = clock.beside(Some(&inputs), 4..7).unwrap();
        assert_eq!((told.n_time(), told.width(), told.get(2, 0)), (3, 4, 9.0));
        assert_eq!(told.row(0)[1..], told.row(2)[1..]);
        assert_eq!(clock.beside(None, 4..7).unwrap().row(1), &told.row(1)[1..]);
    }

    #[test]
    fn more_functions_than_steps_are_refused() {
        assert!(Clock { steps: 5, functions: 5 }.validate().is_err());
        assert!(Clock { steps: 5, functions: 0 }.validate().is_err());
        assert!(Clock { steps: 0, functions: 1 }.validate().is_err());
        assert!(Clock { steps: 5, functions: 4 }.validate().is_ok());
    }
}

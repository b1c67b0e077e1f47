//! Several models of one sequence as one: their forecasts mixed by the evidence of what was seen.
//!
//! ```text
//! p(y_τ | y_{1:t}) = Σ_k w_k p_k(y_τ | y_{1:t})        w_k ∝ p_k(y_{1:t}),   models equally likely before
//! log p(y_{1:t})   = log (1/K) Σ_k p_k(y_{1:t})
//! ```

use mtds::predict::DrawNoise;
use mtds::{Error, Forecast, Result};

/// Forecasts of the same steps by models whose log evidences stand beside them.
///
/// # Errors
/// [`Error::Shape`] for no forecast, or not one evidence each; [`Error::Setting`] for noise that is not diagonal and
/// constant, or evidences of which none is finite.
pub(super) fn mix(mut forecasts: Vec<Forecast>, log_evidences: &[f64]) -> Result<Forecast> {
    if forecasts.len() != log_evidences.len() || forecasts.is_empty() {
        let (expected, found) = (forecasts.len().max(1).to_string(), log_evidences.len().to_string());
        return Err(Error::Shape { what: "log evidences of the members".into(), expected, found });
    }
    if forecasts.len() == 1 {
        return Ok(forecasts.remove(0));
    }
    let total = log_mean_evidence(log_evidences);
    let (mut weights, mut means, mut std_devs) = (vec![], vec![], vec![]);
    for (forecast, evidence) in forecasts.iter().zip(log_evidences) {
        let DrawNoise::Diagonal(own) = forecast.noise() else {
            let why = "found a member whose noise is not diagonal; mix members of one form".into();
            return Err(Error::Setting { name: "noise".into(), why });
        };
        let share = (evidence - total).exp();
        weights.extend(forecast.weights().iter().map(|w| w * share));
        means.extend_from_slice(forecast.means());
        std_devs.extend_from_slice(own);
    }
    let first = &forecasts[0];
    Forecast::new(first.first_step(), first.d_obs(), weights, means, DrawNoise::Diagonal(std_devs))
}

/// The log evidence of members that are equally likely before anything is seen.
pub(super) fn log_mean_evidence(log_evidences: &[f64]) -> f64 {
    let largest = log_evidences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    let total: f64 = log_evidences.iter().map(|evidence| (evidence - largest).exp()).sum();
    largest + (total / log_evidences.len() as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(level: f64) -> Forecast {
        Forecast::new(3, 1, vec![1.0, 1.0], vec![level; 4], DrawNoise::Diagonal(vec![0.1; 2])).unwrap()
    }

    #[test]
    fn members_count_by_their_evidence() {
        // The second member is three times as likely: 0.25 · 1 + 0.75 · 5 = 4.
        let mixed = mix(vec![constant(1.0), constant(5.0)], &[-700.0, -700.0 + 3f64.ln()]).unwrap();
        assert!(mixed.mean().iter().all(|mean| (mean - 4.0).abs() < 1e-12), "{:?}", mixed.mean());
        assert_eq!((mixed.first_step(), mixed.n_draws(), mixed.n_time()), (3, 4, 2));
        let evidence = log_mean_evidence(&[-700.0, -700.0 + 3f64.ln()]);
        assert!((evidence - (-700.0 + 2f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn one_member_is_itself_and_none_is_refused() {
        assert_eq!(mix(vec![constant(2.0)], &[f64::NEG_INFINITY]).unwrap(), constant(2.0));
        assert!(matches!(mix(vec![], &[]), Err(Error::Shape { .. })));
        assert!(matches!(mix(vec![constant(2.0)], &[0.0, 1.0]), Err(Error::Shape { .. })));
        assert!(mix(vec![constant(1.0), constant(2.0)], &[f64::NEG_INFINITY; 2]).is_err());
    }
}

//! What held-out sequences decided about new members, in words.

use crate::text::estimate;
use mtds::FitRecord;
use mtds::evaluate::Estimate;
use mtds::parts::{CalibrationRecord, PriorRecord, RemainderRecord};

/// What was decided, by name; only what held-out sequences had a say in.
pub fn sentences(fit: &FitRecord) -> Vec<(&'static str, String)> {
    let named = [
        ("codes of new members", prior_words(&fit.new_members.prior)),
        ("process noise", calibration_words(&fit.new_members.calibration)),
        ("what codes leave over", remainder_words(&fit.new_members.remainder)),
    ];
    named.into_iter().filter_map(|(name, words)| Some((name, words?))).collect()
}

fn prior_words(prior: &PriorRecord) -> Option<String> {
    let best = prior.trials.iter().max_by(|a, b| a.ahead.mean.total_cmp(&b.ahead.mean))?;
    let ahead = in_nats(&best.ahead, 1);
    Some(match prior.spread {
        Some(spread) => format!(
            "around those of the members (spread {spread}); that makes held-out sequences {ahead} nats each likelier than a \
             normal prior"
        ),
        None => {
            format!(
                "normal; around those of the members held-out sequences are not clearly likelier ({ahead} nats each)"
            )
        }
    })
}

fn calibration_words(calibration: &CalibrationRecord) -> Option<String> {
    let factor = calibration.factor;
    let trial = calibration.trials.iter().find(|trial| trial.factor == factor)?;
    Some(match factor == 1.0 {
        true => "as learned; none forecasts held-out sequences clearly better".to_owned(),
        false => format!(
            "{factor} times the learned one, which forecasts held-out sequences better, by {} nats a value",
            in_nats(&trial.gain, 2)
        ),
    })
}

fn remainder_words(remainder: &RemainderRecord) -> Option<String> {
    let chosen = remainder.trials.iter().find(|trial| Some(trial.rule) == remainder.rule);
    let best = remainder.trials.iter().min_by(|a, b| a.less.mean.total_cmp(&b.less.mean));
    let less = in_nats(&chosen.or(best)?.less, 3);
    Some(match remainder.rule {
        Some(_) => format!(
            "goes on in forecasts, which changes the squared error of held-out sequences by {less}, in deviations of an output"
        ),
        None => format!(
            "is left out of forecasts; held-out sequences are not forecast clearly better with it ({less})"
        ),
    })
}

fn in_nats(found: &Estimate, decimals: usize) -> String {
    estimate(found.mean, found.std_error.unwrap_or(f64::NAN), decimals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mtds::parts::{CalibrationTrial, PriorTrial, PriorWeight, Remainder, RemainderTrial};

    fn estimate_of(mean: f64) -> Estimate {
        Estimate { mean, std_error: Some(0.25), n: 8 }
    }

    #[test]
    fn what_was_decided_is_said_with_its_figure() {
        let trials = vec![
            PriorTrial { spread: 0.1, ahead: estimate_of(3.0) },
            PriorTrial { spread: 0.3, ahead: estimate_of(1.0) },
        ];
        let around = PriorRecord { spread: Some(0.1), trials: trials.clone() };
        let words = prior_words(&around).expect("said");
        assert!(words.contains("spread 0.1") && words.contains("3.0 ± 0.2 nats"), "{words}");
        let normal = PriorRecord { spread: None, trials };
        assert!(prior_words(&normal).expect("said").starts_with("normal; "));
        let trial = |factor, gain| CalibrationTrial { factor, gain: estimate_of(gain) };
        let mut calibration =
            CalibrationRecord { factor: 1.35, trials: vec![trial(1.0, 0.0), trial(1.35, 0.5)] };
        let words = calibration_words(&calibration).expect("said");
        assert!(words.starts_with("1.35 times") && words.contains("0.50 ± 0.25"), "{words}");
        calibration.factor = 1.0;
        assert!(calibration_words(&calibration).expect("said").starts_with("as learned"));
    }

    #[test]
    fn where_nothing_was_tried_nothing_is_said() {
        assert_eq!(prior_words(&PriorRecord::default()), None);
        assert_eq!(calibration_words(&CalibrationRecord::default()), None);
    }

    #[test]
    fn what_is_left_over_is_said_where_it_was_tried() {
        assert_eq!(remainder_words(&RemainderRecord::default()), None);
        let rule = Remainder { weight: PriorWeight::Steps(32.0), fading: 8.0, phase: None };
        let trials = vec![RemainderTrial { rule, less: estimate_of(-0.5) }];
        let chosen = RemainderRecord { rule: Some(rule), trials: trials.clone() };
        assert!(
            remainder_words(&chosen).is_some_and(|words| words.contains("goes on") && words.contains("0.5"))
        );
        let none = RemainderRecord { rule: None, trials };
        assert!(remainder_words(&none).is_some_and(|words| words.contains("left out")));
    }
}

//! What is believed of members that are yet to come: where their codes lie, how noisy they are, how wide forecasts get.

use super::approach::FILTERED;
use super::rules::{Chooser, Work};
use super::{Beginning, Choices, Facts, Recipe, Wishes};
use crate::learn::new_members::FEWEST;
use crate::learn::{PriorRule, RemainderRule};
use crate::{Error, Result};

/// Why something is not decided by held-out sequences.
const TOO_FEW: &str = "too few sequences are held out to choose by";

/// Deviation of the prior, shift and deviation of log s where components of curves were confirmed by members left out.
const CURVES: (f64, f64, f64) = (1.1, 0.0, 0.3);

/// What is believed of members that are yet to come.
pub(super) fn fill(by: &mut Chooser, w: &mut Wishes, facts: &Facts, work: &Work) {
    let (tau, shift, spread) = match w.start {
        Some(Beginning::Curves) => CURVES,
        _ => test_time(work.members),
    };
    let why = format!("what {} members can teach about others", work.members);
    by.fill("prior", &mut w.prior, prior(work));
    by.fill("prior_std", &mut w.prior_std, (tau, why.as_str()));
    by.fill("calibrate", &mut w.calibrate, calibrate(w.share.as_deref().unwrap_or_default(), work));
    let chosen = remainder(w, facts, work);
    by.fill("remainder", &mut w.remainder, chosen);
    by.fill("noise_shift", &mut w.noise_shift, (shift, why.as_str()));
    by.fill("noise_spread", &mut w.noise_spread, (spread, why.as_str()));
}

fn prior(work: &Work) -> (PriorRule, &'static str) {
    match work.held_out >= FEWEST {
        true => (PriorRule::Auto, "around the members where that makes held-out sequences likelier"),
        false => (PriorRule::Normal, TOO_FEW),
    }
}

/// Whether what codes leave over goes on.
fn remainder(w: &Wishes, facts: &Facts, work: &Work) -> (RemainderRule, &'static str) {
    match () {
        () if has_random_state(w) => (RemainderRule::Never, "a random state knows what is left over"),
        () if facts.d_input == 0 => (RemainderRule::Never, "without inputs the code tells all of a sequence"),
        () if w.compare == Some(true) => (RemainderRule::Never, "structures are compared as they are"),
        () if work.held_out >= FEWEST => {
            (RemainderRule::Auto, "where held-out sequences are forecast better by it")
        }
        () if matches!(w.recipe, Some(Recipe::Motion | Recipe::MotionLarge)) => {
            (RemainderRule::Always, "as tried on recordings of walks")
        }
        () => (RemainderRule::Never, TOO_FEW),
    }
}

/// Whether the base model is the one whose state is random.
fn has_random_state(w: &Wishes) -> bool {
    w.base.as_deref() == Some(FILTERED)
}

fn calibrate(shared: &[String], work: &Work) -> (bool, &'static str) {
    match (has_process_noise(shared), work.held_out >= FEWEST) {
        (true, true) => {
            (true, "process noise by forecasts of held-out sequences, where they are clear about it")
        }
        (true, false) => (false, TOO_FEW),
        (false, _) => (false, "there is no process noise that all members share"),
    }
}

fn has_process_noise(shared: &[String]) -> bool {
    shared.iter().any(|block| block == "process_noise")
}

/// Deviation of the prior, shift and deviation of log s for new members, by the number of members learned from.
fn test_time(members: usize) -> (f64, f64, f64) {
    match members {
        0..=4 => (4.0, 0.5, 0.5),
        5..=8 => (2.5, 0.4, 0.5),
        9..=16 => (2.5, 0.3, 0.5),
        17..=32 => (1.5, 0.1, 0.3),
        _ => (1.3, 0.05, 0.2),
    }
}

impl Choices {
    /// Whether what codes leave over can go on, and be decided about, as asked.
    pub(super) fn check_remainder(&self, work: &Work) -> Result<()> {
        let why = match self.remainder {
            RemainderRule::Never => return Ok(()),
            _ if self.base == FILTERED => {
                "found it with a random state, which knows what is left over; leave it out".to_owned()
            }
            RemainderRule::Auto if work.held_out < FEWEST => format!(
                "found `auto`, but {} sequence(s) are held out; expected {FEWEST} or more: `always`, or a larger `validation`",
                work.held_out
            ),
            _ => return Ok(()),
        };
        Err(Error::setting("remainder", why))
    }

    /// Process noise and held-out sequences, if they are to meet.
    pub(super) fn check_calibrate(&self, work: &Work) -> Result<()> {
        let why = match (self.calibrate, has_process_noise(&self.share)) {
            (true, false) => {
                "found true, but there is no process noise that all members share; ask for `kalman` as `base`"
                    .to_owned()
            }
            (true, true) if work.held_out < FEWEST => format!(
                "found true, but {} sequence(s) are held out; expected {FEWEST} or more: a larger `validation`",
                work.held_out
            ),
            _ => return Ok(()),
        };
        Err(Error::setting("calibrate", why))
    }
}

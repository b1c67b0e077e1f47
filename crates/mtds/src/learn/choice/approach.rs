//! Which base model is learned, and how: the two choices that matter most.
//!
//! ```text
//! inputs in common  own inputs
//!      iwae            iwae      kalman: beliefs that follow each sequence, weighed by how well they do
//!      mco             iwae      base models whose state is a function of the code
//! ```
//! A system that is sure of its state takes what it cannot explain for the code's doing: forecasts then are far off, and sure.
//! One that is not widens its forecasts instead, also where the truth has no randomness but few members taught it.

use super::{Beginning, Facts, LearnRule, Wishes};

/// The linear system with process noise, by name.
pub(super) const FILTERED: &str = "kalman";
/// Most outputs of a filter that is chosen unasked: each is a step of it.
const MOST_OUTPUTS: usize = 16;

/// The base model.
pub(super) fn base(w: &Wishes, facts: &Facts) -> (String, String) {
    let (name, why) = match facts.d_obs {
        _ if asks_for_draws(w) => {
            ("lds", "draws of the prior are rolled out: few numbers to learn, fast".into())
        }
        _ if asks_for_front(w) => ("lds", "few numbers to learn behind a network".into()),
        _ if w.residual == Some(true) => ("rnn", "outputs are added up".into()),
        n if n > MOST_OUTPUTS => {
            ("lds", format!("few numbers to learn, fast; a filter would take {n} outputs in turn"))
        }
        _ => (FILTERED, "linear, and not sure of its state: what it leaves out widens its forecasts".into()),
    };
    (name.to_owned(), why)
}

/// The way to learn; the base model is chosen.
pub(super) fn learn(w: &Wishes, facts: &Facts) -> (LearnRule, &'static str) {
    match w.base.as_deref() {
        _ if asks_for_front(w) => {
            (LearnRule::Elbo, "a network before the base model learns with beliefs that follow each sequence")
        }
        _ if asks_for_draws(w) => (LearnRule::Mco, "draws that follow each sequence, after a start"),
        Some(FILTERED) => (LearnRule::Iwae, "beliefs that follow each sequence, weighed by how well they do"),
        _ if facts.own_inputs => (
            LearnRule::Iwae,
            "inputs differ: beliefs that follow each sequence find what it has in common with others",
        ),
        _ => (LearnRule::Mco, "one rollout of a draw serves every sequence"),
    }
}

/// Whether something is asked for that only learning from draws of the prior has.
fn asks_for_draws(w: &Wishes) -> bool {
    w.learn == Some(LearnRule::Mco)
        || matches!(w.start, Some(Beginning::Prior | Beginning::Effects))
        || w.start_steps.is_some_and(|steps| steps > 0)
        || w.particles.is_some_and(|particles| particles > 0)
}

fn asks_for_front(w: &Wishes) -> bool {
    w.front.is_some_and(|units| units > 0)
}

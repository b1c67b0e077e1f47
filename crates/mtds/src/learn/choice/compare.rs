//! Structures that are worth comparing on a family, and how often each is learned.
//!
//! ```text
//! plain     the system that rules choose: its state knows how old a sequence is, or nothing does
//! clock     the same, told how old a sequence is
//! curves    components of curves that the code adds up, and a state for what they leave over
//! draws     a state that is sure, learned from draws of the prior: for impulses
//! ```
//! Which does best depends on the family more than any rule could say: components of curves are hard to beat on a dozen members of ten
//! steps, and far behind where members have inputs of their own.

use super::rules::Chooser;
use super::{Beginning, Facts, LearnRule, Stimulus, Wishes};

/// Fewest members that structures are compared by.
const FEWEST: usize = 4;
/// Usual budget, in minutes.
pub(super) const USUAL_BUDGET: f64 = 3.0;
/// Most values of a family that is learned several times with the usual budget: beyond, that takes too long, and structures are compared
/// by one part.
const MOST_VALUES: f64 = 8_000.0;
/// Members below which every one is held out once, and the number of parts then and otherwise.
const FEW: usize = 14;
const FOLDS: (usize, usize) = (5, 3);
/// Share that a part holds out.
const SHARE: f64 = 0.2;
/// Longest and widest curves: longer ones are cut, wider ones take another base model.
const LONGEST: usize = 512;
const WIDEST: usize = 16;
/// Factor on the steps of learning from draws: its noise has a long way to come down, and its steps are quick.
const PATIENT: f64 = 3.0;
/// Functions of a clock beside a state.
const FUNCTIONS: usize = 4;

/// A structure: its name, and what it asks for beside what a person did.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// In tables.
    pub name: &'static str,
    /// All that is asked for.
    pub wishes: Wishes,
}

/// Whether structures are compared.
pub(super) fn fill(by: &mut Chooser, w: &mut Wishes, facts: &Facts) -> bool {
    let found = match () {
        () if facts.n_seq < FEWEST => (false, "too few sequences to hold any out"),
        () if w.compare != Some(true) && asks_for_structure(w) => {
            (false, "something about the structure is asked for")
        }
        () => (true, "no rule says which structure suits a family: its own members do"),
    };
    by.fill("compare", &mut w.compare, found)
}

fn asks_for_structure(w: &Wishes) -> bool {
    let Wishes { base, code, state, front, clock, residual, hidden, adapt, share, fix, .. } = w;
    let Wishes { scaling, segment, jitter, learn, start, start_steps, particles, refine_steps, .. } = w;
    let Wishes { minibatch, amortised, hard_steps, temperature, window, prior, prior_std, .. } = w;
    let names = adapt.is_some() || share.is_some() || fix.is_some() || base.is_some() || hidden.is_some();
    let sizes = [code, state, front, clock, segment, jitter, particles, minibatch, amortised, window];
    let steps = [start_steps, refine_steps, hard_steps];
    names
        || sizes.iter().any(|size| size.is_some())
        || steps.iter().any(|steps| steps.is_some())
        || residual.is_some()
        || scaling.is_some()
        || (learn.is_some() || start.is_some() || prior.is_some())
        || (temperature.is_some() || prior_std.is_some())
}

/// Whether learning several structures would take longer than the budget.
fn is_large(budget: f64, facts: &Facts) -> bool {
    (facts.n_seq * facts.max_time * facts.d_obs) as f64 > MOST_VALUES * budget / USUAL_BUDGET
}

impl Structure {
    /// Those that are compared on a family with these facts, the plain one first.
    #[must_use]
    pub fn all(wishes: &Wishes, facts: &Facts) -> Vec<Self> {
        let is_large = is_large(wishes.budget.unwrap_or(USUAL_BUDGET), facts);
        let validation = wishes.validation.or((!is_large).then_some(SHARE));
        let with = |name, own: Wishes| {
            let common = Wishes { compare: Some(true), validation, ..wishes.clone() };
            Self { name, wishes: own.or(common) }
        };
        let mut all = vec![with("plain", Wishes::default())];
        let are_curves = facts.max_time > FUNCTIONS + 1 && facts.max_time <= LONGEST && facts.d_obs <= WIDEST;
        // What happens to members on the way is not told by their age; what they are from the beginning to the end takes nothing away from it.
        let age_tells = facts.d_input == 0 || facts.steady_inputs;
        if age_tells && are_curves && !is_large {
            all.push(with("clock", Wishes { clock: Some(FUNCTIONS), ..Wishes::default() }));
            all.push(with("curves", Wishes { start: Some(Beginning::Curves), ..Wishes::default() }));
        }
        if facts.drive == Stimulus::Impulse {
            let effort = Some(PATIENT * wishes.effort.unwrap_or(1.0));
            // While the noise comes down, the bound of members held out falls before it rises.
            let (learn, patience) = (Some(LearnRule::Mco), Some(0));
            all.push(with("draws", Wishes { learn, effort, patience, ..Wishes::default() }));
        }
        all
    }

    /// How many systems a comparison with this budget learns.
    #[must_use]
    pub fn systems(budget: f64, facts: &Facts) -> usize {
        let wishes = Wishes { budget: Some(budget), ..Wishes::default() };
        Self::all(&wishes, facts).len() * Self::folds(budget, facts)
    }

    /// How many parts of a family hold out members of their own in turn.
    #[must_use]
    pub fn folds(budget: f64, facts: &Facts) -> usize {
        match facts.n_seq {
            _ if is_large(budget, facts) => 1,
            n if n < FEW => n.min(FOLDS.0),
            _ => FOLDS.1,
        }
    }
}

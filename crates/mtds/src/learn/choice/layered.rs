//! Settings of the network before a base model: the rules by which they follow, their ranges, and the front made of them.

use super::rules::Chooser;
use super::{Beginning, Choices, Facts, Wishes};
use crate::front::{Front, FrontStart, InputSkip};
use crate::{Error, Result};

/// The name of a layered model among the kinds of base model: a tanh network behind a front.
pub const LAYERED: &str = "layered";
/// Units of the front of a layered model.
const UNITS: usize = 64;
/// Most functions of a clock that are chosen unasked.
const MOST_FUNCTIONS: usize = 12;
/// Why a setting of a front has no effect.
const UNUSED: &str = "there is no network before the base model";

/// Fills in the front; returns the width of what drives the base model.
pub(super) fn fill(by: &mut Chooser, w: &mut Wishes, facts: &Facts) -> usize {
    let is_layered = w.base.as_deref() == Some(LAYERED);
    let units = match is_layered {
        true => (UNITS, "a layered model has a network over the inputs that all members share"),
        false => (0, "inputs go to the base model as they are"),
    };
    let is_there = by.fill("front", &mut w.front, units) > 0;
    let or = |why: &'static str| if is_there { why } else { UNUSED };
    let width = if is_there { facts.d_input.clamp(2, 8) } else { 0 };
    let why = or("as many as inputs, within 2 to 8: narrow, so that the code has something to explain");
    let bottleneck = by.fill("bottleneck", &mut w.bottleneck, (width, why));
    let skip = by.fill("front_skip", &mut w.front_skip, (false, or("all goes through the bottleneck")));
    let why = or("the base model sees what the inputs of its own step say");
    by.fill("front_lag", &mut w.front_lag, (false, why));
    by.fill("front_seed", &mut w.front_seed, (0, or("it begins at zero")));
    by.fill("unscored", &mut w.unscored, (0, or("every step is scored")));
    let rate = if is_there { 0.3 } else { 1.0 };
    by.fill("front_rate", &mut w.front_rate, (rate, or("slower than the rest: the code comes to tell more")));
    by.fill("front_l2", &mut w.front_l2, (0.0, or("its bottleneck is narrow enough")));
    let functions = match is_there {
        true => (0, "the network before the base model has a memory"),
        false => clock(w, facts),
    };
    let functions = by.fill("clock", &mut w.clock, functions);
    by.fill("residual", &mut w.residual, (false, "outputs are emitted as they are"));
    match is_there {
        true => bottleneck + if skip { facts.d_input } else { 0 },
        false => facts.d_input + functions,
    }
}

/// Functions of a clock for curves of so many steps: all that there can be for short ones.
fn clock(w: &Wishes, facts: &Facts) -> (usize, &'static str) {
    match w.start {
        Some(Beginning::Curves) => {
            (facts.max_time.saturating_sub(1).clamp(1, MOST_FUNCTIONS), "enough for the curves of members")
        }
        _ => (0, "the state knows how old a sequence is"),
    }
}

impl Choices {
    /// Ranges of what a front has, and that none of it is asked where there is none.
    pub(super) fn check_front(&self, facts: &Facts) -> Result<()> {
        let is_there = self.front > 0;
        for (key, found, most) in [
            ("front", self.front, 4096),
            ("bottleneck", self.bottleneck, 1024),
            ("front_skip", usize::from(self.front_skip), 1),
            ("front_lag", usize::from(self.front_lag), 1),
            ("front_seed", self.front_seed, facts.median_time.saturating_sub(1)),
            ("unscored", self.unscored, self.shortest(facts).saturating_sub(1)),
        ] {
            if !is_there && found > 0 {
                let why = format!("found {found}, but {UNUSED}; ask for one by `front`, too");
                return Err(Error::setting(key, why));
            }
            if found > most {
                return Err(Error::setting(key, format!("found {found}; expected at most {most}")));
            }
        }
        if is_there && facts.d_input == 0 {
            let why = format!("found {} units, but no inputs to read; leave it out", self.front);
            return Err(Error::setting("front", why));
        }
        if is_there && self.bottleneck == 0 {
            return Err(Error::setting("bottleneck", "found 0; expected 1 or more behind a network"));
        }
        if !is_there && self.front_rate != 1.0 {
            let why = format!("found {}, but {UNUSED}; ask for one by `front`, too", self.front_rate);
            return Err(Error::setting("front_rate", why));
        }
        if !(self.front_rate > 0.0 && self.front_rate <= 100.0) {
            let why = format!("found {}; expected above 0, at most 100", self.front_rate);
            return Err(Error::setting("front_rate", why));
        }
        if !is_there && self.front_l2 != 0.0 {
            let why = format!("found {}, but {UNUSED}; ask for one by `front`, too", self.front_l2);
            return Err(Error::setting("front_l2", why));
        }
        if !(self.front_l2.is_finite() && self.front_l2 >= 0.0) {
            return Err(Error::setting("front_l2", format!("found {}; expected 0 or more", self.front_l2)));
        }
        let most = facts.max_time.saturating_sub(1).min(64);
        if self.clock > 0 && (is_there || self.segment > 0 || self.clock > most) {
            let why = match (is_there, self.segment > 0) {
                (true, _) => "found one behind a network; leave out one of the two".to_owned(),
                (_, true) => {
                    "found one, but segments begin at any time; leave it out, or ask for `segment` 0"
                        .to_owned()
                }
                _ => format!("found {}; expected at most {most}", self.clock),
            };
            return Err(Error::setting("clock", why));
        }
        if self.residual && !["rnn", "ornn", "gru", LAYERED].contains(&self.base.as_str()) {
            let why =
                format!("found it with `{}`; only rnn, ornn, gru and layered add outputs up", self.base);
            return Err(Error::setting("residual", why));
        }
        Ok(())
    }

    /// Steps of a usual sequence or segment.
    fn shortest(&self, facts: &Facts) -> usize {
        if self.segment > 0 { self.segment.min(facts.median_time) } else { facts.median_time }
    }

    /// The front for inputs and outputs of these widths, if there is one.
    #[must_use]
    pub fn front(&self, d_input: usize, d_obs: usize) -> Option<Front> {
        let start = match self.front_seed {
            0 => FrontStart::Zero,
            steps => FrontStart::Encoded { steps, d_obs },
        };
        let skip = if self.front_skip { InputSkip::Inputs } else { InputSkip::None };
        let front = Front::new(d_input, self.front, self.bottleneck);
        (self.front > 0).then_some(Front {
            skip,
            start,
            unscored: self.unscored,
            lag: self.front_lag,
            ..front
        })
    }
}

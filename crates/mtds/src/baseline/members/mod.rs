//! Rivals that know the family: fitted to training members, they forecast a new one from its first steps.
//!
//! | rival | forecast |
//! |---|---|
//! | [`NearestMembers`] | futures of the training members whose beginnings are near, by a kernel |
//! | [`RidgeRegression`] | each future step regressed on what was seen; leave-one-out residuals around it |
//! | [`FactorCurves`] | functional principal components: the exact conditional of one Gaussian over all steps |
//! | [`SharedProcess`] | a mean process in common and a process for each member, both Gaussian |
//!
//! They align members by their steps. Outputs may be missing and lengths differ; inputs are ignored. They are told what two training members
//! at least have reached: beyond the last such step the answer for it is held, with its spread, and what a new member shows there is
//! not looked at (the process, which is defined at all times, does look, and holds its answer from where it begins). None draws
//! random numbers.

mod curves;
mod factors;
mod nearest;
mod process;
mod ridge;

pub use factors::FactorCurves;
pub use nearest::NearestMembers;
pub use process::SharedProcess;
pub use ridge::RidgeRegression;

/// What hears rounds of learning, done and in all, and may stop them.
pub(crate) type OfRounds<'o> = dyn FnMut(usize, usize) -> crate::Control + 'o;

/// Nothing, unless whoever is asked wants it to end.
fn unless_stopped(observe: &crate::infer::Observer<'_>) -> crate::Result<()> {
    match observe() {
        crate::Control::Continue => Ok(()),
        crate::Control::Stop => Err(crate::Error::Stopped),
    }
}

#[cfg(test)]
mod tests;

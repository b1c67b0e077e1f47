//! Learning as `mtds fit --base pd --state 1` does it, by any way; and one system for all patients.

use mtds::parts::{
    Interpolation, LearnedNetwork, LikelihoodObjective, Pharmacodynamic, REST, Schedule, Trainer,
    TrainingPlan,
};
use mtds::random::{Stream, stream};
use mtds::{
    Architecture, CodeUsage, Control, Error, Family, Fit, LearnRule, Online, PriorRule, Progress, Result,
    System, Wishes,
};
use serde::{Deserialize, Serialize};

use super::Settings;

/// Blocks in which patients differ.
const ADAPT: [&str; 4] = ["decay", "uptake", "effect", "offset"];
/// Blocks that all have in common; a slope of its own could not be told from the uptake.
const SHARE: [&str; 3] = ["slope", "threshold", "noise"];
/// Units of the inference network.
const UNITS: usize = 32;
/// Starts of the pooled system, of which the likeliest is kept, and steps of each.
const POOLED: (u64, u64) = (4, 1500);

/// A way to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Draws that follow each sequence.
    Mco,
    /// The evidence bound, a belief for each sequence.
    Elbo,
    /// The importance-weighted bound, likewise.
    Iwae,
    /// The evidence bound, beliefs by a network.
    Amortised,
}

impl Way {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mco => "mco",
            Self::Elbo => "elbo",
            Self::Iwae => "iwae",
            Self::Amortised => "amortised",
        }
    }

    fn wishes(self, settings: &Settings) -> Wishes {
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        Wishes {
            base: Some("pd".into()),
            state: Some(1),
            code: Some(settings.code),
            adapt: names(&ADAPT),
            share: names(&SHARE),
            fix: names(&[REST]),
            effort: Some(settings.effort),
            prior: Some(PriorRule::Normal),
            learn: Some(match self {
                Self::Mco => LearnRule::Mco,
                Self::Elbo | Self::Amortised => LearnRule::Elbo,
                Self::Iwae => LearnRule::Iwae,
            }),
            amortised: (self == Self::Amortised).then_some(UNITS),
            ..Wishes::default()
        }
    }
}

/// What was learned.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The model.
    pub model: System,
    /// How codes of new patients are inferred.
    pub online: Online,
    /// Use of the code, for the ways that learn beliefs.
    pub usage: Option<CodeUsage>,
    /// The network, for the way that learns one.
    pub network: Option<LearnedNetwork>,
}

/// Learns from `training` by one way; `observer` sees every step and may stop the work.
///
/// # Errors
/// Settings out of range, a loss that is not finite; [`Error::Stopped`].
pub fn learn(
    way: Way,
    settings: &Settings,
    training: &Family,
    observer: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Learned> {
    let fit = Fit { wishes: way.wishes(settings), seed: settings.seed, ..Fit::default() };
    let model = fit.run(training, &mut |heard| heard.step.map_or(Control::Continue, &mut *observer))?;
    let model = model.ok_or(Error::Stopped)?;
    Ok(Learned {
        model: model.system,
        online: model.online,
        usage: model.fit.and_then(|fit| fit.usage),
        network: model.network,
    })
}

/// One system for all patients: the likeliest of several starts.
pub(super) fn pooled(settings: &Settings, training: &Family) -> Result<System> {
    let (starts, steps) = POOLED;
    let plan = TrainingPlan {
        steps,
        learning_rate: Schedule::new(Interpolation::Log, vec![(1, 2e-2), (steps, 5e-4)])?,
        ..TrainingPlan::default()
    };
    let mut best: Option<(f64, System)> = None;
    for start in 0..starts {
        let scaling = mtds::parts::ScalingRule::InputUnits.scaling(training)?;
        let spec = Architecture::without_code(Pharmacodynamic::new(1, 1, 1));
        let model = System::initialise(spec, scaling, &mut stream(settings.seed, Stream::Restart(start)))?;
        let parameters = model.parameters().to_vec();
        let objective = LikelihoodObjective::new(model, training, None)?;
        let mut trainer =
            Trainer::new(objective, parameters, plan.clone(), stream(settings.seed, Stream::Training))?;
        let outcome = trainer.run(&mut |_| Control::Continue)?;
        let reached = trainer.objective().log_likelihood(&outcome.parameters);
        if best.as_ref().is_none_or(|(least, _)| reached > *least) {
            let model = trainer.objective().model().clone().with_parameters(outcome.parameters)?;
            best = Some((reached, model));
        }
    }
    let none = || Error::Setting { name: "starts".into(), why: "found 0; expected 1 or more".into() };
    best.map(|(_, model)| model).ok_or_else(none)
}

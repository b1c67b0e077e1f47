//! The architecture of a model, as a person chooses it and as it is stored.

use serde::Serialize;

use super::Clock;
use crate::base::Base;
use crate::front::{Front, FrontStart};
use crate::generator::{Activation, FeatureMap, Hidden, Layout, Network, Role, Skip};
use crate::predict::Remainder;
use crate::{Error, Result};

/// Base model, roles of its blocks, and generator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Architecture {
    /// The network before the base model, if there is one: its bottleneck then is the base model's input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front: Option<Front>,
    /// The clock beside the inputs, if there is one: its functions are the last inputs of the base model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Temperature τ of the likelihood where codes are inferred, below 1 where outputs are less independent than the model says; `None`
    /// for 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How what the code leaves over of the steps seen goes on in forecasts; `None` where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remainder: Option<Remainder>,
    /// The base model.
    pub base: Base,
    /// Roles that differ from the base model's defaults, by block name.
    pub roles: Vec<(String, Role)>,
    /// The generator; its output width follows from the roles.
    pub network: Network,
}

impl Architecture {
    /// An affine generator from codes of length `d_code`, default roles.
    #[must_use]
    pub fn new(base: impl Into<Base>, d_code: usize) -> Self {
        let base = base.into();
        let network = Network {
            d_code,
            features: FeatureMap::Identity,
            hidden: vec![],
            skip: Skip::None,
            d_out: adapted_len(&base, &[]),
        };
        Self { front: None, clock: None, temperature: None, remainder: None, base, roles: vec![], network }
    }

    /// One system for all sequences: no code, and every block that a code would adapt is shared.
    #[must_use]
    pub fn without_code(base: impl Into<Base>) -> Self {
        let base = base.into();
        let adapted: Vec<_> = base.blocks().into_iter().filter(|b| b.role == Role::Adapted).collect();
        adapted.iter().fold(Self::new(base, 0), |spec, block| spec.share(block.name))
    }

    /// Puts a network before the base model, whose inputs are as wide as what comes out of it.
    #[must_use]
    pub fn behind(mut self, front: Front) -> Self {
        self.front = Some(front);
        self
    }

    /// Puts a clock beside the inputs of the base model, which has as many inputs more as the clock has functions.
    #[must_use]
    pub fn clocked(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Lets the likelihood count τ times where codes are inferred, as it did where the model was learned.
    #[must_use]
    pub fn tempered(mut self, temperature: f64) -> Self {
        self.temperature = (temperature != 1.0).then_some(temperature);
        self
    }

    /// Width of the inputs that a sequence comes with; 0 for none.
    #[must_use]
    pub fn d_input(&self) -> usize {
        let functions = self.clock.map_or(0, |clock| clock.functions);
        self.front.map_or(self.base.d_input().saturating_sub(functions), |front| front.d_input)
    }

    /// Gives a block of θ another role.
    #[must_use]
    pub fn role(mut self, block: &str, role: Role) -> Self {
        self.roles.retain(|(name, _)| name != block);
        self.roles.push((block.to_owned(), role));
        self.network.d_out = adapted_len(&self.base, &self.roles);
        self
    }

    /// Lets the code adapt a block of θ.
    #[must_use]
    pub fn adapt(self, block: &str) -> Self {
        self.role(block, Role::Adapted)
    }

    /// Gives every member the same block of θ, to be learned.
    #[must_use]
    pub fn share(self, block: &str) -> Self {
        self.role(block, Role::Shared)
    }

    /// Holds every raw entry of a block of θ at a value.
    #[must_use]
    pub fn fix(self, block: &str, value: f64) -> Self {
        self.role(block, Role::Fixed(value))
    }

    /// Puts hidden layers of these widths between code and θ.
    #[must_use]
    pub fn hidden(mut self, widths: &[usize], activation: Activation) -> Self {
        self.network.hidden = widths.iter().map(|&width| Hidden { width, activation }).collect();
        self
    }

    /// Restricts the last layer to this rank, for base models with many parameters.
    #[must_use]
    pub fn low_rank(mut self, rank: usize) -> Self {
        self.network.hidden.push(Hidden { width: rank, activation: Activation::Identity });
        self
    }

    /// Chooses the fixed first layer.
    #[must_use]
    pub fn features(mut self, features: FeatureMap) -> Self {
        self.network.features = features;
        self
    }

    /// Adds a path beside the layers.
    #[must_use]
    pub fn skip(mut self, skip: Skip) -> Self {
        self.network.skip = skip;
        self
    }

    /// The layout of θ.
    ///
    /// # Errors
    /// A base model or generator of impossible size, a role for a block that does not exist, a generator
    /// whose output width does not fit the roles.
    pub fn layout(&self) -> Result<Layout> {
        self.base.validate()?;
        self.check_front()?;
        self.check_clock()?;
        if let Some(found) = self.temperature.filter(|tau| !(tau.is_finite() && *tau > 0.0)) {
            return Err(Error::setting("temperature", format!("found {found}; expected above 0")));
        }
        if let Some(l) = self.network.hidden.iter().position(|h| h.width == 0) {
            return Err(Error::setting("hidden", format!("layer {} has no units", l + 1)));
        }
        self.check_remainder()?;
        let layout = Layout::new(self.base.blocks(), &self.roles)?;
        match (self.network.d_code, layout.d_adapted()) {
            (0, 0) if self.network.hidden.is_empty() => {}
            (0, 0) => return Err(Error::setting("hidden", "found layers, but no code to go through them")),
            (0, _) => {
                let why = "found length 0; blocks are adapted, which takes a code of at least one dimension";
                return Err(Error::setting("code", why));
            }
            (_, 0) => {
                let why = "no block is adapted; with no use for the code there is no family";
                return Err(Error::setting("roles", why));
            }
            _ => {}
        }
        if layout.d_adapted() != self.network.d_out {
            return Err(Error::shape("generator output", layout.d_adapted(), self.network.d_out));
        }
        Ok(layout)
    }
}

impl Architecture {
    fn check_remainder(&self) -> Result<()> {
        let Some(remainder) = self.remainder else { return Ok(()) };
        if self.base.stochastic().is_some() {
            let why = "found one with a random state, which knows what it leaves over; leave it out";
            return Err(Error::setting("remainder", why));
        }
        remainder.check(self.d_input())
    }

    fn check_front(&self) -> Result<()> {
        let Some(front) = self.front else { return Ok(()) };
        front.validate()?;
        if front.d_out() != self.base.d_input() {
            return Err(Error::shape(
                "inputs of the base model behind the front",
                front.d_out(),
                self.base.d_input(),
            ));
        }
        match front.start {
            FrontStart::Encoded { d_obs, .. } if d_obs != self.base.d_obs() => {
                Err(Error::shape("outputs that the front encodes", self.base.d_obs(), d_obs))
            }
            _ => Ok(()),
        }
    }
}

impl Architecture {
    fn check_clock(&self) -> Result<()> {
        let Some(clock) = self.clock else { return Ok(()) };
        clock.validate()?;
        if self.front.is_some() {
            return Err(Error::setting("clock", "found one behind a network; leave out one of the two"));
        }
        if self.base.d_input() < clock.functions {
            let expected = format!("at least {}, the functions of the clock", clock.functions);
            return Err(Error::shape("inputs of the base model", expected, self.base.d_input()));
        }
        Ok(())
    }
}

/// Entries of θ that the generator produces; roles for unknown blocks are reported later, by the layout.
fn adapted_len(base: &Base, roles: &[(String, Role)]) -> usize {
    let role_of = |name: &str, default: &Role| {
        roles.iter().find(|(n, _)| n == name).map_or(default.clone(), |(_, role)| role.clone())
    };
    let adapted = |b: &crate::generator::BlockSpec| role_of(b.name, &b.role) == Role::Adapted;
    base.blocks().iter().filter(|b| adapted(b)).map(|b| b.len).sum()
}

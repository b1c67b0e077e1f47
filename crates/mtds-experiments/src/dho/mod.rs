//! Damped harmonic oscillation: how soon, and how well, a model adapts to a new member of the family.

pub mod oracle;
pub mod truth;

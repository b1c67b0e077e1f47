//! The beliefs of a network about the sequences of a family.

use super::network::{InferenceNetwork, Pass, Reading};
use crate::family::{Family, Signal};
use crate::learn::ParameterGroup;
use crate::learn::elbo::{Gaussians, GroupRule};
use crate::{Error, Result};

/// A network with the sequences that it reads.
#[derive(Debug)]
pub(crate) struct NetworkBeliefs {
    network: InferenceNetwork,
    readings: Vec<Reading>,
    pass: Pass,
}

impl NetworkBeliefs {
    /// For the sequences of `family`, in model units.
    ///
    /// # Errors
    /// Widths that are not the network's.
    pub(crate) fn new(network: InferenceNetwork, family: &Family) -> Result<Self> {
        let readings = (0..family.n_seq())
            .map(|i| Reading::new(&network, family.sequence(i).outputs(), family.inputs_of(i)))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { network, readings, pass: Pass::default() })
    }

    pub(crate) fn n_codes(&self) -> usize {
        self.readings.len()
    }

    pub(crate) fn network(&self) -> &InferenceNetwork {
        &self.network
    }

    pub(crate) fn groups(&self, start: usize, rule: GroupRule) -> Vec<ParameterGroup> {
        let group = |tensor: crate::generator::Tensor| ParameterGroup {
            range: start + tensor.range().start..start + tensor.range().end,
            rate: rule.rate as f32,
            l2: if tensor.shape.len() == 2 { rule.l2 as f32 } else { 0.0 },
            name: tensor.name,
        };
        self.network.tensors().into_iter().map(group).collect()
    }

    pub(crate) fn gaussians(&mut self, parameters: &[f32], places: &[usize]) -> Result<Gaussians> {
        let chosen: Vec<&Reading> = places.iter().map(|&i| &self.readings[i]).collect();
        self.network.forward(parameters, &chosen, &mut self.pass)
    }

    pub(crate) fn pull(&mut self, pulled: &Gaussians, gradient: &mut [f32]) -> Result<()> {
        self.network.adjoint(pulled, &mut self.pass, gradient)
    }
}

impl Reading {
    /// Outputs and inputs of one sequence, in model units; inputs beyond the outputs are not read.
    ///
    /// # Errors
    /// Widths that are not the network's, inputs that are too short.
    pub(crate) fn new(network: &InferenceNetwork, outputs: &Signal, inputs: Option<&Signal>) -> Result<Self> {
        let (d_obs, d_input) = network.widths();
        let found = (outputs.width(), inputs.map_or(0, Signal::width));
        if found != (d_obs, d_input) {
            let text = |(p, m): (usize, usize)| format!("{p} outputs and {m} inputs");
            return Err(Error::shape("inference network", text((d_obs, d_input)), text(found)));
        }
        let n_time = outputs.n_time();
        if inputs.is_some_and(|u| u.n_time() < n_time) {
            let expected = format!("at least {n_time} steps");
            return Err(Error::shape("inputs", expected, inputs.map_or(0, Signal::n_time)));
        }
        let mut rows = Vec::with_capacity(n_time * network.d_reading());
        for t in 0..n_time {
            let values = outputs.row(t);
            rows.extend(values.iter().map(|&y| if y.is_nan() { 0.0 } else { y as f32 }));
            rows.extend(values.iter().map(|y| f32::from(u8::from(!y.is_nan()))));
            rows.extend(inputs.into_iter().flat_map(|u| u.row(t)).map(|&u| u as f32));
        }
        Ok(Self { n_time, rows })
    }
}

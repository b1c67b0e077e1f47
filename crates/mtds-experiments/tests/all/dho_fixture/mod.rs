//! A made-up but plausible result of the oscillator experiment, at full scale.

use crate::noise::Noise;
use mtds::evaluate::{Coverage, SequenceScore};
use mtds_experiments::dho::illustration::{Illustration, Interval, Samples};
use mtds_experiments::dho::report::{DhoReport, Examples};
use mtds_experiments::dho::{
    Assembly, CellId, CellKind, CellResult, MonteCarloErrors, Protocol, Recipe, Scale, assemble,
};

/// All that a report borrows from.
pub struct Fixture {
    pub protocol: Protocol,
    pub assembly: Assembly,
    pub cells: Vec<CellResult>,
}

impl Fixture {
    /// The whole experiment, less the cells that `is_missing`.
    pub fn without(is_missing: impl Fn(&CellId) -> bool) -> Self {
        Self::of(Protocol::new(Scale::Full, 1), is_missing)
    }

    /// The experiment of a protocol, less the cells that `is_missing`.
    pub fn of(protocol: Protocol, is_missing: impl Fn(&CellId) -> bool) -> Self {
        let kinds = CellKind::all(&protocol, &Recipe::ALL);
        let ids = kinds.iter().flat_map(|kind| kind.cells(&protocol)).filter(|id| !is_missing(id));
        let cells: Vec<_> = ids.map(|id| cell(id, &protocol)).collect();
        let assembly = assemble(&protocol, &kinds, &cells).expect("cells of this protocol");
        Self { protocol, assembly, cells }
    }

    pub fn report(&self) -> DhoReport<'_> {
        DhoReport {
            protocol: &self.protocol,
            assembly: &self.assembly,
            cells: &self.cells,
            recipes: Recipe::ALL.to_vec(),
            examples: examples(),
            illustrated: Some(("MTLDS-4".into(), vec![illustration(0, 1.0), illustration(1, 1.0)])),
            exact: vec![illustration(0, 0.5), illustration(1, 0.5)],
            settings: pairs(&[
                ("scale", "full"),
                ("seed", "1"),
                ("repetitions", "10"),
                ("test sequences", "20 in each repetition"),
                ("posterior", "adaptive importance sampling"),
                ("threads", "2"),
            ]),
            timings: vec![("oracle".into(), 512.0), ("MTLDS".into(), 12_000.0)],
            commands: pairs(&[("mtds reproduce dho --full", "goes on where it stopped")]),
        }
    }
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

/// Typical RMSE and NLL at t = 10, 20, 40, and the gap in log evidence.
fn level(kind: &CellKind) -> ([f64; 3], [f64; 3], f64) {
    match kind {
        CellKind::Oracle => ([0.15, 0.073, 0.054], [-0.5, -1.17, -1.48], 0.0),
        CellKind::Pooled => ([0.36, 0.34, 0.29], [0.38, 0.34, 0.22], 160.0),
        CellKind::Single => ([0.43, 0.36, 0.10], [1.98, 1.24, -0.37], 0.0),
        CellKind::Mtlds { recipe, n } => {
            let (own, scale) = if *recipe == Recipe::Paper { (0.35, 1.6) } else { (0.0, 1.0) };
            let far = scale * 8.0 / (*n as f64).powf(1.1);
            let rmse = [0.15 + 0.05 * far, 0.075 + 0.035 * far, 0.055 + 0.02 * far];
            (
                rmse,
                [-0.4 + own + 0.5 * far, -1.1 + own + 0.4 * far, -1.44 + own + 0.3 * far],
                0.4 + 40.0 * far,
            )
        }
    }
}

fn cell(id: CellId, protocol: &Protocol) -> CellResult {
    let seed = id.to_string().bytes().fold(11u64, |seed, b| seed.wrapping_mul(31).wrapping_add(u64::from(b)));
    let mut noise = Noise(seed);
    let (rmse, nll, gap) = level(&id.kind);
    let n = protocol.n_test;
    let mut scores = vec![vec![]; protocol.seen.len()];
    let mut evidences = vec![];
    for i in 0..n {
        let shared = Noise(1000 * id.repetition as u64 + i as u64).normal();
        for (k, of_time) in scores.iter_mut().enumerate() {
            let (rmse, crps) = (
                0.047 + (rmse[k] - 0.047) * (0.55 * noise.normal() + 0.2 * shared - 0.17).exp(),
                0.55 * rmse[k],
            );
            let nll = nll[k] + (nll[k] + 1.6) * (0.3 * (noise.normal() + shared)).max(-0.8);
            let coverage =
                [(0.5, 0.49, 0.1), (0.8, 0.79, 0.08), (0.95, 0.945, 0.04)].map(|(level, mean, spread)| {
                    Coverage { level, share: (mean + spread * noise.normal()).clamp(0.0, 1.0) }
                });
            let (n_observed, coverage, pit) = (protocol.n_time - protocol.seen[k], coverage.to_vec(), vec![]);
            of_time.push(SequenceScore { n_observed, rmse, nll, crps, coverage, pit });
        }
        evidences.push(100.0 + 5.0 * shared - gap * (1.0 + 0.3 * noise.normal().abs()));
    }
    CellResult {
        monte_carlo: (id.kind == CellKind::Oracle).then(|| MonteCarloErrors {
            rmse: vec![vec![0.002; n]; scores.len()],
            nll: vec![vec![0.01; n]; scores.len()],
            log_evidence: vec![0.05; n],
        }),
        scores,
        log_evidences: (id.kind != CellKind::Single).then_some(evidences),
        seconds: 10.0,
        ..CellResult::new(id, protocol.clone())
    }
}

/// A member of the family, as the paper makes them.
fn member(seed: u64) -> Vec<f64> {
    let mut noise = Noise(seed);
    for _ in 0..20 {
        noise.uniform();
    }
    let turn = std::f64::consts::TAU / 80.0;
    let omega = [turn * (1.5 + 4.5 * noise.uniform()), turn * (5.0 + 3.0 * noise.uniform())];
    let half_life = [4.0 + 76.0 * noise.uniform(), 8.0 + 52.0 * noise.uniform()];
    let part = |j: usize, t: f64| (-t * std::f64::consts::LN_2 / half_life[j]).exp() * (omega[j] * t).sin();
    (1..=80)
        .map(|t| {
            let t = f64::from(t);
            part(0, t) - 0.5 * part(1, t) + 0.05 * noise.normal()
        })
        .collect()
}

fn examples() -> Examples {
    let mut gallery: Vec<_> = (10..30).map(member).collect();
    gallery[7][20] = f64::NAN;
    Examples { training: (100..104).map(member).collect(), test: (3..5).map(member).collect(), gallery }
}

/// A test sequence as a model sees it whose intervals are `width` of the usual.
fn illustration(sequence: usize, width: f64) -> Illustration {
    let outputs = member(3 + sequence as u64);
    let (samples, interval) = (Some(samples(sequence, &outputs)), Some(interval(&outputs, width)));
    Illustration { sequence, outputs, samples, interval }
}

fn samples(sequence: usize, outputs: &[f64]) -> Samples {
    let mut noise = Noise(3 + sequence as u64);
    let draws = (0..30).map(|_| {
        let (drift, level) = (0.35 * noise.normal(), 0.4 * noise.normal());
        let wander = |(i, y): (usize, &f64)| {
            let ahead = i as f64 / 40.0;
            y * (1.0 + level * ahead.min(1.0))
                + 0.5 * drift * (0.3 * i as f64).sin() * (ahead.min(1.0)) * (-ahead).exp()
        };
        outputs[15..].iter().enumerate().map(wander).collect()
    });
    Samples { seen: 15, draws: draws.collect() }
}

fn interval(outputs: &[f64], width: f64) -> Interval {
    let around = |i: usize| &outputs[i - 1..(i + 2).min(outputs.len())];
    let mean: Vec<f64> = (30..80).map(|i| around(i).iter().sum::<f64>() / around(i).len() as f64).collect();
    let spread = |i: usize| 0.1 + width * 0.25 * (i as f64 / 20.0).min(1.0) * (-(i as f64) / 60.0).exp();
    let edge = |sign: f64| mean.iter().enumerate().map(|(i, m)| m + sign * spread(i)).collect();
    Interval { seen: 30, lower: edge(-1.0), upper: edge(1.0), mean: mean.clone() }
}

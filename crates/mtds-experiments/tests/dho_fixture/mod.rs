//! A made-up but plausible result of the oscillator experiment, at full scale.

use crate::noise::Noise;
use mtds_experiments::dho::report::{DhoReport, Examples, PredictivePanel, RecipeLabel, SamplePanel};
use mtds_experiments::dho::{
    Assembly, CellId, CellKind, CellResult, ForecastScore, Protocol, Recipe, Scale, SequenceResult, assemble,
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
        let recipes = ["paper", "ours"].map(|name| Recipe::new(name).expect("a plain name"));
        let kinds = CellKind::all(&protocol, &recipes);
        let ids = kinds.iter().flat_map(|kind| kind.cells(&protocol)).filter(|id| !is_missing(id));
        let cells: Vec<_> = ids.map(|id| cell(id, &protocol)).collect();
        let assembly = assemble(&protocol, &kinds, &cells).expect("cells of this protocol");
        Self { protocol, assembly, cells }
    }

    pub fn report(&self) -> DhoReport<'_> {
        let recipe = |name: &str, label: &str| RecipeLabel { name: name.into(), label: label.into() };
        DhoReport {
            protocol: &self.protocol,
            assembly: &self.assembly,
            cells: &self.cells,
            recipes: vec![recipe("paper", "paper's recipe"), recipe("ours", "our recipe")],
            examples: examples(),
            samples: vec![sample_panel("test sequence 1", 3), sample_panel("test sequence 2", 4)],
            predictives: [("test sequence 1", 3), ("test sequence 2", 4)]
                .iter()
                .flat_map(|(member, seed)| {
                    [("MTLDS-4", 1.0), ("Oracle", 0.5)]
                        .map(|(model, width)| predictive(member, model, *seed, width))
                })
                .collect(),
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
            let (own, scale) = if recipe.name() == "paper" { (0.35, 1.6) } else { (0.0, 1.0) };
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
    let is_oracle = id.kind == CellKind::Oracle;
    let sequences = (0..protocol.n_test).map(|i| {
        let shared = Noise(1000 * id.repetition as u64 + i as u64).normal();
        let scores = protocol.seen.iter().enumerate().map(|(k, t)| ForecastScore {
            t: *t,
            rmse: 0.047 + (rmse[k] - 0.047) * (0.55 * noise.normal() + 0.2 * shared - 0.17).exp(),
            nll: nll[k] + (nll[k] + 1.6) * (0.3 * (noise.normal() + shared)).max(-0.8),
            crps: 0.55 * rmse[k],
            cover50: (0.49 + 0.1 * noise.normal()).clamp(0.0, 1.0),
            cover80: (0.79 + 0.08 * noise.normal()).clamp(0.0, 1.0),
            cover95: (0.945 + 0.04 * noise.normal()).clamp(0.0, 1.0),
            rmse_mc_se: is_oracle.then_some(0.002),
            nll_mc_se: is_oracle.then_some(0.01),
        });
        SequenceResult {
            scores: scores.collect(),
            log_evidence: (id.kind != CellKind::Single)
                .then(|| 100.0 + 5.0 * shared - gap * (1.0 + 0.3 * noise.normal().abs())),
            log_evidence_mc_se: is_oracle.then_some(0.05),
        }
    });
    let (sequences, protocol) = (sequences.collect(), protocol.clone());
    CellResult { cell: id, protocol, sequences, illustrations: vec![], seconds: 10.0 }
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

fn sample_panel(name: &str, seed: u64) -> SamplePanel {
    let outputs = member(seed);
    let mut noise = Noise(seed);
    let draws = (0..30).map(|_| {
        let (drift, level) = (0.35 * noise.normal(), 0.4 * noise.normal());
        let wander = |(i, y): (usize, &f64)| {
            let ahead = i as f64 / 40.0;
            y * (1.0 + level * ahead.min(1.0))
                + 0.5 * drift * (0.3 * i as f64).sin() * (ahead.min(1.0)) * (-ahead).exp()
        };
        outputs[15..].iter().enumerate().map(wander).collect()
    });
    let draws = draws.collect();
    SamplePanel { member: name.into(), model: "MTLDS-4".into(), seen: 15, draws, outputs }
}

fn predictive(name: &str, model: &str, seed: u64, width: f64) -> PredictivePanel {
    let outputs = member(seed);
    let around = |i: usize| &outputs[i - 1..(i + 2).min(outputs.len())];
    let mean: Vec<f64> = (30..80).map(|i| around(i).iter().sum::<f64>() / around(i).len() as f64).collect();
    let spread = |i: usize| 0.1 + width * 0.25 * (i as f64 / 20.0).min(1.0) * (-(i as f64) / 60.0).exp();
    let edge = |sign: f64| mean.iter().enumerate().map(|(i, m)| m + sign * spread(i)).collect();
    PredictivePanel {
        member: name.into(),
        model: model.into(),
        seen: 30,
        lower: edge(-1.0),
        upper: edge(1.0),
        mean: mean.clone(),
        outputs,
    }
}

//! Small models and sequences drawn from them, shared by the integration tests.

#![allow(dead_code)] // each test file uses its own part

pub mod compare;
pub mod quadrature;
pub mod textbook;

use mtds::parts::{
    Course, CourseData, Group, Lds, Learner, MonteCarlo, PriorStart, RefineRule, ScalingRule, Schedule,
    StartRule, TrainingPlan,
};
use mtds::random::{Random, stream};
use mtds::{Architecture, Control, Family, Fit, LearnRule, Scaling, Sequence, Signal, System, Wishes};
use rand::RngExt;
use rand_distr::StandardNormal;

/// log s of most test models: noise of 0.3 against outputs of about 1.
pub const LOG_NOISE: f64 = -1.2;

/// A family of linear systems with one input and an affine generator from `d_code` numbers.
pub fn spec(d_state: usize, d_obs: usize, d_code: usize) -> Architecture {
    Architecture::new(Lds::new(d_state, d_obs, 1), d_code)
}

/// Random but fixed weights, those of the generator multiplied by `gain` so that codes matter; noise as given.
pub fn model(spec: Architecture, gain: f32, log_noise: f64, seed: u64) -> System {
    let scaling = Scaling::identity(spec.base.d_obs(), spec.base.d_input());
    let drawn = System::initialise(spec, scaling, &mut stream(seed, 0)).unwrap();
    let mut parameters = drawn.parameters().to_vec();
    for tensor in drawn.tensors() {
        let values = &mut parameters[tensor.range()];
        match tensor.name.as_str() {
            "shared.noise" => values[..drawn.base().d_obs()].fill(log_noise as f32),
            name if name.ends_with("weight") => values.iter_mut().for_each(|w| *w *= gain),
            _ => {}
        }
    }
    drawn.with_parameters(parameters).unwrap()
}

/// y_t = z + v_t with this standard deviation of v: the code is the level, and all else is switched off.
pub fn levels(noise: f64) -> System {
    let spec = Architecture::new(Lds::new(1, 1, 0), 1)
        .fix("decay", 0.0)
        .fix("rotation", 0.0)
        .fix("state_bias", 0.0)
        .fix("emission", 0.0);
    with_offset_by_code(spec, noise, 0.0)
}

/// The model whose code is its offset, with these standard deviations of outputs and (its logarithm) of the state; 0 for all else.
pub fn with_offset_by_code(spec: Architecture, noise: f64, log_process: f64) -> System {
    let model = System::initialise(spec, Scaling::identity(1, 0), &mut stream(1, 0)).unwrap();
    let mut parameters = model.parameters().to_vec();
    for tensor in model.tensors() {
        let value = match tensor.name.as_str() {
            "generator.0.weight" => 1.0,
            "shared.noise" => noise.ln(),
            "shared.process_noise" => log_process,
            _ => 0.0,
        };
        parameters[tensor.range()].fill(value as f32);
    }
    model.with_parameters(parameters).unwrap()
}

/// The same model with noise multiplied by `factor`.
pub fn with_noise_times(model: &System, factor: f64) -> System {
    let tensor = model.tensors().into_iter().find(|t| t.name == "shared.noise").unwrap();
    let mut parameters = model.parameters().to_vec();
    parameters[tensor.range()].iter_mut().for_each(|log_std| *log_std += factor.ln() as f32);
    model.clone().with_parameters(parameters).unwrap()
}

/// 1, 0, 0, …
pub fn impulse(n_time: usize) -> Signal {
    Signal::column((0..n_time).map(|t| if t == 0 { 1.0 } else { 0.0 }).collect())
}

/// Random inputs, one column.
pub fn own_inputs(n_time: usize, random: &mut Random) -> Signal {
    Signal::column(normals(n_time, random))
}

/// `n` standard normal numbers.
pub fn normals(n: usize, random: &mut Random) -> Vec<f64> {
    random.sample_iter::<f64, _>(StandardNormal).take(n).collect()
}

/// Outputs of one code with the model's own noise (diagonal, shared).
pub fn draw_outputs(
    model: &System,
    code: &[f64],
    inputs: &Signal,
    n_time: usize,
    random: &mut Random,
) -> Signal {
    let clean = model.generate(code, Some(inputs), n_time).unwrap();
    let log_std = model.block_values("noise").unwrap();
    let d_obs = clean.width();
    let noisy =
        |(at, y): (usize, &f64)| y + log_std[at % d_obs].exp() * random.sample::<f64, _>(StandardNormal);
    Signal::new(n_time, d_obs, clean.values().iter().enumerate().map(noisy).collect()).unwrap()
}

/// A code from the prior N(0, I) and a sequence of it.
pub fn draw_member(
    model: &System,
    inputs: &Signal,
    n_time: usize,
    random: &mut Random,
) -> (Vec<f64>, Signal) {
    let code = normals(model.d_code(), random);
    let outputs = draw_outputs(model, &code, inputs, n_time, random);
    (code, outputs)
}

/// The signal with each value missing with probability `share`.
pub fn with_gaps(signal: &Signal, share: f64, random: &mut Random) -> Signal {
    let gap = |&y: &f64| if random.random::<f64>() < share { f64::NAN } else { y };
    let values = signal.values().iter().map(gap).collect();
    Signal::new(signal.n_time(), signal.width(), values).unwrap()
}

/// The parameters in double precision.
pub fn parameters_f64(model: &System) -> Vec<f64> {
    model.parameters().iter().map(|&x| f64::from(x)).collect()
}

/// One sequence as a target wants it; model units are data units here.
pub fn group<R: mtds::custom::Real>(outputs: &Signal, inputs: &Signal) -> Group<R> {
    Group::single(outputs, Some(inputs), inputs.width()).unwrap()
}

/// `work` on a pool of this many threads.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Learned by the Monte-Carlo objective alone: steps, learning rate and particles as given.
pub fn learn_from_prior(
    spec: Architecture,
    family: &Family,
    (steps, rate, particles): (u64, f64, usize),
    seed: u64,
) -> System {
    let constant = |value| Schedule::constant(value).unwrap();
    let objective = MonteCarlo { particles: constant(particles as f64), ..MonteCarlo::default() };
    let plan = TrainingPlan { steps, learning_rate: constant(rate), ..TrainingPlan::default() };
    let course = Course {
        scaling: ScalingRule::Outputs,
        start: StartRule::Prior(Box::new(PriorStart { objective, plan })),
        refine: RefineRule::None,
    };
    let data = CourseData {
        family: family.clone(),
        cut_from: None,
        held_out: None,
        seed,
        device: mtds::Device::default(),
    };
    Learner::new(course, spec, data).unwrap().finish(&mut |_| Control::Continue).unwrap().model
}

/// Sequences with a phase and two inputs beside it, whose outputs lag behind by an amount of their own; with gaps.
pub fn styled(n_seq: usize, n_time: usize) -> Family {
    let sequence = |i: usize| {
        let random = &mut stream(5, i as u64);
        let (style, speed) = (0.3 * i as f64, 0.2 + 0.02 * (i % 5) as f64);
        let mut outputs = vec![];
        let mut inputs = vec![];
        let noise = normals(3 * n_time, random);
        for t in 0..n_time {
            let phase = speed * t as f64;
            inputs.extend([phase.cos(), phase.sin(), (0.05 * t as f64).sin()]);
            let gap = (t + i).is_multiple_of(11);
            for d in 0..3 {
                let y = (phase - style).sin() * (1.0 + 0.3 * d as f64) + 0.1 * noise[3 * t + d];
                outputs.push(if gap && d == 1 { f64::NAN } else { y });
            }
        }
        let outputs = Signal::new(n_time, 3, outputs).unwrap();
        Sequence::new(format!("s{i}"), outputs)
            .unwrap()
            .with_inputs(Signal::new(n_time, 3, inputs).unwrap())
            .unwrap()
    };
    Family::new((0..n_seq).map(sequence).collect()).unwrap()
}

/// A layered fit in minibatches of moved segments, with everything that a motion asks for.
pub fn layered_fit() -> Fit {
    let wishes = Wishes {
        base: Some("layered".into()),
        front: Some(24),
        bottleneck: Some(6),
        state: Some(12),
        code: Some(3),
        compare: Some(false),
        learn: Some(LearnRule::Elbo),
        segment: Some(32),
        overlap: Some(16),
        jitter: Some(8),
        unscored: Some(3),
        minibatch: Some(7),
        refine_particles: Some(2),
        refine_steps: Some(200),
        hard_steps: Some(50),
        kl_warmup: Some(40),
        temperature: Some(0.25),
        averaging: Some(0.98),
        l2: Some(1.0),
        patience: Some(0),
        clip: Some(50.0),
        ..Wishes::default()
    };
    Fit { wishes, seed: 4, ..Fit::default() }
}

//! Base models besides the linear one: learned, followed, forecast and stored as any model.

use mtds::custom::Base;
use mtds::parts::Tracker;
use mtds::parts::{Gru, OrthogonalRnn, Pharmacodynamic, Rnn};
use mtds::random::{Random, stream};
use mtds::{Architecture, DataColumns, Family, Model, Online, Provenance, Scaling, Sequence, Signal, System};
use rand::RngExt;
use rand_distr::StandardNormal;

const N_TIME: usize = 24;
const SEEN: usize = 8;
const NOISE: f64 = 0.02;

/// A family that a formula makes, and a way to draw a member.
struct Source {
    inputs: Option<Signal>,
    draw: fn(&mut Random) -> Vec<f64>,
}

impl Source {
    fn member(&self, random: &mut Random) -> Signal {
        let clean = (self.draw)(random);
        let noisy = |y: f64| y + NOISE * random.sample::<f64, _>(StandardNormal);
        Signal::column(clean.into_iter().map(noisy).collect())
    }

    fn family(&self, n_seq: usize, random: &mut Random) -> Family {
        let member = |i: usize| Sequence::new(i.to_string(), self.member(random)).unwrap();
        let family = Family::new((0..n_seq).map(member).collect()).unwrap();
        match &self.inputs {
            Some(inputs) => family.with_common_inputs(inputs.clone()).unwrap(),
            None => family,
        }
    }
}

/// Curves that rise towards levels of their own at speeds of their own.
fn rises(random: &mut Random) -> Vec<f64> {
    let (level, rate) = (random.random_range(0.5..2.0), random.random_range(0.05..0.3));
    (0..N_TIME).map(|t| level * (1.0 - (-rate * (t as f64 + 1.0)).exp())).collect()
}

/// Doses: two infusions with a pause.
fn dose(t: usize) -> f64 {
    if t < 4 || (12..15).contains(&t) { 1.0 } else { 0.0 }
}

/// Pressure that falls with a concentration: patients clear the drug at rates of their own and respond with strengths of
/// their own.
fn patients(random: &mut Random) -> Vec<f64> {
    let (keep, strength) = (random.random_range(0.75..0.95), random.random_range(0.5..2.0));
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut x = 0.0;
    let mut respond = |t: usize| {
        x = keep * x + 0.8 * dose(t);
        -strength * (sigmoid(1.5 * x - 2.0) - sigmoid(-2.0))
    };
    (0..N_TIME).map(&mut respond).collect()
}

/// Root mean square errors of the model's forecasts and of the mean of the training sequences, on new members.
fn errors(model: &System, source: &Source, training: &Family) -> (f64, f64) {
    let mut random = stream(5, 2);
    let (mut ours, mut mean) = (0.0, 0.0);
    let future = source.inputs.as_ref().map(|inputs| Signal::column(inputs.values()[SEEN..].to_vec()));
    for i in 0..12 {
        let truth = source.member(&mut random);
        let mut tracker = Tracker::new(model, Online::default(), stream(6, i)).unwrap();
        for t in 0..SEEN {
            let inputs: Vec<f64> = source.inputs.iter().map(|inputs| inputs.get(t, 0)).collect();
            tracker.observe(&[truth.get(t, 0)], &inputs).unwrap();
        }
        let forecast = tracker.forecast(N_TIME - SEEN, future.as_ref()).unwrap();
        for t in SEEN..N_TIME {
            let all = training.sequences().iter().map(|s| s.outputs().get(t, 0));
            let average = all.sum::<f64>() / training.n_seq() as f64;
            ours += (forecast.mean()[t - SEEN] - truth.get(t, 0)).powi(2);
            mean += (average - truth.get(t, 0)).powi(2);
        }
    }
    (ours.sqrt(), mean.sqrt())
}

/// Learns by the Monte-Carlo objective and forecasts; the error must be clearly below that of the family mean.
fn learn_and_beat_the_mean(spec: Architecture, source: &Source) -> System {
    let family = source.family(24, &mut stream(5, 1));
    let model = crate::common::learn_from_prior(spec, &family, (400, 0.02, 256), 3);
    let (ours, mean) = errors(&model, source, &family);
    println!("{}: {ours:.3}, family mean {mean:.3}", model.base().kind());
    assert!(ours < 0.75 * mean, "{}: {ours} {mean}", model.base().kind());
    model
}

/// The model comes back from its files, to the bit.
fn store_round_trip(model: System) {
    let names = |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
    let provenance = Provenance {
        seed: 3,
        fingerprint: "ac432cbee7e9ceb6".into(),
        program_version: "0.1.0".into(),
        notes: serde_json::Value::Null,
    };
    let columns = DataColumns::named(names("y", model.base().d_obs()), names("u", model.base().d_input()));
    let bundle = Model::by_hand(model, columns, provenance);
    let files = bundle.to_files().unwrap();
    let back = Model::from_files(&files).unwrap();
    assert_eq!(back.system.parameters(), bundle.system.parameters());
    assert_eq!(back.to_files().unwrap(), files);
    assert_eq!(back.system.spec(), bundle.system.spec());
}

#[test]
fn a_gated_network_learns_a_family() {
    let source = Source { inputs: None, draw: rises };
    store_round_trip(learn_and_beat_the_mean(Architecture::new(Gru::new(3, 1, 0), 2), &source));
}

#[test]
fn a_pharmacodynamic_model_learns_patients() {
    let source = Source { inputs: Some(Signal::column((0..N_TIME).map(dose).collect())), draw: patients };
    store_round_trip(learn_and_beat_the_mean(Architecture::new(Pharmacodynamic::new(1, 1, 1), 2), &source));
}

#[test]
fn tanh_networks_are_stored_too() {
    fn drawn(base: Base) -> System {
        let scaling = Scaling::identity(base.d_obs(), base.d_input());
        System::initialise(Architecture::new(base, 2), scaling, &mut stream(1, 0)).unwrap()
    }
    store_round_trip(drawn(Rnn::new(3, 2, 1).into()));
    store_round_trip(drawn(OrthogonalRnn::new(3, 2, 1).into()));
}

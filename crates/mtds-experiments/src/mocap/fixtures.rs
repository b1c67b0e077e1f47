//! Material of the tests: swinging outputs whose shape is the style, driven by a phase.

use mtds::{Sequence, Signal};

use super::cell::{CellId, CellResult, Errors, Found, StartRecord, Task};
use super::material::{Clip, Material, Part};
use super::protocol::Protocol;
use crate::Scale;

/// Outputs: so many that the model takes them for a motion.
const D_OBS: usize = 18;
pub(super) const STYLES: [&str; 3] = ["bold", "meek", "wild"];

fn signals(style: usize, number: usize, n_time: usize, side: f64) -> (Signal, Signal) {
    let rate = 0.16 + 0.015 * number as f64;
    let phase =
        |t: usize| rate * t as f64 + number as f64 + if side < 0.0 { std::f64::consts::PI } else { 0.0 };
    let wave = |t: usize, c: usize| {
        let shape = (c as f64 * (1.0 + style as f64)).sin();
        let other = 0.3 * (2.0 * phase(t) + c as f64).cos() * style as f64;
        side * shape * (phase(t) + 0.4 * c as f64).sin() + other + 0.2 * style as f64
    };
    let outputs = (0..n_time).map(|t| (0..D_OBS).map(|c| wave(t, c)).collect()).collect();
    let inputs = (0..n_time).map(|t| vec![rate * 5.0, phase(t).cos(), phase(t).sin()]).collect();
    (Signal::from_rows(outputs).expect("one width"), Signal::from_rows(inputs).expect("one width"))
}

/// So many clips of every style, each so long; the last of a style is of the test part.
pub(super) fn material(n_clips: usize, n_time: usize) -> Material {
    let clip = |(style, number): (usize, usize)| {
        let id = format!("{}_{number}", STYLES[style]);
        let sequence = |id: String, side: f64| {
            let (outputs, inputs) = signals(style, number, n_time, side);
            Sequence::new(id, outputs).expect("rows").with_inputs(inputs).expect("as long")
        };
        Clip {
            style: STYLES[style].into(),
            part: if number + 1 == n_clips { Part::Test } else { Part::Train },
            plain: sequence(id.clone(), 1.0),
            mirrored: sequence(format!("{id}~mirrored"), -1.0),
            id,
        }
    };
    let all = (0..STYLES.len()).flat_map(|style| (0..n_clips).map(move |number| (style, number)));
    let outputs = (0..D_OBS).map(|c| format!("y{c}")).collect();
    let inputs = ["speed", "phase_cos", "phase_sin"].map(String::from).to_vec();
    Material::new("a test", all.map(clip).collect(), [outputs, inputs]).expect("three styles")
}

pub(super) fn protocol() -> Protocol {
    Protocol::new(Scale::Full, 1, &material(2, 120)).expect("material")
}

/// A cell whose two starts have these squared errors everywhere.
pub(super) fn forecasts(protocol: &Protocol, name: &str, squares: &[f64]) -> CellResult {
    let cell: CellId = name.parse().expect("a name");
    let (method, fold, n_told) = match cell.task {
        Task::Efficiency(method, _) => (method, 0, 1),
        Task::Novel(method, fold) => (method, fold, protocol.told.len()),
        _ => panic!("{name} forecasts nothing"),
    };
    let style = protocol.styles[fold].clone();
    let start = |row: usize| StartRecord { clip: "a".into(), style: style.clone(), row };
    let errors = Errors {
        method: method.name().into(),
        starts: squares.iter().map(|&square| vec![Some(square); n_told]).collect(),
        curve: vec![Some(squares.iter().sum::<f64>() / squares.len() as f64); 200],
    };
    let starts = (0..squares.len()).map(start).collect();
    let found = Found::Forecasts { starts, methods: vec![errors], chosen: serde_json::Value::Null };
    CellResult { cell, protocol: protocol.clone(), found, seconds: 1.0 }
}

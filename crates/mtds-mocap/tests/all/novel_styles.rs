//! Forecasts of walks in a style that learning has not met: the model by default, the same without what the seed tells, and the paper's
//! best rival, a gated network in open loop, learned from the same clips and mirror images.
//!
//! ```text
//! cargo test -p mtds-mocap --test all novel_styles:: -- --ignored --nocapture
//! MTDS_STYLES=old,proud    styles that are left out in turn; three by default
//! MTDS_EFFORT=0.5          factor on the steps of both
//! ```
//! Errors are in deviations of an output over what was learned from: root mean square over outputs and starts, mean over styles.

use std::path::{Path, PathBuf};

use mtds::parts::{GruForecaster, GruSettings, WarmUp};
use mtds::{Control, Family, Fit, Sequence, Signal};
use mtds_mocap::clip::{Clip, ClipSettings};
use mtds_mocap::features::{family, without_heading};
use mtds_mocap::files::{bvh_files_below, read_clip};

/// Frames that are seen, frames that are forecast, and those at which errors are told.
const SEEN: usize = 64;
const AHEAD: usize = 200;
const TOLD: [usize; 6] = [5, 10, 20, 50, 100, 200];
/// Starts in a style.
const STARTS: usize = 16;

struct Take {
    id: String,
    style: String,
    clip: Clip,
}

fn takes(folder: &Path, settings: &ClipSettings) -> Vec<Take> {
    let text = |part: Option<&std::ffi::OsStr>| part.unwrap().to_string_lossy().into_owned();
    let is_cmu = |path: &PathBuf| text(path.file_name()).starts_with("cmu_");
    let paths = bvh_files_below(folder).unwrap().into_iter().filter(is_cmu);
    let take = |path: PathBuf| Take {
        id: text(path.file_stem()),
        style: text(path.parent().unwrap().file_name()),
        clip: read_clip(&path, settings).unwrap(),
    };
    paths.map(take).collect()
}

/// Clips and their mirror images.
fn learned_from(takes: &[&Take], settings: &ClipSettings) -> Family {
    let plain = takes.iter().map(|take| take.clip.features.to_sequence(&take.id, &take.style).unwrap());
    let mirrored = takes.iter().map(|take| {
        let features = take.clip.mirrored(settings).unwrap();
        features.to_sequence(format!("{}~mirrored", take.id), &take.style).unwrap()
    });
    without_heading(&family(plain.chain(mirrored).collect()).unwrap()).unwrap()
}

/// Windows of a style, spread over its clips.
fn windows(takes: &[&Take]) -> Vec<(Signal, Signal)> {
    let plain = takes.iter().map(|take| take.clip.features.to_sequence(&take.id, &take.style).unwrap());
    let motions = without_heading(&family(plain.collect()).unwrap()).unwrap();
    let length = SEEN + AHEAD;
    let starts = |i: usize| {
        let last = motions.sequence(i).n_time().checked_sub(length);
        last.into_iter().flat_map(|last| (0..=last).step_by(8)).map(move |start| (i, start))
    };
    let all: Vec<(usize, usize)> = (0..motions.n_seq()).flat_map(starts).collect();
    let chosen = (0..STARTS.min(all.len())).map(|k| all[k * all.len() / STARTS.min(all.len())]);
    chosen
        .map(|(i, start)| {
            let steps = start..start + length;
            let inputs = motions.inputs_of(i).unwrap().slice(steps.clone());
            (motions.sequence(i).outputs().slice(steps), inputs)
        })
        .collect()
}

/// Mean squared errors at the frames that are told, in squared deviations.
fn errors(
    windows: &[(Signal, Signal)],
    scale: &[f64],
    forecast: impl Fn(&Signal, &Signal) -> Vec<f64>,
) -> [f64; 6] {
    let (mut totals, d) = ([0.0; 6], scale.len());
    for (outputs, inputs) in windows {
        let mean = forecast(&outputs.slice(0..SEEN), inputs);
        for (total, ahead) in totals.iter_mut().zip(TOLD) {
            let square = |c: usize| {
                ((outputs.get(SEEN + ahead - 1, c) - mean[(ahead - 1) * d + c]) / scale[c]).powi(2)
            };
            *total += (0..d).map(square).sum::<f64>() / (d * windows.len()) as f64;
        }
    }
    totals
}

fn asked<T: std::str::FromStr>(name: &str, usual: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
#[ignore = "learns for minutes; see the first lines"]
fn novel_styles_are_forecast_better_than_by_a_gated_network() {
    let Some(folder) = crate::recordings::recordings() else {
        return crate::skip::skip(
            "novel_styles_are_forecast_better_than_by_a_gated_network",
            "no recordings",
        );
    };
    let settings = ClipSettings::default();
    let takes = takes(&folder, &settings);
    let (effort, seed) = (asked("MTDS_EFFORT", 1.0), asked("MTDS_SEED", 1u64));
    let styles = asked("MTDS_STYLES", "old,proud,zombie".to_owned());
    let styles: Vec<&str> = styles.split(',').collect();
    let names = ["model", "without the seed", "gru, open loop", "last frame"];
    let mut means = [[0.0; 6]; 4];
    for style in &styles {
        let (novel, known): (Vec<&Take>, Vec<&Take>) = takes.iter().partition(|take| take.style == *style);
        let (family, windows) = (learned_from(&known, &settings), windows(&novel));
        let mut fit = Fit { seed, ..Fit::default() };
        fit.wishes.effort = Some(effort);
        let begun = std::time::Instant::now();
        let model = fit.run(&family, &mut |_| Control::Continue).unwrap().unwrap();
        let took = begun.elapsed().as_secs();
        let without = {
            let mut model = model.clone();
            model.system = model.system.with_remainder(None).unwrap();
            model
        };
        let mut rival =
            GruSettings { warm_up: WarmUp { shortest: SEEN, longest: SEEN }, ..GruSettings::default() };
        rival.plan.steps = (rival.plan.steps as f64 * effort) as u64;
        let rival =
            GruForecaster::fit(&family, None, &rival, seed, &mut |_| Control::Continue).unwrap().network;
        let scale: Vec<f64> = (0..family.d_obs()).map(|c| model.system.scaling().scale(c)).collect();
        let by = |model: &mtds::Model, past: &Signal, inputs: &Signal| {
            let seen = Sequence::new("novel", past.clone()).unwrap().with_inputs(inputs.clone()).unwrap();
            model.forecast(&seen, AHEAD).unwrap().mean()
        };
        let found = [
            errors(&windows, &scale, |past, inputs| by(&model, past, inputs)),
            errors(&windows, &scale, |past, inputs| by(&without, past, inputs)),
            errors(&windows, &scale, |past, inputs| {
                rival.forecast(past, Some(inputs), AHEAD).unwrap().mean()
            }),
            errors(&windows, &scale, |past, _| {
                (0..AHEAD).flat_map(|_| past.row(SEEN - 1).to_vec()).collect()
            }),
        ];
        println!(
            "{style}: {} starts, learned in {took} s, {:?}",
            windows.len(),
            model.system.spec().remainder
        );
        for ((name, found), mean) in names.iter().zip(found).zip(&mut means) {
            println!("  {name:18} {}", row(&found.map(f64::sqrt)));
            mean.iter_mut().zip(found).for_each(|(mean, found)| *mean += found.sqrt() / styles.len() as f64);
        }
    }
    println!("mean over {styles:?} at frames {TOLD:?}");
    names.iter().zip(&means).for_each(|(name, mean)| println!("  {name:18} {}", row(mean)));
    for (k, ahead) in TOLD.iter().enumerate() {
        assert!(means[0][k] < means[2][k], "frame {ahead}: {} {}", means[0][k], means[2][k]);
    }
}

fn row(values: &[f64; 6]) -> String {
    values.iter().map(|value| format!("{value:6.3}")).collect::<Vec<_>>().join(" ")
}

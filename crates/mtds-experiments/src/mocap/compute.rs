//! One cell carried out: learned from what it may see, then asked.

use mtds::{Error, Result};

use super::cell::{CellId, CellResult, Found, Method, Task};
use super::experiment::Experiment;
use super::map::map;
use super::material::{Part, Stretch, Units};
use super::model::by_model;
use super::rivals::{Question, by_network, simple};
use super::split::{Starts, share};
use super::transfer::transfer;
use super::window::{Told, records, windows};

/// Carries a cell out. The result depends on the experiment and the cell alone, not on threads.
///
/// # Errors
/// Those of learning and inference; a style or share that leaves nothing to forecast.
pub fn compute(experiment: &Experiment<'_>, cell: &CellId) -> Result<CellResult> {
    let Experiment { material, protocol, .. } = experiment;
    let seed = protocol.seed_of(cell.repetition);
    let found = match cell.task {
        Task::Efficiency(method, divisor) => {
            let learned = share(material, divisor, protocol.least);
            // All shares are told in the same unit, so that they can be compared.
            let units = Units::of(&material.family(&share(material, 1, protocol.least))?)?;
            let starts = tests_of_all_styles(experiment);
            forecasts(experiment, cell, method, (&learned, &units), (&starts, &Told::Mean))?
        }
        Task::Novel(method, fold) => {
            let style = &protocol.styles[fold];
            // Scaling, mirror images and every choice are of the other styles alone.
            let learned = material.whole(|clip| clip.style != *style);
            let units = Units::of(&material.family(&learned)?)?;
            let novel = material.whole(|clip| clip.style == *style);
            let starts = Starts::spread(&novel, protocol.seen, &protocol.told, protocol.starts);
            forecasts(experiment, cell, method, (&learned, &units), (&starts, &Told::At(&protocol.told)))?
        }
        Task::Transfer => Found::Transfer(Box::new(transfer(experiment, seed)?)),
        Task::Map => Found::Map(Box::new(map(experiment, seed)?)),
    };
    Ok(CellResult { cell: *cell, protocol: protocol.clone(), found, seconds: 0.0 })
}

/// Experiment 1: the same starts in each style, in clips that nothing learns from.
fn tests_of_all_styles(experiment: &Experiment<'_>) -> Starts {
    let Experiment { material, protocol, .. } = experiment;
    let of_style = |style: &String| {
        let clips = material.whole(|clip| clip.part == Part::Test && clip.style == *style);
        Starts::spread(&clips, protocol.seen, &[protocol.ahead], protocol.starts_of_style).windows
    };
    Starts { windows: material.styles().iter().flat_map(of_style).collect() }
}

fn forecasts(
    experiment: &Experiment<'_>,
    cell: &CellId,
    method: Method,
    (learned, units): (&[Stretch], &Units),
    (starts, told): (&Starts, &Told<'_>),
) -> Result<Found> {
    let Experiment { material, protocol, settings, .. } = experiment;
    if starts.windows.is_empty() {
        let why = "found no clip to forecast that is long enough; expected longer ones".into();
        return Err(Error::Setting { name: format!("cell {cell}"), why });
    }
    let windows = windows(material, starts, protocol.seen);
    let seed = protocol.seed_of(cell.repetition);
    let ask =
        Question { material, learned, windows: &windows, units, told, seed, device: &experiment.device };
    let (methods, chosen) = match method {
        Method::Mtds => by_model(&ask, &settings.model)?,
        Method::Simple => simple(&ask)?,
        rival => by_network(&ask, rival, &settings.rival(rival, cell.task, protocol)?)?,
    };
    Ok(Found::Forecasts { starts: records(material, starts), methods, chosen })
}

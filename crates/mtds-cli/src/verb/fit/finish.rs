//! After learning: codes of the members, a first judgement, and the model directory.

use super::judge::{self, JudgedRow};
use super::learn::architecture;
use super::prepare::Parts;
use super::select;
use super::state::FitState;
use crate::expected::{EXPECTED_KEY, Expected};
use crate::explained::EXPLAINED_KEY;
use crate::plan::{FitConfig, FitPlan};
use crate::progress::{Progress, Stage};
use crate::usage::USAGE_KEY;
use crate::verb::posterior::ONLINE_KEY;
use anyhow::{Context, Result};
use mtds::infer::{Followed, Online, Tracker};
use mtds::learn::{Choice, Wishes};
use mtds::random::Stream;
use mtds::store::{CardScore, Member, Model, NETWORK_FILE, Provenance, network_to_bytes};
use mtds::{Family, System};
use mtds_data::directory::write_directory;
use serde_json::{Value, json};

/// The settings of the fit, by which it can be replayed.
pub(super) const CONFIG_FILE: &str = "fit.toml";
/// The course of learning.
pub(super) const HISTORY_FILE: &str = "history.json";
/// Writes the model directory.
///
/// # Errors
/// Sequences that the model cannot take; a directory that cannot be written.
pub(super) fn finish(
    plan: &FitPlan,
    family: &Family,
    parts: &Parts,
    state: &FitState,
    progress: &mut Progress,
) -> Result<()> {
    let (chosen, selection) = select::choose(state)?;
    let (spec, choices) = architecture(&state.choices, chosen.code, parts)?;
    let scaling = choices.scaling.scaling(&parts.pieces)?;
    let model =
        System::new(spec, scaling, chosen.parameters.clone())?.with_prior(chosen.prior.prior.clone())?;
    let online = choices.online();
    let members = members(&model, &online, family, state.seed, progress)?;
    let codes: Vec<Vec<f64>> = members.iter().map(|member| member.code_mean.clone()).collect();
    let explained = model.explained(family, &codes)?;
    let judged = judge::judge(&model, &online, parts, state.seed)?;
    let config =
        FitConfig { seed: Some(state.seed), data: state.data.clone(), learn: Wishes::from(choices.clone()) };
    let network = chosen.beliefs.as_ref().and_then(|beliefs| beliefs.network.as_ref());
    let mut settings = json!({
        "learn": choices,
        "reasons": reasons(state),
        "data": state.data,
        ONLINE_KEY: online,
        "selection": selection,
        EXPECTED_KEY: Expected { prior: (&chosen.prior).into(), calibration: chosen.calibration.clone() },
        "judged": judged,
        "status": chosen.status,
        "best_validation": chosen.best_validation,
        "steps": chosen.records.iter().map(|record| record.steps).collect::<Vec<_>>(),
        EXPLAINED_KEY: explained,
        "held_out_ids": held_out_ids(parts),
        "n_training": parts.training.n_seq(),
        "n_held_out": parts.held_out.as_ref().map_or(0, Family::n_seq),
        "n_apart": parts.apart.as_ref().map_or(0, Family::n_seq),
    });
    if let Some(beliefs) = &chosen.beliefs {
        settings[USAGE_KEY] = json!(beliefs.usage);
    }
    let provenance = Provenance {
        seed: state.seed,
        settings,
        fingerprint: state.fingerprint.clone(),
        program_version: env!("CARGO_PKG_VERSION").into(),
        output_names: family.output_names().to_vec(),
        input_names: family.input_names().to_vec(),
        scores: card(&judged),
    };
    let network = network.map(|network| network_to_bytes(network, &provenance)).transpose()?;
    let mut files = Model { system: model, provenance, members }.to_files()?;
    files.extend(network.map(|bytes| (NETWORK_FILE.to_owned(), bytes)));
    files.push((CONFIG_FILE.into(), config.to_text()?.into_bytes()));
    files.push((HISTORY_FILE.into(), serde_json::to_vec(&chosen.records)?));
    if let Some(parent) = plan.out.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
    }
    Ok(write_directory(&plan.out, &files)?)
}

/// Why each setting is what it is, by key.
fn reasons(state: &FitState) -> Value {
    let why = |choice: &Choice| match choice.key.as_str() {
        "code" if !state.select.is_empty() => {
            format!("chosen from {:?} by sequences kept apart", state.select)
        }
        _ => choice.why.clone(),
    };
    state.reasons.iter().map(|choice| (choice.key.clone(), json!(why(choice)))).collect()
}

/// The sequences that learning did not see.
fn held_out_ids(parts: &Parts) -> Vec<&str> {
    let unseen = parts.held_out.iter().chain(&parts.apart);
    unseen.flat_map(|family| family.sequences()).map(|sequence| sequence.id()).collect()
}

/// The code of every sequence of the family, given all of it.
fn members(
    model: &System,
    online: &Online,
    family: &Family,
    seed: u64,
    progress: &mut Progress,
) -> Result<Vec<Member>> {
    let one = |i: usize, tracker: &mut Tracker| {
        let (sequence, posterior) = (family.sequence(i), tracker.update()?);
        Ok(Member {
            id: sequence.id().to_owned(),
            label: sequence.label().map(str::to_owned),
            code_mean: posterior.mean()[..model.d_code()].to_vec(),
            code_std_dev: posterior.std_dev()[..model.d_code()].to_vec(),
        })
    };
    let n = family.n_seq();
    progress.begin(Stage::Inferring, n as u64);
    let followed = Followed { model, online, family, random: (seed, Stream::Member) };
    let every: Vec<usize> = (0..n).collect();
    let all = followed.each(&every, &one, &mut |done| progress.advance(done as u64, None))?;
    progress.end();
    Ok(all)
}

fn card(judged: &[JudgedRow]) -> Vec<CardScore> {
    let Some(ours) = judged.first() else { return vec![] };
    let condition = "held-out sequences, half of each seen";
    let score = |measure: &str, mean, std_error| CardScore {
        measure: measure.into(),
        condition: condition.into(),
        mean,
        std_error,
        n_seq: ours.n_seq,
    };
    vec![score("RMSE", ours.rmse, ours.rmse_se), score("NLL", ours.nll, ours.nll_se)]
}

//! The page in order: facts, the three experiments, the map, how it was made.

use mtds_report::chart::scale::short_number;
use mtds_report::page::{Block, Page, Section};

use super::control::{self, Poses};
use super::errors;
use crate::mocap::assemble::{Kind, Over};
use crate::mocap::transfer::Transfer;
use crate::mocap::{Outcome, Protocol};
use crate::{Result, Scale};

impl Outcome<'_> {
    /// The page; `poses` draws motions, and `commands` are those that make it again: (command, what it does).
    ///
    /// # Errors
    /// None in practice.
    pub fn page(&self, poses: &Poses<'_>, commands: Vec<(String, String)>) -> Result<Page> {
        let protocol = &self.experiment.protocol;
        let preliminary = match self.missing.len() {
            0 => String::new(),
            n => format!(" {n} cells are still missing: numbers are preliminary."),
        };
        let small = match protocol.scale {
            Scale::Quick => {
                " This is a small run for a first look: few styles left out, two shares of the data, short learning, and only \
                 some of the rivals."
            }
            Scale::Full => "",
        };
        Ok(Page {
            title: "Locomotion: the paper's experiments again".into(),
            subtitle: format!(
                "How much data, how well in a style like none before, and whether style can be chosen: the motion sections of \
                 the paper on {}.{small}{preliminary}",
                protocol.source
            ),
            facts: self.facts(),
            sections: vec![
                errors::novel(self),
                errors::efficiency(self),
                control::transfer(self),
                control::map(self, poses),
                self.making(commands)?,
            ],
            colophon: format!("Made by mtds {} reproduce mocap.", env!("CARGO_PKG_VERSION")),
        })
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![];
        let told = &self.experiment.protocol.told;
        for at in [told.get(told.len() / 2), told.last()].into_iter().flatten() {
            if let Some(row) = self.assembly.row(Kind::Novel, "mtds", *at, None) {
                let of_at = self.assembly.pairs.iter().filter(|pair| {
                    (pair.experiment, pair.at, pair.over) == (Kind::Novel, *at, Over::Styles)
                        && pair.other != "mtds-code"
                });
                let best = of_at.max_by(|a, b| a.ratio.total_cmp(&b.ratio));
                let beside = best.map_or(String::new(), |pair| {
                    let difference = 100.0 * (pair.ratio - 1.0);
                    format!(
                        "; {difference:+.0}\u{a0}% against the best of the others, {}",
                        super::names::label(&pair.other)
                    )
                });
                let what = format!("deviations of error {at} frames into a style like none before{beside}");
                facts.push((short_number(row.rmse, 2), what));
            }
        }
        let transfers = &self.assembly.transfers;
        let off = transfers.iter().filter_map(|one| Transfer::off_diagonal(&one.several));
        if let Some(off) = crate::mocap::window::mean(off) {
            facts.push((
                short_number(off, 2),
                "probability of the style that was asked for, of motions by paths of other styles".into(),
            ));
        }
        facts
    }

    fn making(&self, commands: Vec<(String, String)>) -> Result<Section> {
        let experiment = self.experiment;
        let Protocol { source, fingerprint, seed, repetitions, styles, shares, .. } = &experiment.protocol;
        let settings: Vec<(String, String)> = [
            ("data", source.clone()),
            ("fingerprint", fingerprint.clone()),
            ("styles", styles.join(", ")),
            ("clips", experiment.material.clips().len().to_string()),
            (
                "seeds",
                (0..*repetitions)
                    .map(|k| seed.wrapping_add(k as u64).to_string())
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            ("shares", shares.iter().map(|at| format!("1/{at}")).collect::<Vec<_>>().join(", ")),
            ("asked of the model", serde_json::to_string(&experiment.settings.model).unwrap_or_default()),
            (
                "units and steps of rivals",
                format!("{}, {}", experiment.settings.units, experiment.settings.steps),
            ),
            ("cells", format!("{} of {}", self.cells.len(), self.cells.len() + self.missing.len())),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec();
        let section = Section::new(
            "How it was made",
            "The experiments fall into cells, what is learned once in each, that are kept and can be resumed. All numbers follow \
             from the seed and the clips, not from threads or the order of work.",
        )
        .with(Block::Commands(commands))
        .with(Block::Settings(settings))
        .with(Block::Text(
            "All that learns has the same clips, their mirror images, inputs without heading and as many rows a step; rivals learn for \
             as many steps as the model, those of one style for a quarter. A style that is left out is unseen by scaling, mirror \
             images and every choice. How what is left over of the seed goes on is chosen by clips that are learned from or held \
             out, never by those that are scored; harmonics choose among clips that they need not learn from."
                .into(),
        ));
        Ok(match self.missing.is_empty() {
            true => section,
            false => section.with(Block::Text(format!("Still missing: {}.", self.missing.join(", ")))),
        })
    }
}

//! What the experiments are made of: clips with their mirror images and styles, handed in by whoever reads files.

use mtds::parts::Phase;
use mtds::{Error, Family, Result, Scaling, Sequence, Signal};
use serde::{Deserialize, Serialize};

/// What the first experiment uses a clip for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// To learn from.
    Train,
    /// To be forecast.
    Test,
}

/// A clip of a motion.
#[derive(Clone, Debug)]
pub struct Clip {
    /// Its name.
    pub id: String,
    /// Its style; nothing that learns to forecast is told, but for networks of one style each.
    pub style: String,
    /// What the first experiment uses it for.
    pub part: Part,
    /// Outputs and inputs.
    pub plain: Sequence,
    /// Those of its mirror image.
    pub mirrored: Sequence,
}

/// All clips, which have the same columns.
#[derive(Clone, Debug)]
pub struct Material {
    /// Where they come from, in a few words.
    pub source: String,
    clips: Vec<Clip>,
    columns: [Vec<String>; 2],
    styles: Vec<String>,
}

/// A stretch of a clip: its number, its first row, its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stretch {
    /// The number of the clip.
    pub clip: usize,
    /// The first row.
    pub start: usize,
    /// How many rows.
    pub n_time: usize,
}

impl Material {
    /// The clips, with the names of their outputs and inputs.
    ///
    /// # Errors
    /// No clip; clips of other widths; fewer than two styles.
    pub fn new(source: impl Into<String>, clips: Vec<Clip>, columns: [Vec<String>; 2]) -> Result<Self> {
        let mut styles: Vec<String> = clips.iter().map(|clip| clip.style.clone()).collect();
        styles.sort_unstable();
        styles.dedup();
        if styles.len() < 2 {
            let why = format!("found {}; expected at least 2 to leave one out", styles.len());
            return Err(Error::Setting { name: "styles".into(), why });
        }
        let material = Self { source: source.into(), clips, columns, styles };
        // Widths and names are checked once, by the library.
        material.family(&material.whole(|_| true))?;
        Ok(material)
    }

    /// The clips.
    #[must_use]
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// All styles, sorted.
    #[must_use]
    pub fn styles(&self) -> &[String] {
        &self.styles
    }

    /// How many outputs there are.
    #[must_use]
    pub fn d_obs(&self) -> usize {
        self.columns[0].len()
    }

    /// Identifies the data: names, styles, parts and every number.
    ///
    /// # Errors
    /// None for material that was made.
    pub fn fingerprint(&self) -> Result<String> {
        let named = self.clips.iter().flat_map(|clip| {
            let label = format!("{} {:?}", clip.style, clip.part);
            let renamed = |id: String, from: &Sequence| -> Result<Sequence> {
                Ok(piece(id, (from.outputs().clone(), from.inputs().cloned()))?.with_label(label.clone()))
            };
            [renamed(clip.id.clone(), &clip.plain), renamed(format!("{}~mirrored", clip.id), &clip.mirrored)]
        });
        Ok(Family::new(named.collect::<Result<_>>()?)?.fingerprint())
    }

    /// Where inputs tell the phase of the gait.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        Phase::of(&self.columns[1])
    }

    /// Whole clips that `is_in` says.
    #[must_use]
    pub fn whole(&self, is_in: impl Fn(&Clip) -> bool) -> Vec<Stretch> {
        let clips = self.clips.iter().enumerate().filter(|(_, clip)| is_in(clip));
        clips.map(|(clip, of)| Stretch { clip, start: 0, n_time: of.plain.n_time() }).collect()
    }

    /// The style of a stretch.
    #[must_use]
    pub fn style(&self, stretch: &Stretch) -> &str {
        &self.clips[stretch.clip].style
    }

    /// Stretches and the same stretches of the mirror images as a family, without labels.
    ///
    /// A sequence is called as its clip, with its first row where it begins later; its mirror image `NAME~mirrored`, so that both are
    /// held out together or not at all.
    ///
    /// # Errors
    /// No stretch.
    pub fn family(&self, stretches: &[Stretch]) -> Result<Family> {
        let both = stretches.iter().flat_map(|stretch| {
            let name = self.name(stretch);
            let clip = &self.clips[stretch.clip];
            [(name.clone(), &clip.plain), (format!("{name}~mirrored"), &clip.mirrored)]
                .map(|(id, from)| piece(id, rows(from, stretch.start..stretch.start + stretch.n_time)))
        });
        self.named(both.collect::<Result<_>>()?)
    }

    /// Sequences of these columns as a family.
    ///
    /// # Errors
    /// No sequence, or other widths.
    pub fn named(&self, sequences: Vec<Sequence>) -> Result<Family> {
        let [outputs, inputs] = self.columns.clone();
        Family::new(sequences)?.with_output_names(outputs)?.with_input_names(inputs)
    }

    /// What a stretch is called.
    #[must_use]
    pub fn name(&self, stretch: &Stretch) -> String {
        let clip = &self.clips[stretch.clip].id;
        if stretch.start == 0 { clip.clone() } else { format!("{clip}@{}", stretch.start) }
    }

    /// Outputs and inputs of a stretch.
    ///
    /// # Panics
    /// A stretch that goes beyond its clip.
    #[must_use]
    pub fn signals(&self, stretch: &Stretch) -> (Signal, Signal) {
        let range = stretch.start..stretch.start + stretch.n_time;
        let (outputs, inputs) = rows(&self.clips[stretch.clip].plain, range.clone());
        (outputs, inputs.unwrap_or_else(|| Signal::column(vec![0.0; range.len()])))
    }
}

/// Deviations and means of the outputs of what is learned from: the unit of every error.
#[derive(Clone, Debug)]
pub struct Units {
    /// By output.
    pub mean: Vec<f64>,
    /// By output.
    pub deviation: Vec<f64>,
}

impl Units {
    /// Those of a family.
    ///
    /// # Errors
    /// An output that is never observed.
    pub fn of(family: &Family) -> Result<Self> {
        let scaling = Scaling::standard_outputs(family)?;
        let each = |of: &dyn Fn(usize) -> f64| (0..family.d_obs()).map(of).collect();
        Ok(Self { mean: each(&|c| scaling.offset(c)), deviation: each(&|c| scaling.scale(c)) })
    }

    /// Mean over the outputs of the squared error of a row, in squared deviations.
    #[must_use]
    pub fn squared(&self, truth: &[f64], forecast: &[f64]) -> f64 {
        let pairs = truth.iter().zip(forecast).zip(&self.deviation);
        pairs.map(|((y, m), s)| ((y - m) / s).powi(2)).sum::<f64>() / truth.len() as f64
    }
}

/// A sequence of outputs and inputs.
///
/// # Errors
/// Lengths that differ.
pub(super) fn piece(id: impl Into<String>, (outputs, inputs): (Signal, Option<Signal>)) -> Result<Sequence> {
    inputs.into_iter().try_fold(Sequence::new(id, outputs)?, Sequence::with_inputs)
}

fn rows(from: &Sequence, range: std::ops::Range<usize>) -> (Signal, Option<Signal>) {
    (from.outputs().slice(range.clone()), from.inputs().map(|inputs| inputs.slice(range)))
}

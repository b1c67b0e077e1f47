//! `mtds fit` as typed.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use mtds::base::BaseName;
use std::path::PathBuf;

use super::{CommonArguments, SourceArguments};

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds fit family.csv -o family-model --effort 0.1
      learn the family with a tenth of the usual steps; everything else is chosen from the data
  mtds fit family.csv -o small-model --code 2 --hidden 16 --start-steps 100 --refine-steps 100
      codes of length 2 and a small generator, learned briefly
";

/// The base models that there are, each with what it is.
fn base_names() -> PossibleValuesParser {
    PossibleValuesParser::new(BaseName::ALL.map(|base| PossibleValue::new(base.name()).help(base.about())))
}

/// What was typed after `mtds fit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FitArguments {
    /// What is learned from.
    #[command(flatten)]
    pub source: SourceArguments,

    /// Directory for the model
    #[arg(short, long, value_name = "MODEL")]
    pub out: PathBuf,

    /// Settings as TOML, e.g. the fit.toml of a model; options come before it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Go on where an interrupted run stopped, to the same bits
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,

    /// Replace a model, or the checkpoint of an interrupted run
    #[arg(long)]
    pub force: bool,

    /// Try these lengths of the code, e.g. 1..8 or 2,4, and keep the one that sequences kept apart like best
    #[arg(long, value_name = "LENGTHS", conflicts_with = "code")]
    pub select_code: Option<String>,

    /// Write the course of learning as TensorBoard event files
    #[arg(long, value_name = "DIR")]
    pub tensorboard: Option<PathBuf>,

    /// Seconds from one checkpoint to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub checkpoint_every: f64,

    /// Kind of base model
    #[arg(long, value_parser = base_names(), help_heading = "Model")]
    pub base: Option<String>,

    /// Length of a code
    #[arg(long, value_name = "K", help_heading = "Model")]
    pub code: Option<usize>,

    /// Size of the state
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub state: Option<usize>,

    /// Put a gated network over the inputs, the same for all members, before the base model: its units; 0 for none
    #[arg(long, value_name = "UNITS", help_heading = "Layered model")]
    pub front: Option<usize>,

    /// Width of what that network hands to the base model
    #[arg(long, value_name = "WIDTH", help_heading = "Layered model")]
    pub bottleneck: Option<usize>,

    /// Let the base model see the inputs, too
    #[arg(long, help_heading = "Layered model")]
    pub front_skip: bool,

    /// First steps whose outputs tell where the network begins, and are not scored; 0 for a start at zero
    #[arg(long, value_name = "STEPS", help_heading = "Layered model")]
    pub front_seed: Option<usize>,

    /// Factor on the learning rate of that network
    #[arg(long, value_name = "FACTOR", help_heading = "Layered model")]
    pub front_rate: Option<f64>,

    /// Let a recurrent base model emit changes, which add up to the outputs
    #[arg(long, help_heading = "Model")]
    pub residual: bool,

    /// Widths of the generator's hidden layers, e.g. 64,64
    #[arg(long, value_name = "WIDTHS", value_delimiter = ',', help_heading = "Model")]
    pub hidden: Option<Vec<usize>>,

    /// Let the code adapt these blocks of parameters, too; `rest` for all that are not named
    #[arg(long, value_name = "BLOCKS", value_delimiter = ',', help_heading = "Model")]
    pub adapt: Option<Vec<String>>,

    /// Learn these blocks of parameters, but the same for all members; `rest` for all that are not named
    #[arg(long, value_name = "BLOCKS", value_delimiter = ',', help_heading = "Model")]
    pub share: Option<Vec<String>>,

    /// Hold these blocks of parameters where learning would begin; `rest` for all that are not named
    #[arg(long, value_name = "BLOCKS", value_delimiter = ',', help_heading = "Model")]
    pub fix: Option<Vec<String>>,

    /// Where codes of new members are expected
    #[arg(long, value_enum, help_heading = "Model")]
    pub prior: Option<PriorName>,

    /// Standard deviation of a normal prior over codes of new members
    #[arg(long, value_name = "STD", help_heading = "Model")]
    pub prior_std: Option<f64>,

    /// Give process noise the size by which held-out sequences are forecast best
    #[arg(long, value_name = "true|false", help_heading = "Model")]
    pub calibrate: Option<bool>,

    /// How far the log noise of new members is expected above the learned one
    #[arg(long, value_name = "SHIFT", allow_negative_numbers = true, help_heading = "Model")]
    pub noise_shift: Option<f64>,

    /// Standard deviation of the log noise of new members
    #[arg(long, value_name = "STD", help_heading = "Model")]
    pub noise_spread: Option<f64>,

    /// From units of the data to units of the model
    #[arg(long, value_enum, help_heading = "Learning")]
    pub scaling: Option<ScalingName>,

    /// Steps of the segments that sequences are cut into; 0 leaves them whole
    #[arg(long, value_name = "STEPS", help_heading = "Learning")]
    pub segment: Option<usize>,

    /// Steps that a segment shares with the one before it
    #[arg(long, value_name = "STEPS", help_heading = "Learning")]
    pub overlap: Option<usize>,

    /// Share of the sequences that is held out to decide when to stop
    #[arg(long, value_name = "SHARE", help_heading = "Learning")]
    pub validation: Option<f64>,

    /// Share of the sequences that is kept apart for --select-code
    #[arg(long, value_name = "SHARE", help_heading = "Learning")]
    pub selection: Option<f64>,

    /// What learning maximises
    #[arg(long, value_enum, help_heading = "Learning")]
    pub learn: Option<LearnName>,

    /// How learning begins
    #[arg(long, value_enum, help_heading = "Learning")]
    pub start: Option<BeginningName>,

    /// Factor on the numbers of steps, where these are not given
    #[arg(long, value_name = "FACTOR", help_heading = "Learning")]
    pub effort: Option<f64>,

    /// Steps of the start
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub start_steps: Option<u64>,

    /// Particles per step of the start, or restarts of random effects
    #[arg(long, value_name = "M", help_heading = "Learning")]
    pub particles: Option<usize>,

    /// Noise that the start comes down to, in deviations of an output
    #[arg(long, value_name = "STD", help_heading = "Learning")]
    pub start_noise: Option<f64>,

    /// Steps of the refinement, which for elbo and iwae is all of learning
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub refine_steps: Option<u64>,

    /// Codes drawn per sequence and step of the refinement
    #[arg(long, visible_alias = "draws", value_name = "K", help_heading = "Learning")]
    pub refine_particles: Option<usize>,

    /// Noise that learning never goes below, in deviations of an output
    #[arg(long, value_name = "STD", help_heading = "Learning")]
    pub least_noise: Option<f64>,

    /// Learning rate of the refinement
    #[arg(long, value_name = "RATE", help_heading = "Learning")]
    pub learning_rate: Option<f64>,

    /// Weight decay of the generator
    #[arg(long, value_name = "COEFFICIENT", help_heading = "Learning")]
    pub l2: Option<f64>,

    /// Checks without gain after which learning stops; 0 never stops early
    #[arg(long, value_name = "CHECKS", help_heading = "Learning")]
    pub patience: Option<u64>,

    /// First steps without divergence from the prior and with sharp beliefs: against collapse; 0 for none
    #[arg(long, value_name = "N", help_heading = "Learning by elbo and iwae")]
    pub hard_steps: Option<u64>,

    /// Steps over which the weight of the divergence (KL) rises to 1
    #[arg(long, value_name = "N", help_heading = "Learning by elbo and iwae")]
    pub kl_warmup: Option<u64>,

    /// Temperature of the likelihood: below 1 where outputs are less independent than the model says
    #[arg(long, value_name = "T", help_heading = "Learning by elbo and iwae")]
    pub temperature: Option<f64>,

    /// Learn a network that reads a sequence and says its code, with these units in each direction; 0 for none
    #[arg(
        long,
        value_name = "UNITS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "32",
        help_heading = "Learning by elbo and iwae"
    )]
    pub amortised: Option<usize>,

    /// Sequences or segments in each step; 0 for all
    #[arg(long, value_name = "N", help_heading = "Learning by elbo and iwae")]
    pub minibatch: Option<usize>,

    /// Steps over which gradients flow back in long sequences; 0 for all
    #[arg(long, value_name = "STEPS", help_heading = "Learning by elbo and iwae")]
    pub window: Option<usize>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What learning maximises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LearnName {
    /// The likelihood by weighted draws that follow each sequence (Monte-Carlo objective)
    Mco,
    /// The evidence lower bound, with a belief about each code that is learned, too
    Elbo,
    /// The importance-weighted bound, tighter with more draws, likewise
    Iwae,
}

/// The prior over codes of new members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PriorName {
    /// Around the members where held-out sequences are clearly likelier that way; else normal
    Auto,
    /// Normal around 0
    Normal,
    /// Around the codes of the members that taught the model
    Aggregate,
}

/// From units of the data to units of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScalingName {
    /// They are the same
    Identity,
    /// Outputs to mean 0 and deviation 1
    Outputs,
    /// The same, and inputs divided by their usual size
    InputUnits,
    /// Outputs and inputs to mean 0 and deviation 1
    All,
}

/// How learning begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BeginningName {
    /// From draws of the prior: for many sequences
    Prior,
    /// From random effects: for few
    Effects,
    /// From the model as it was drawn: for elbo and iwae
    None,
}

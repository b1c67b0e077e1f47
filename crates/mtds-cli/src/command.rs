//! The program as clap sees it: its verbs, and the help that groups them by the job that they do.

use crate::verb::{
    data, devices, evaluate, fit, forecast, generate, infer, inspect, mocap, morph, quickstart, report,
    reproduce, shell, transfer, watch,
};
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use mtds::BaseName;

/// The jobs, and the verbs that do them.
pub const GROUPS: [(&str, &[&str]); 7] = [
    ("Start here", &["quickstart"]),
    ("Learn a family", &["fit", "data", "inspect", "report"]),
    ("See where sequences are going", &["infer", "forecast", "watch", "evaluate"]),
    ("Make sequences", &["generate", "morph", "transfer"]),
    ("Motion capture", &["mocap"]),
    ("Check the claims", &["reproduce"]),
    ("This machine", &["devices", "completions", "man"]),
];

/// Learn a family of sequences at once; customise a dynamical system to each member by a short code.
#[derive(Debug, Parser)]
#[command(name = "mtds", version, arg_required_else_help = true)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The built-in oscillator family, end to end, in about a minute: learn, infer, forecast, morph
    Quickstart(quickstart::Arguments),
    /// Learn a family of sequences from a file
    Fit(Box<fit::Arguments>),
    /// Posteriors of the codes of sequences
    Infer(Box<infer::Arguments>),
    /// Where sequences are going, with quantiles
    Forecast(Box<forecast::Arguments>),
    /// New sequences: of a chosen code, like a member, or drawn from the prior
    Generate(Box<generate::Arguments>),
    /// A sequence that changes from one member into another
    Morph(Box<morph::Arguments>),
    /// The inputs of one sequence, answered in the style of another
    Transfer(Box<transfer::Arguments>),
    /// Follow sequences as they come: a JSON line in, posterior and forecast out
    Watch(watch::Arguments),
    /// Score a model's forecasts on sequences it has not seen, beside baselines
    Evaluate(Box<evaluate::Arguments>),
    /// What is in a model or a family: sizes, what the code explains, the map of codes
    Inspect(Box<inspect::Arguments>),
    /// The page of a fit: learning, map of codes, forecasts, intervals, residuals, settings
    Report(Box<report::Arguments>),
    /// Families: make a built-in one, convert between formats
    #[command(subcommand)]
    Data(data::Arguments),
    /// Motion capture: BVH files into a family, a look at them, and back
    #[command(subcommand)]
    Mocap(mocap::Arguments),
    /// The paper's experiments, with the paper's numbers, ours and the oracle's
    #[command(subcommand)]
    Reproduce(reproduce::Arguments),
    /// What can compute here: the processor, graphics cards, and why one cannot be used
    Devices(devices::Arguments),
    /// Completions for a shell, on stdout
    Completions(shell::Completions),
    /// Manual pages, one per verb
    Man(shell::Man),
}

impl CommandLine {
    /// What the program was called with; clap itself answers `--help` and `--version`, and exits with 2 when it cannot
    /// parse.
    pub fn read() -> Self {
        if let Some(help) = all(std::env::args()) {
            print!("{help}");
            std::process::exit(0);
        }
        let matches = command().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// The program as clap sees it, with its verbs grouped in the help, and of `fit` what most people need.
pub fn command() -> Command {
    whole().mut_subcommand("fit", |fit| {
        fit.mut_args(|arg| {
            let is_usual = arg.is_positional() || fit::USUAL.contains(&arg.get_id().as_str());
            arg.hide(!is_usual)
        })
    })
}

/// The same with every option of `fit` in its help.
pub fn whole() -> Command {
    let command = CommandLine::command().mut_subcommand("fit", |fit| fit.mut_args(|arg| arg.hide(false)));
    let verbs = grouped(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}Options:\n{{options}}\n\n\
         `mtds VERB --help` shows the options and two examples of a verb.\n"
    ))
}

/// The help of `mtds fit --help-all`: every option by topic, and the blocks that --adapt, --share and --fix name.
fn all(mut words: impl Iterator<Item = String>) -> Option<String> {
    let is_asked = words.nth(1).as_deref() == Some("fit") && words.any(|word| word == "--help-all");
    is_asked.then(|| {
        let whole = whole();
        let fit = whole.find_subcommand("fit").expect("there is a verb to learn with");
        let mut fit = fit.clone().bin_name("mtds fit");
        format!("{}\n{}", fit.render_help(), blocks())
    })
}

/// The blocks of every base model, by name.
fn blocks() -> String {
    let mut text = "Blocks, for --adapt, --share and --fix:\n".to_owned();
    for base in BaseName::ALL {
        let blocks = base.sized(2, 2, 1).blocks();
        let names: Vec<_> = blocks.iter().filter(|block| block.len > 0).map(|block| block.name).collect();
        text.push_str(&format!("  {:<8} {}\n", base.name(), names.join(", ")));
    }
    text
}

/// One paragraph per job, a line per verb.
fn grouped(command: &Command) -> String {
    let width = GROUPS.iter().flat_map(|(_, verbs)| *verbs).map(|verb| verb.len()).max().unwrap_or(0);
    let line = |name: &&str| {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        format!("  {name:<width$}  {}\n", about.map(ToString::to_string).unwrap_or_default())
    };
    let group =
        |(job, verbs): &(&str, &[&str])| format!("{job}:\n{}\n", verbs.iter().map(line).collect::<String>());
    GROUPS.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mtds::Wishes;
    use mtds::parts::Topic;

    #[test]
    fn clap_finds_no_contradiction() {
        command().debug_assert();
    }

    #[test]
    fn the_help_of_fit_shows_ten_options_with_their_defaults_and_help_all_the_rest() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>().into_iter();
        let mut command = command();
        let fit = command.find_subcommand_mut("fit").expect("a verb");
        let shown: Vec<_> = fit.get_opts().filter(|option| !option.is_hide_set()).cloned().collect();
        assert_eq!(shown.len(), 10, "{shown:?}");
        let usual = Wishes::KEYS.iter().filter(|key| key.topic == Topic::Usual);
        assert!(usual.clone().all(|key| fit::USUAL.contains(&key.name) && key.default.is_some()));
        for option in &shown {
            let help = option.get_help().expect("every option says what it is").to_string();
            assert!(option.is_required_set() || help.contains("[default: "), "{option}: {help}");
        }
        let usual = fit.render_help().to_string();
        let whole = all(words("mtds fit --help-all")).expect("asked for");
        assert!(usual.lines().count() <= 40, "{}\n{usual}", usual.lines().count());
        for (option, is_usual) in [
            ("--code", true),
            ("--effort", true),
            ("--kl-warmup", false),
            ("--tensorboard", false),
            ("--threads", false),
            ("--products", false),
        ] {
            assert_eq!(usual.contains(option), is_usual, "{option}");
            assert!(whole.contains(option), "{option}");
        }
        assert!(whole.contains("initial_state") && whole.contains("Learning by elbo and iwae"), "{whole}");
        assert_eq!(all(words("mtds fit --help")), None);
        assert_eq!(all(words("mtds infer --help-all")), None);
    }

    #[test]
    fn every_verb_is_in_one_group_with_its_text() {
        let command = command();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        let mut verbs: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
        let help = command.clone().render_help().to_string();
        for verb in command.get_subcommands() {
            let about = verb.get_about().expect("every verb says what it does").to_string();
            assert!(help.contains(&about), "{about} is not in\n{help}");
        }
    }
}

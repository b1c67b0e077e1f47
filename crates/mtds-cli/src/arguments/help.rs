//! The help of the program: verbs grouped by the job that they do.

use clap::{Command, CommandFactory};
use mtds::base::BaseName;

use super::Arguments;

/// The jobs, and the verbs that do them.
pub const GROUPS: [(&str, &[&str]); 7] = [
    ("Start here", &["quickstart"]),
    ("Learn a family", &["fit", "data", "inspect", "report"]),
    ("See where sequences are going", &["infer", "forecast", "watch", "evaluate"]),
    ("Make sequences", &["generate", "morph", "transfer"]),
    ("Motion capture", &["mocap"]),
    ("Check the claims", &["reproduce"]),
    ("Shell", &["completions", "man"]),
];

/// The program as clap sees it, with its verbs grouped in the help.
pub fn command() -> Command {
    let command = Arguments::command();
    let verbs = grouped(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}Options:\n{{options}}\n\n\
         `mtds VERB --help` shows the options and two examples of a verb.\n"
    ))
}

/// The help of `mtds fit --help-all`: every option by topic, and the blocks that --adapt, --share and --fix name.
pub(super) fn all(mut words: impl Iterator<Item = String>) -> Option<String> {
    let is_asked = words.nth(1).as_deref() == Some("fit") && words.any(|word| word == "--help-all");
    is_asked.then(|| {
        let mut command = command();
        let fit = command.find_subcommand_mut("fit").expect("there is a verb to learn with");
        let mut fit = fit.clone().mut_args(|arg| arg.hide(false)).bin_name("mtds fit");
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

    #[test]
    fn clap_finds_no_contradiction() {
        command().debug_assert();
    }

    #[test]
    fn the_help_of_fit_shows_what_most_people_need_and_help_all_the_rest() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>().into_iter();
        let usual = command().find_subcommand_mut("fit").expect("a verb").render_help().to_string();
        let whole = all(words("mtds fit --help-all")).expect("asked for");
        assert!(usual.lines().count() <= 70, "{}\n{usual}", usual.lines().count());
        for (option, is_usual) in
            [("--code", true), ("--effort", true), ("--kl-warmup", false), ("--tensorboard", false)]
        {
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

//! The help of the program: verbs grouped by the job that they do.

use clap::{Command, CommandFactory};

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

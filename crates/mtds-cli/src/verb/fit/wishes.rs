//! Settings of learning as options: made from the keys that the library knows, so that none is written down twice.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use mtds::Wishes;
use mtds::parts::{Key, Topic};
use serde_json::{Map, Value};

/// The settings that were typed.
#[derive(Debug, Clone, Default)]
pub struct WishArguments(pub Wishes);

impl Args for WishArguments {
    fn augment_args(command: Command) -> Command {
        command.args(Wishes::KEYS.iter().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for WishArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut typed = Map::new();
        for key in Wishes::KEYS {
            if let Some(text) = matches.get_one::<String>(key.name) {
                typed.insert(key.name.to_owned(), value(key, text)?);
            }
        }
        Ok(Self(
            serde_json::from_value(Value::Object(typed))
                .map_err(|error| Error::raw(ErrorKind::ValueValidation, format!("{error}\n")))?,
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The option of a key.
fn option(key: &'static Key) -> Arg {
    let arg = Arg::new(key.name)
        .long(key.name.replace('_', "-"))
        .value_name(value_name(key))
        .help(help(key))
        .help_heading(heading(key.topic))
        .allow_negative_numbers(true)
        .action(ArgAction::Set);
    let arg = if key.name == "refine_particles" { arg.visible_alias("draws") } else { arg };
    match key.alone {
        Some(meant) => arg.num_args(0..=1).require_equals(true).default_missing_value(meant),
        None => arg,
    }
}

fn help(key: &Key) -> String {
    let default = key.default.map_or(String::new(), |default| format!(" [default: {default}]"));
    format!("{}{default}", key.about.trim().trim_end_matches('.'))
}

fn value_name(key: &Key) -> &'static str {
    match key.kind {
        "usize" | "u64" => "N",
        "f64" => "NUMBER",
        "bool" => "true|false",
        "Vec<usize>" => "N,N",
        "Vec<String>" if key.name == "start_inputs" => "INPUTS",
        "Vec<String>" => "BLOCKS",
        _ => "NAME",
    }
}

fn heading(topic: Topic) -> &'static str {
    match topic {
        Topic::Usual => "Settings that most people need; all others are chosen from the data",
        Topic::Model => "Model",
        Topic::Layered => "Layered model",
        Topic::Learning => "Learning",
        Topic::Variational => "Learning by elbo and iwae",
        Topic::NewMembers => "New members",
    }
}

/// What was typed for a key, in the form that its type is read from.
fn value(key: &Key, text: &str) -> Result<Value, Error> {
    let item = |kind: &str, text: &str| match kind {
        "usize" | "u64" | "f64" | "bool" => serde_json::from_str(text.trim()).ok(),
        _ => Some(Value::String(text.trim().to_owned())),
    };
    let found = match key.kind.strip_prefix("Vec<").and_then(|kind| kind.strip_suffix('>')) {
        // What is listed by numbers may be listed as nothing; blocks have lists for that.
        Some("usize") if text.trim() == "none" => Some(Value::Array(vec![])),
        Some(kind) => {
            text.split(',').map(|text| item(kind, text)).collect::<Option<Vec<_>>>().map(Value::Array)
        }
        // A name is typed with dashes and stored with underscores.
        None => item(key.kind, text).map(|value| match value {
            Value::String(name) if key.name == "scaling" => Value::String(name.replace('-', "_")),
            other => other,
        }),
    };
    let one = |value: &Value| {
        let only: Map<String, Value> = [(key.name.to_owned(), value.clone())].into_iter().collect();
        serde_json::from_value::<Wishes>(Value::Object(only)).map(drop)
    };
    let wrong = |why: String| {
        let option = key.name.replace('_', "-");
        let text = format!("invalid value '{text}' for '--{option} <{}>': {why}\n", value_name(key));
        Error::raw(ErrorKind::ValueValidation, text)
    };
    let found = found.ok_or_else(|| wrong(format!("expected {}", expected(key.kind))))?;
    one(&found).map_err(|error| wrong(error.to_string()))?;
    Ok(found)
}

fn expected(kind: &str) -> &'static str {
    match kind {
        "usize" | "u64" => "a whole number",
        "bool" => "true or false",
        "Vec<usize>" => "whole numbers with commas between, or none",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mtds::LearnRule;

    fn typed(words: &[&str]) -> Result<Wishes, Error> {
        let command = WishArguments::augment_args(Command::new("fit"));
        let matches = command.try_get_matches_from([&["fit"], words].concat())?;
        Ok(WishArguments::from_arg_matches(&matches)?.0)
    }

    #[test]
    fn every_key_is_an_option_of_its_type() {
        let words = [
            "--code",
            "3",
            "--effort",
            "0.5",
            "--residual",
            "--front-skip=false",
            "--hidden",
            "8,4",
            "--adapt",
            "offset",
            "--learn",
            "elbo",
            "--calibrate",
            "false",
            "--noise-shift",
            "-0.5",
            "--amortised",
            "--scaling",
            "input-units",
        ];
        let found = typed(&words).expect("all are fine");
        assert_eq!((found.code, found.effort, found.learn), (Some(3), Some(0.5), Some(LearnRule::Elbo)));
        assert_eq!(
            (found.residual, found.front_skip, found.calibrate),
            (Some(true), Some(false), Some(false))
        );
        assert_eq!((found.hidden, found.noise_shift), (Some(vec![8, 4]), Some(-0.5)));
        assert_eq!((found.amortised, found.adapt), (Some(32), Some(vec!["offset".to_owned()])));
        assert_eq!(typed(&["--hidden", "none"]).expect("no layer").hidden, Some(vec![]));
        assert_eq!(typed(&[]).expect("none is fine"), Wishes::default());
    }

    #[test]
    fn what_cannot_be_meant_is_named_with_what_was_expected() {
        for (words, named) in [
            (["--code", "three"], "whole number"),
            (["--code", "-3"], "code"),
            (["--learn", "mcmc"], "iwae"),
            (["--hidden", "8,x"], "whole numbers"),
            (["--calibrate", "perhaps"], "true or false"),
        ] {
            let error = typed(&words).expect_err("cannot be meant").to_string();
            assert!(error.contains(words[0]) && error.contains(named), "{error}");
        }
    }
}

//! `mtds devices`: what can compute here, and why something cannot.

use crate::options::Common;
use anyhow::Result;
use clap::Args;
use mtds::Device;
use serde_json::json;
use std::io::Write;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds devices
      the processor, and every graphics card with its memory, or what is missing to use it
  mtds devices --json
      the same for a script
";

/// How the list is printed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Arguments {
    /// Lists the devices on `stdout`.
    ///
    /// # Errors
    /// A `stdout` that takes no more.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        let (cards, none) = match Device::cards() {
            Ok(cards) => (cards, None),
            Err(why) => (vec![], Some(why.to_string())),
        };
        let threads = self.common.threads();
        let text = || {
            let mut text = format!("cpu     {threads} thread(s)\n");
            for card in &cards {
                let (major, minor) = card.capability;
                let gib = card.memory as f64 / f64::from(1 << 30);
                let trouble =
                    card.trouble.as_ref().map_or(String::new(), |why| format!("; cannot be used: {why}"));
                text += &format!(
                    "cuda:{}  {}, {gib:.0} GiB, compute capability {major}.{minor}{trouble}\n",
                    card.ordinal, card.name
                );
            }
            if let Some(why) = &none {
                text += &format!("cuda    cannot be used: {why}\n");
            }
            text
        };
        let document = || {
            let cards: Vec<_> = cards
                .iter()
                .map(|card| {
                    json!({
                        "device": format!("cuda:{}", card.ordinal),
                        "name": card.name,
                        "memory_bytes": card.memory,
                        "compute_capability": [card.capability.0, card.capability.1],
                        "trouble": card.trouble,
                    })
                })
                .collect();
            json!({ "verb": "devices", "cpu": { "threads": threads }, "cards": cards, "no_cards": none })
        };
        self.common.print(stdout, text, document)
    }
}

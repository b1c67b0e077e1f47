//! How much of the code a model that was learned by elbo or iwae uses, in words and as a table.

use crate::text::{Align, TextTable};
use mtds::CodeUsage;
use mtds::parts::{LEAST, UsageStatus};

/// One sentence: how many dimensions are used, and what to try where some are not.
pub fn sentence(usage: &CodeUsage) -> String {
    let (active, all) = (usage.active, usage.divergence.len());
    match usage.status {
        UsageStatus::Used => format!("all {all} dimension(s) of the code are used"),
        UsageStatus::PartlyUsed => {
            format!("{active} of {all} dimensions of the code are used; --code {active} would do")
        }
        UsageStatus::Collapsed => "the code is not used: beliefs about every sequence stay at the prior (collapse), so all members are forecast \
             alike; try --hard-steps with a quarter of the steps, a longer --kl-warmup, more --adapt blocks, or --learn mco; \
             `evaluate --against pooled` shows whether one system for all members does as well"
            .to_owned(),
    }
}

/// Divergence and spread by dimension.
pub fn table(usage: &CodeUsage) -> String {
    let mut table = TextTable::new(&[
        ("dimension", Align::Left),
        ("KL, nats", Align::Right),
        ("variance of means", Align::Right),
        ("", Align::Left),
    ]);
    for (d, (kl, variance)) in rows(usage).into_iter().enumerate() {
        let word = if is_active(kl, variance) { "used" } else { "not used" };
        table.push(vec![format!("z{}", d + 1), format!("{kl:.3}"), format!("{variance:.3}"), word.into()]);
    }
    table.render()
}

/// Divergence from the prior and variance of the means, by dimension.
pub fn rows(usage: &CodeUsage) -> Vec<(f64, f64)> {
    usage.divergence.iter().copied().zip(usage.variance_of_means.iter().copied()).collect()
}

fn is_active(kl: f64, variance: f64) -> bool {
    kl > LEAST || variance > LEAST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(divergence: Vec<f64>, active: usize, status: UsageStatus) -> CodeUsage {
        CodeUsage {
            variance_of_means: divergence.iter().map(|kl| kl / 3.0).collect(),
            divergence,
            active,
            status,
        }
    }

    #[test]
    fn collapse_is_said_plainly_with_what_to_try() {
        let said = sentence(&usage(vec![0.001, 0.002], 0, UsageStatus::Collapsed));
        assert!(
            said.contains("not used") && said.contains("--hard-steps") && said.contains("collapse"),
            "{said}"
        );
        let said = sentence(&usage(vec![2.0, 0.002], 1, UsageStatus::PartlyUsed));
        assert!(said.contains("1 of 2") && said.contains("--code 1"), "{said}");
        let said = table(&usage(vec![2.0, 0.002], 1, UsageStatus::PartlyUsed));
        assert!(said.contains("z2") && said.contains("not used") && said.contains("2.000"), "{said}");
    }
}

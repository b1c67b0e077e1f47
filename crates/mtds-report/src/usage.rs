//! How much of the code a model that was learned by elbo or iwae uses, in words and as a table.

use crate::text::{Align, TextTable};
use mtds::parts::{LEAST, UsageStatus};
use mtds::{CodeUsage, Explained};

/// Share of an output's variance below which a code explains nothing worth the name.
const LITTLE: f64 = 0.02;

/// One sentence: how many dimensions are used, and what to try where some are not.
pub fn sentence(usage: &CodeUsage) -> String {
    let (active, all) = (usage.active, usage.divergence.len());
    match usage.status {
        UsageStatus::Used => format!("all {all} dimension(s) of the code are used"),
        UsageStatus::PartlyUsed => {
            format!("{active} of {all} dimensions of the code are used; --code {active} would do")
        }
        UsageStatus::Collapsed => "the code is not used: beliefs about all sequences are alike (collapse), and so are forecasts of members at \
             first; try --hard-steps with a quarter of the steps, a longer --kl-warmup, more --adapt blocks, or --learn mco; \
             `evaluate --against pooled` shows whether one system for all members does as well"
            .to_owned(),
    }
}

/// Plain words where the code explains next to nothing, whatever was learned and however; nothing where it does, or where nobody knows.
pub fn warning(explained: &[Explained]) -> Option<String> {
    let gains = explained.iter().map(|row| row.with_code - row.without_code).filter(|gain| !gain.is_nan());
    let most = gains.reduce(f64::max)?;
    (most < LITTLE).then(|| {
        format!(
            "the code explains {:.1} % of any output at most: members are generated, and forecast at first, as if they were alike; more --effort, \
             --learn or --base may find what tells them apart, and `evaluate --against family-mean` shows whether there is anything to find",
            100.0 * most.max(0.0)
        )
    })
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
        let word = if variance > LEAST { "used" } else { "not used" };
        table.push(vec![format!("z{}", d + 1), format!("{kl:.3}"), format!("{variance:.3}"), word.into()]);
    }
    table.render()
}

/// Divergence from the prior and variance of the means, by dimension.
pub fn rows(usage: &CodeUsage) -> Vec<(f64, f64)> {
    usage.divergence.iter().copied().zip(usage.variance_of_means.iter().copied()).collect()
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
    fn a_code_that_explains_nothing_is_called_that() {
        let row = |with_code: f64, without_code: f64| Explained {
            output: "y".into(),
            with_code,
            without_code,
            alone: vec![],
        };
        assert!(
            warning(&[row(0.51, 0.5), row(0.2, 0.2)])
                .is_some_and(|said| said.contains("1.0 % of any output"))
        );
        assert_eq!(warning(&[row(0.51, 0.5), row(0.9, 0.2)]), None);
        assert!(warning(&[row(-0.4, 0.1)]).is_some_and(|said| said.contains(" 0.0 %")));
        assert_eq!((warning(&[]), warning(&[row(f64::NAN, 0.1)])), (None, None));
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

//! Scores of a model beside baselines as a table, the one of files and of frames.

use mtds::evaluate::{Estimate, ScoreRow, Scored, Seen};

use super::{Column, Table};

/// A row per origin and forecaster: what was seen, who forecast, every measure with its standard error, and how far the model is from it.
///
/// Origins that are shares of a sequence, not steps, make `seen` a column of numbers.
#[must_use]
pub fn score_table(scored: &[Scored]) -> Table {
    let rows: Vec<&ScoreRow> = scored.iter().map(|one| &one.evaluated.row).collect();
    let mut table = Table::new()
        .with("seen", seen(&rows))
        .with("method", Column::Text(rows.iter().map(|row| row.method.clone()).collect()))
        .with("n_seq", Column::Integer(rows.iter().map(|row| row.n_seq as i64).collect()));
    let measures: Vec<_> = rows.iter().map(|row| row.measures()).collect();
    for k in 0..measures.first().map_or(0, |measures| measures.len()) {
        let name = measures[0][k].0;
        let means = measures.iter().map(|row| row[k].1).collect();
        let std_errors = measures.iter().map(|row| row[k].2.unwrap_or(f64::NAN)).collect();
        table =
            table.with(name, Column::Number(means)).with(format!("{name}_se"), Column::Number(std_errors));
    }
    let less = |of: fn(Estimate) -> Option<f64>| {
        Column::Number(scored.iter().map(|one| one.model_less.and_then(of).unwrap_or(f64::NAN)).collect())
    };
    table
        .with("model_less_crps", less(|found| Some(found.mean)))
        .with("model_less_crps_se", less(|found| found.std_error))
}

fn seen(rows: &[&ScoreRow]) -> Column {
    let steps = |row: &&ScoreRow| match row.seen {
        Seen::Steps(steps) => Some(steps as i64),
        Seen::Share(_) => None,
    };
    let number = |row: &&ScoreRow| match row.seen {
        Seen::Steps(steps) => steps as f64,
        Seen::Share(share) => share,
    };
    match rows.iter().map(steps).collect() {
        Some(steps) => Column::Integer(steps),
        None => Column::Number(rows.iter().map(number).collect()),
    }
}

#[cfg(test)]
mod tests {
    use mtds::evaluate::{Coverage, Evaluated, SequenceScore};

    use super::*;

    fn scored(seen: Seen) -> Scored {
        let coverage = [0.5, 0.8, 0.95].map(|level| Coverage { level, share: 1.0 }).to_vec();
        let score =
            SequenceScore { n_observed: 1, rmse: 0.5, nll: 1.5, crps: 0.25, coverage, pit: vec![0.5] };
        let row = ScoreRow::over("this model", seen, [&score].into_iter()).expect("a score");
        let evaluated = Evaluated { row, sequences: vec![(0, score)] };
        Scored { baseline: None, evaluated, model_less: None }
    }

    #[test]
    fn a_share_that_was_seen_is_no_number_of_steps() {
        let found = score_table(&[scored(Seen::Steps(10)), scored(Seen::Steps(20))]);
        assert_eq!(found.columns[0], ("seen".to_owned(), Column::Integer(vec![10, 20])));
        let found = score_table(&[scored(Seen::Share(0.5)), scored(Seen::Share(0.25))]);
        assert_eq!(found.columns[0], ("seen".to_owned(), Column::Number(vec![0.5, 0.25])));
    }

    #[test]
    fn what_is_not_known_is_nothing() {
        let found = score_table(&[scored(Seen::Steps(10))]);
        let column = |name: &str| &found.columns.iter().find(|(found, _)| found == name).expect("a column").1;
        assert_eq!(column("rmse"), &Column::Number(vec![0.5]));
        for name in ["rmse_se", "model_less_crps", "model_less_crps_se"] {
            assert!(matches!(column(name), Column::Number(values) if values[0].is_nan()), "{name}");
        }
        assert!(score_table(&[]).check().is_ok());
    }
}

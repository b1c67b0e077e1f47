//! Structures that were compared, and how forecasts stand against the best rival: in words and as a table.

use crate::text::{Align, TextTable, estimate};
use mtds::FitRecord;
use mtds::evaluate::Baseline;
use mtds::parts::{BestRival, StructureRow};

/// The structures with their scores and weights; empty where none was compared.
pub fn table(rows: &[StructureRow]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut table = TextTable::new(&[
        ("forecasts by", Align::Left),
        ("CRPS", Align::Right),
        ("behind all together", Align::Right),
        ("counts", Align::Right),
    ]);
    for row in rows {
        if row.n_seq == 0 && row.weight == 0.0 {
            let words = [&row.structure, "could not be learned", "", "0 %"];
            table.push(words.map(str::to_owned).to_vec());
            continue;
        }
        table.push(vec![
            row.structure.clone(),
            estimate(row.crps, row.crps_se.unwrap_or(f64::NAN), 3),
            estimate(row.behind, row.behind_se.unwrap_or(f64::NAN), 3),
            format!("{:.0} %", 100.0 * row.weight),
        ]);
    }
    format!(
        "structures, and ways that remember members, by forecasts of {} sequences that each was learned without, in deviations of an output\n{}",
        first.n_seq,
        table.render()
    )
}

/// Who forecasts better, said plainly; nothing where no rival was asked.
pub fn sentences(fit: &FitRecord) -> Vec<(&'static str, String)> {
    fit.best_rival.iter().map(|rival| ("best rival", verdict(rival))).collect()
}

/// Which structures forecast together, where several do.
pub fn together(fit: &FitRecord) -> Vec<(&'static str, String)> {
    let counted: Vec<&StructureRow> = fit.structures.iter().filter(|row| row.weight > 0.0).collect();
    let is_way = |row: &&&StructureRow| Baseline::OF_MEMBERS.iter().any(|way| way.title() == row.structure);
    let systems = counted.iter().filter(|row| !is_way(row));
    let Some(most) = systems.max_by(|a, b| a.weight.total_cmp(&b.weight)) else { return vec![] };
    let shown = counted.iter().filter(|row| row.weight >= 0.005);
    let shares: Vec<String> =
        shown.map(|row| format!("{} {:.0} %", row.structure, 100.0 * row.weight)).collect();
    let remembers = match counted.iter().any(|row| is_way(&row)) {
        true => "; what members did is part of the model",
        false => "",
    };
    vec![("forecasts by", format!("{}; codes are those of {}{remembers}", shares.join(", "), most.structure))]
}

fn verdict(BestRival { method, model_less }: &BestRival) -> String {
    let by = model_less.std_error.unwrap_or(f64::INFINITY);
    let decimals = decimals(model_less.mean.abs().max(if by.is_finite() { by } else { 0.0 }));
    let difference = estimate(model_less.mean.abs(), model_less.std_error.unwrap_or(f64::NAN), decimals);
    match model_less.mean {
        less if less < -by => format!("{method}; this model is ahead, by a CRPS of {difference}"),
        less if less > by => {
            format!(
                "{method}, which is ahead of this model, by a CRPS of {difference}: simpler, and better here"
            )
        }
        _ => format!("{method}; this model is level with it (CRPS {difference} apart)"),
    }
}

/// Decimals that show two digits of a number of this size.
fn decimals(size: f64) -> usize {
    match size > 0.0 && size.is_finite() {
        true => (1.0 - size.log10().floor()).clamp(0.0, 9.0) as usize,
        false => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mtds::evaluate::Estimate;

    fn rival(mean: f64, std_error: Option<f64>) -> String {
        verdict(&BestRival { method: "fpca".into(), model_less: Estimate { mean, std_error, n: 9 } })
    }

    #[test]
    fn a_rival_that_is_better_is_said_to_be() {
        assert!(rival(-0.31, Some(0.1)).contains("this model is ahead, by a CRPS of 0.31 ± 0.10"));
        assert!(rival(0.31, Some(0.1)).contains("ahead of this model"));
        assert!(rival(0.31, Some(0.5)).contains("level"));
        assert!(rival(0.31, None).contains("level"), "one sequence says nothing");
        assert!(rival(-31.0, Some(10.0)).contains("31 ± 10"));
    }

    #[test]
    fn the_table_has_a_line_for_each_structure() {
        let row = |structure: &str, weight| StructureRow {
            structure: structure.into(),
            weight,
            crps: 0.25,
            crps_se: Some(0.02),
            behind: 0.01,
            behind_se: None,
            n_seq: 30,
        };
        let shown = table(&[row("plain", 0.25), row("curves", 0.75)]);
        assert!(shown.contains("30 sequences") && shown.contains("75 %") && shown.contains("0.250 ± 0.020"));
        assert_eq!(table(&[]), "");
    }
}

//! Aligned plain-text tables for the terminal, and how numbers are written in them.

/// Which side of a column is flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table of text cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextTable {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these columns and no rows.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(heading, align)| (heading.to_string(), *align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Appends a row; missing cells stay empty, surplus ones are dropped.
    ///
    /// Names from files may hold what a terminal would obey, or ends of lines.
    pub fn push(&mut self, row: Vec<String>) {
        let spelled_out = |cell: String| match cell.contains(char::is_control) {
            true => cell.escape_debug().to_string(),
            false => cell,
        };
        self.rows.push(row.into_iter().map(spelled_out).collect());
    }

    /// The table as lines, two spaces between columns, nothing after the last one.
    pub fn render(&self) -> String {
        let headings: Vec<_> = self.columns.iter().map(|(heading, _)| heading.clone()).collect();
        let widths: Vec<_> = (0..self.columns.len()).map(|j| self.width(j)).collect();
        let mut out = self.line(&headings, &widths);
        for row in &self.rows {
            out.push_str(&self.line(row, &widths));
        }
        out
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.chain([&self.columns[column].0]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = self.columns.iter().zip(widths).enumerate().map(|(j, ((_, align), width))| {
            let cell = row.get(j).map_or("", String::as_str);
            match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            }
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    }
}

/// A number with its standard error; a dash if it was not measured.
pub fn estimate(value: f64, error: f64, decimals: usize) -> String {
    match (value.is_finite(), error.is_finite()) {
        (false, _) => "–".into(),
        (true, false) => format!("{value:.decimals$}"),
        (true, true) => format!("{value:.decimals$} ± {error:.decimals$}"),
    }
}

/// A share as per cent; a dash if it was not measured.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.0}%", 100.0 * share) } else { "–".into() }
}

/// A duration for a reader: `0.8 s`, `42 s`, `3 min 05 s`.
pub fn seconds(secs: f64) -> String {
    match secs {
        s if !s.is_finite() => "–".into(),
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 119.5 => format!("{s:.0} s"),
        s => format!("{} min {:02} s", (s.round() as u64) / 60, (s.round() as u64) % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_talk_to_the_terminal() {
        let mut table = TextTable::new(&[("sequence", Align::Left)]);
        table.push(vec!["a\u{1b}[31m\nb".into()]);
        assert_eq!(table.render(), "sequence\na\\u{1b}[31m\\nb\n");
    }

    #[test]
    fn columns_line_up_by_characters_not_bytes() {
        let mut table = TextTable::new(&[("method", Align::Left), ("rmse", Align::Right)]);
        table.push(vec!["mtds".into(), estimate(0.5, 0.125, 2)]);
        table.push(vec!["last value".into(), estimate(f64::NAN, 0.1, 2)]);
        table.push(vec!["é".into()]);
        assert_eq!(
            table.render(),
            "method             rmse\n\
             mtds        0.50 ± 0.12\n\
             last value            –\n\
             é\n"
        );
    }

    #[test]
    fn durations_read_naturally() {
        let shown: Vec<_> = [0.0, 9.94, 9.96, 119.0, 119.6, 185.0, f64::NAN].map(seconds).to_vec();
        assert_eq!(shown, ["0.0 s", "9.9 s", "10 s", "119 s", "2 min 00 s", "3 min 05 s", "–"]);
    }
}

//! Tables of numbers: aligned, with standard errors, the best value of every group in bold.

use crate::chart::scale::short_number;
use crate::markup::Element;

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What the numbers are.
    pub caption: String,
    /// The columns; the first names the row.
    pub columns: Vec<Heading>,
    /// Groups of rows; values are compared within a group.
    pub groups: Vec<Group>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    /// Heading.
    pub heading: String,
    /// Which value is best.
    pub better: Better,
    /// Decimals shown.
    pub decimals: usize,
}

/// Which value of a column is best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Better {
    /// None: the column is not a score.
    Neither,
    /// The smallest.
    Lower,
    /// The one nearest to a target.
    Near(f64),
}

/// Rows that are compared with each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// Heading over the rows; may be empty.
    pub label: String,
    /// Rows, each with one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// The name of the row.
    Text(String),
    /// Words that stand among numbers.
    Words(String),
    /// A sentence, in the last column: it breaks into lines.
    Sentence(String),
    /// A number; one that is not finite is shown as a dash.
    Number(f64),
    /// A number known to this many decimals, whatever the column shows.
    Rounded(f64, usize),
    /// A number with its standard error.
    Estimate(f64, f64),
}

impl Cell {
    fn value(&self) -> Option<f64> {
        match self {
            Cell::Text(_) | Cell::Words(_) | Cell::Sentence(_) => None,
            Cell::Number(value) | Cell::Rounded(value, _) | Cell::Estimate(value, _) => {
                Some(*value).filter(|v| v.is_finite())
            }
        }
    }

    fn element(&self, column: &Heading) -> Element {
        match self {
            Cell::Text(text) => Element::new("th").set("scope", "row").text(text),
            Cell::Words(words) => Element::new("td").class("words").text(words),
            Cell::Sentence(sentence) => Element::new("td").class("sentence").text(sentence),
            _ => self.number(column),
        }
    }

    fn number(&self, column: &Heading) -> Element {
        let cell = Element::new("td");
        let Some(value) = self.value() else {
            return cell.class("missing").text("–");
        };
        let decimals = if let Cell::Rounded(_, known) = self { *known } else { column.decimals };
        let cell = cell.child(Element::new("span").text(short_number(value, decimals)));
        match self {
            Cell::Estimate(_, error) if error.is_finite() => {
                let error = format!("\u{a0}±\u{a0}{}", short_number(*error, column.decimals));
                cell.child(Element::new("small").text(error))
            }
            _ => cell,
        }
    }
}

impl Heading {
    /// A column of names.
    pub fn names(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), better: Better::Neither, decimals: 0 }
    }

    /// A column of scores.
    pub fn score(heading: impl Into<String>, better: Better, decimals: usize) -> Self {
        Self { heading: heading.into(), better, decimals }
    }

    /// How far from best a value is; smaller is better.
    fn loss(&self, value: f64) -> Option<f64> {
        let scale = 10f64.powi(self.decimals as i32);
        let shown = (value * scale).round() / scale;
        match self.better {
            Better::Neither => None,
            Better::Lower => Some(shown),
            Better::Near(target) => Some((shown - target).abs()),
        }
    }
}

impl Table {
    /// The table within a box that scrolls on narrow screens, below its caption, which does not.
    pub fn element(&self) -> Element {
        let headings = self.columns.iter().map(|c| Element::new("th").set("scope", "col").text(&c.heading));
        let head = Element::new("thead").child(Element::new("tr").children(headings));
        let table =
            Element::new("table").child(head).children(self.groups.iter().map(|group| self.body(group)));
        let scroller = Element::new("div")
            .class("scroller")
            .set("role", "region")
            .set("aria-label", &self.caption)
            .set("tabindex", "0")
            .child(table);
        Element::new("div")
            .class("table")
            .child(Element::new("p").class("caption").text(&self.caption))
            .child(scroller)
    }

    fn body(&self, group: &Group) -> Element {
        let mut body = Element::new("tbody");
        if !group.label.is_empty() {
            let label = Element::new("th")
                .set("scope", "rowgroup")
                .set("colspan", self.columns.len().to_string())
                .text(&group.label);
            body = body.child(Element::new("tr").class("group").child(label));
        }
        let best: Vec<_> = (0..self.columns.len()).map(|j| self.best(group, j)).collect();
        body.children(group.rows.iter().map(|row| self.row(row, &best)))
    }

    fn row(&self, row: &[Cell], best: &[Option<f64>]) -> Element {
        let cells = row.iter().zip(&self.columns).zip(best).map(|((cell, column), best)| {
            let element = cell.element(column);
            let loss = cell.value().and_then(|value| column.loss(value));
            if loss.is_some() && loss == *best { element.class("best") } else { element }
        });
        Element::new("tr").children(cells)
    }

    /// The least loss in a column. Compared as shown, so that equal-looking values are equally bold; a lone
    /// value has nothing to be better than.
    fn best(&self, group: &Group, column: usize) -> Option<f64> {
        let losses: Vec<f64> = group
            .rows
            .iter()
            .filter_map(|row| self.columns[column].loss(row.get(column)?.value()?))
            .collect();
        if losses.len() < 2 { None } else { losses.into_iter().min_by(f64::total_cmp) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: Vec<Vec<Cell>>) -> String {
        let columns = vec![
            Heading::names("method"),
            Heading::score("error", Better::Lower, 2),
            Heading::score("inside", Better::Near(0.8), 2),
        ];
        let groups = vec![Group { label: String::new(), rows }];
        Table { caption: "scores".into(), columns, groups }.element().render()
    }

    #[test]
    fn the_best_of_each_column_is_bold() {
        let html = table(vec![
            vec![Cell::Text("a".into()), Cell::Estimate(0.314, 0.02), Cell::Number(0.99)],
            vec![Cell::Text("b".into()), Cell::Estimate(0.5, f64::NAN), Cell::Number(0.78)],
        ]);
        assert!(
            html.contains("<td class=\"best\"><span>0.31</span><small>\u{a0}±\u{a0}0.02</small></td>"),
            "{html}"
        );
        assert!(html.contains("<td class=\"best\"><span>0.78</span></td>"), "{html}");
        assert_eq!(html.matches("class=\"best\"").count(), 2);
    }

    #[test]
    fn a_number_known_to_fewer_decimals_claims_no_more() {
        let html =
            table(vec![vec![Cell::Text("a".into()), Cell::Rounded(0.3, 1), Cell::Words("x < y".into())]]);
        assert!(html.contains("<td><span>0.3</span></td><td class=\"words\">x &lt; y</td>"), "{html}");
    }

    #[test]
    fn missing_values_are_dashes_and_never_best() {
        let html = table(vec![
            vec![Cell::Text("a".into()), Cell::Number(f64::NAN), Cell::Number(f64::INFINITY)],
            vec![Cell::Text("b".into()), Cell::Number(-1.0), Cell::Number(0.8)],
        ]);
        assert_eq!(html.matches("–").count(), 2);
        assert!(html.contains("−1.00"));
        assert!(!html.contains("NaN") && !html.contains("inf") && !html.contains("class=\"best\""));
    }
}

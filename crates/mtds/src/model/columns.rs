//! Which columns of a table mean what: how a model recognises its outputs, its inputs and what does not change within a sequence.

use serde::{Deserialize, Serialize};

/// Which columns of a table mean what, and how times become steps. Every key may be left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataColumns {
    /// Column that tells sequences apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Column of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Column of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Output columns; empty: by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Inputs, as the columns that they come from or as a family names them (see [`Attribute::inputs`]); empty: by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Input columns that do not change within a sequence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Attribute>,
    /// Input columns that are 0 at steps without a row; the others keep the value of the row before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pulses: Vec<String>,
    /// Length of a step to resample to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resample: Option<String>,
    /// `mean` or `linear`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resample_by: Option<String>,
}

/// A column that does not change within a sequence: a number, or one of some categories.
///
/// Categories become indicators: one input for each level but the first, 1 where a sequence has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// The column.
    pub column: String,
    /// The categories, in order; empty for a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
}

impl Attribute {
    /// The inputs that it becomes, by name: `dose`, or `diet=oats`, `diet=rye` for the levels after the first.
    #[must_use]
    pub fn inputs(&self) -> Vec<String> {
        match self.levels.as_slice() {
            [] => vec![self.column.clone()],
            levels => levels[1..].iter().map(|level| format!("{}={level}", self.column)).collect(),
        }
    }

    /// The values of its inputs for a category; `None` for one that it does not have.
    #[must_use]
    pub fn indicators(&self, level: &str) -> Option<Vec<f64>> {
        let at = self.levels.iter().position(|known| known == level)?;
        Some((1..self.levels.len()).map(|other| f64::from(u8::from(other == at))).collect())
    }
}

impl DataColumns {
    /// Outputs and inputs of these names.
    #[must_use]
    pub fn named(outputs: Vec<String>, inputs: Vec<String>) -> Self {
        Self { outputs, inputs, ..Self::default() }
    }

    /// These, and for those left out the ones of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let list = |mine: Vec<String>, other| if mine.is_empty() { other } else { mine };
        Self {
            series: self.series.or(other.series),
            time: self.time.or(other.time),
            label: self.label.or(other.label),
            outputs: list(self.outputs, other.outputs),
            inputs: list(self.inputs, other.inputs),
            attributes: if self.attributes.is_empty() { other.attributes } else { self.attributes },
            pulses: list(self.pulses, other.pulses),
            resample: self.resample.or(other.resample),
            resample_by: self.resample_by.or(other.resample_by),
        }
    }

    /// The columns that the inputs come from, each once.
    #[must_use]
    pub fn input_columns(&self) -> Vec<String> {
        let mut columns: Vec<String> = vec![];
        for input in &self.inputs {
            let of = self.attributes.iter().find(|attribute| attribute.inputs().contains(input));
            let column = of.map_or(input, |attribute| &attribute.column);
            if !columns.contains(column) {
                columns.push(column.clone());
            }
        }
        columns
    }

    /// Whether every input is an attribute, so that one value of each is all that a sequence needs; `false` without inputs.
    #[must_use]
    pub fn has_attributes_only(&self) -> bool {
        let is_attribute = |column: &String| self.attributes.iter().any(|of| of.column == *column);
        !self.inputs.is_empty() && self.input_columns().iter().all(is_attribute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diet() -> Attribute {
        Attribute { column: "diet".into(), levels: vec!["hay".into(), "oats".into(), "rye".into()] }
    }

    #[test]
    fn categories_are_indicators_of_all_levels_but_the_first() {
        assert_eq!(diet().inputs(), ["diet=oats", "diet=rye"]);
        assert_eq!(diet().indicators("hay"), Some(vec![0.0, 0.0]));
        assert_eq!(diet().indicators("rye"), Some(vec![0.0, 1.0]));
        assert_eq!(diet().indicators("corn"), None);
        assert_eq!(Attribute { column: "dose".into(), levels: vec![] }.inputs(), ["dose"]);
    }

    #[test]
    fn inputs_lead_back_to_their_columns() {
        let strings = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut columns = DataColumns::named(vec![], strings(&["diet=oats", "diet=rye", "u"]));
        columns.attributes = vec![diet()];
        assert_eq!(columns.input_columns(), ["diet", "u"]);
        assert!(!columns.has_attributes_only());
        columns.inputs.pop();
        assert!(columns.has_attributes_only());
        assert!(!DataColumns::default().has_attributes_only());
    }
}

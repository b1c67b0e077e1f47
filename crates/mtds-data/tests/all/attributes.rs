//! Columns that do not change within a sequence: numbers, categories, and what is refused.

use std::path::Path;

use mtds::parts::Attribute;
use mtds_data::{Format, Note, Problem, ReadFamily, ReadOptions, Result, read_family_from};

fn options(inputs: &[&str]) -> ReadOptions {
    let inputs = inputs.iter().map(ToString::to_string).collect();
    ReadOptions { inputs, ..ReadOptions::default() }
}

fn read(text: &str, options: &ReadOptions) -> Result<ReadFamily> {
    read_family_from(text.as_bytes(), Format::Csv, Path::new("a.csv"), options)
}

fn problem(text: &str, options: &ReadOptions) -> Problem {
    match read(text, options) {
        Err(mtds_data::Error::Data(error)) => error.problem,
        other => panic!("{other:?}"),
    }
}

fn diet() -> Attribute {
    Attribute { column: "diet".into(), levels: vec!["hay".into(), "oats".into(), "rye".into()] }
}

const FED: &str = "series,t,y,diet,dose\n\
    a,0,1,oats,2.5\na,1,2,,\na,2,3,,\nb,0,1,hay,1.5\nb,1,2,hay,1.5\nc,0,1,rye,4\nc,2,2,rye,4\n\
    d,0,1,oats,2.5\nd,1,2,oats,2.5\ne,0,1,hay,1\ne,1,2,hay,1\nf,0,1,rye,2\nf,1,1,rye,2\n";

#[test]
fn categories_are_indicators_and_numbers_stay_numbers() {
    let read = read(FED, &options(&["diet", "dose"])).unwrap();
    assert_eq!(read.family.input_names(), ["diet=oats", "diet=rye", "dose"]);
    let inputs = |i| read.family.inputs_of(i).unwrap().values().to_vec();
    assert_eq!(inputs(0), [1.0, 0.0, 2.5].repeat(3), "one row is enough to say it");
    assert_eq!(inputs(1), [0.0, 0.0, 1.5].repeat(2));
    assert_eq!(inputs(2), [0.0, 1.0, 4.0].repeat(3), "also at a step without a row");
    let dose = Attribute { column: "dose".into(), levels: vec![] };
    assert_eq!(read.columns.attributes, [diet(), dose]);
    assert!(
        read.notes
            .iter()
            .any(|note| note.to_string() == "known once for each sequence: `diet` (hay, oats, rye), `dose`")
    );
    assert!(!read.notes.iter().any(|note| matches!(note, Note::FilledInputs { .. })), "{:?}", read.notes);
}

#[test]
fn what_a_model_knows_decides() {
    let told =
        |attributes: Vec<Attribute>| ReadOptions { attributes: Some(attributes), ..options(&["diet"]) };
    let one = "series,t,y,diet\nn,0,1,rye\nn,1,2,\n";
    let known = read(one, &told(vec![diet()])).unwrap();
    assert_eq!(known.family.input_names(), ["diet=oats", "diet=rye"]);
    assert_eq!(known.family.inputs_of(0).unwrap().values(), [0.0, 1.0, 0.0, 1.0]);
    let found = problem("series,t,y,diet\nn,0,1,corn\n", &told(vec![diet()]));
    assert!(
        found.to_string().contains("expected one of hay, oats, rye")
            && found.to_string().contains("`corn` of sequence `n`"),
        "{found}"
    );
    // Categories may look like numbers.
    let numbered = Attribute { column: "diet".into(), levels: vec!["1".into(), "2".into()] };
    let read = read("series,t,y,diet\nn,0,1,2\n", &told(vec![numbered])).unwrap();
    assert_eq!(read.family.inputs_of(0).unwrap().values(), [1.0]);
    // A number that was constant for every member may not begin to change, nor one that changed be missing.
    let dose = Attribute { column: "diet".into(), levels: vec![] };
    let changing = "series,t,y,diet\nn,0,1,2\nn,1,1,3\n";
    assert!(matches!(problem(changing, &told(vec![dose])), Problem::AttributeChanges { first_row: 2, .. }));
    assert!(matches!(problem("series,t,y,diet\nn,0,1,2\nn,1,1,\n", &told(vec![])), Problem::MissingInput));
}

#[test]
fn what_cannot_be_an_attribute_is_refused_by_name() {
    let with = |rows: &str| format!("series,t,y,kind\n{rows}");
    let missing = problem(&with("a,0,1,x\na,1,1,x\nb,0,1,\nb,1,1,\nc,0,1,z\nd,0,1,x\n"), &options(&["kind"]));
    assert!(missing.to_string().contains("sequence `b`"), "{missing}");
    let changes = problem(&with("a,0,1,x\na,1,1,z\n"), &options(&["kind"]));
    assert!(changes.to_string().contains("expected `x` of sequence `a` as in row 2, found `z`"), "{changes}");
    let names = problem(&with("a,0,1,x\nb,0,1,z\nc,0,1,w\n"), &options(&["kind"]));
    assert!(matches!(names, Problem::NamesSequences { n_values: 3, n_seq: 3 }), "{names}");
    let counted: String = (0..9).map(|i| format!("s{i},0,1,{}\ns{i},1,1,{}\n", i + 1, i + 1)).collect();
    assert!(matches!(
        problem(&with(&counted), &options(&["kind"])),
        Problem::NamesSequences { n_seq: 9, .. }
    ));
    let same = read(&with("a,0,1,x\nb,0,1,x\n"), &options(&["kind"])).unwrap();
    assert!(
        same.notes.iter().any(|note| note.to_string().contains("all sequences have `x`")),
        "{:?}",
        same.notes
    );
    // Words in a column of numbers are still a mistake.
    assert!(matches!(
        problem(&with("a,0,1,1\na,1,1,two\n"), &options(&["kind"])),
        Problem::NotANumber { .. }
    ));
}

/// Weight and dose of a patient were taken for outputs where no column is called y.
#[test]
fn columns_that_do_not_change_are_no_outputs_unless_named() {
    let text = "series,t,weight,level\na,0,70.5,1\na,1,70.5,2\nb,0,80,1\nb,1,80,3\n";
    let found = read(text, &ReadOptions::default()).unwrap();
    assert_eq!(found.family.output_names(), ["level"]);
    assert!(
        found.notes.iter().any(|note| note
            .to_string()
            .contains("`weight` is not used: it does not change within a sequence")),
        "{:?}",
        found.notes
    );
    let named = ReadOptions { outputs: vec!["weight".into()], ..ReadOptions::default() };
    assert_eq!(read(text, &named).unwrap().family.output_names(), ["weight"]);
    let labelled = "series,t,y,label\na,0,1,x\na,1,2,x\nb,0,1,z\nb,1,3,z\n";
    assert!(
        read(labelled, &ReadOptions::default()).unwrap().family.input_names().is_empty(),
        "labels are never used"
    );
}

//! Irregular times without an option: learned on a grid with gaps, forecast on the same one, followed across missed steps.

use crate::noise::Noise;
use crate::program::{json, must, must_fail, run, stderr, told};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Options that make a fit short.
const SHORT: &str =
    "--hidden 8 --start-steps 60 --refine-steps 60 --particles 64 --refine-particles 16 --state 2 --code 2";

/// Levels that fall after a dose, taken at times of a hand on a clock: about 0, 1/4, 1/2, 1, 2, … h.
fn levels(n_seq: usize) -> String {
    let mut noise = Noise(4);
    let mut text = "series,t,y,u_dose\n".to_owned();
    for i in 0..n_seq {
        let (volume, rate) = (1.0 + noise.uniform(), 0.05 + 0.1 * noise.uniform());
        for (j, nominal) in [0.0, 0.25, 0.5, 1.0, 2.0, 3.5, 5.0, 7.0, 9.0, 12.0, 24.0].into_iter().enumerate()
        {
            let late = if j == 0 { 0.0 } else { (6.0 * noise.uniform()).floor() / 100.0 };
            let level = 10.0 / volume * (-rate * nominal).exp() + 0.1 * noise.normal();
            let _ = writeln!(text, "p{i},{},{level:.3},{}", nominal + late, if j == 0 { 10 } else { 0 });
        }
    }
    text
}

/// `levels.csv` and a model of it, learned once; and what the fit said.
fn folder() -> (&'static Path, &'static str) {
    static FOLDER: OnceLock<(tempfile::TempDir, String)> = OnceLock::new();
    let (folder, said) = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary directory");
        fs::write(folder.path().join("levels.csv"), levels(12)).expect("written");
        let output = run(folder.path(), &format!("fit levels.csv -o model {SHORT}"));
        assert!(output.status.success(), "{}", stderr(&output));
        (folder, stderr(&output))
    });
    (folder.path(), said)
}

#[test]
fn a_fit_takes_a_grid_by_itself_and_says_so() {
    let (folder, said) = folder();
    for part in ["times are irregular", "step(s) of 0.25", "moved, by 0.0", "--resample STEP", "`u_dose` 0"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let config: Value =
        serde_json::from_slice(&fs::read(folder.join("model/config.json")).expect("there")).expect("JSON");
    assert_eq!(config["time_step"], "0.25");
    assert_eq!(config["columns"]["pulses"], serde_json::json!(["u_dose"]));
    must(folder, "generate model --like p0 --inputs levels.csv -o copy.csv");
}

#[test]
fn new_members_are_put_on_the_steps_of_the_model_or_refused() {
    let (folder, _) = folder();
    let write = |name: &str, rows: &str| {
        fs::write(folder.join(name), format!("series,t,y,u_dose\n{rows}")).expect("written");
    };
    write("on.csv", "n,0,6,10\nn,1,5.5,0\nn,3,5,0\nn,4.5,,0\n");
    let output = run(folder, "forecast model on.csv --seen 13 --json");
    let said = stderr(&output);
    assert!(output.status.success() && said.contains("on 19 step(s) of 0.25"), "{said}");
    let rows = serde_json::from_slice::<Value>(&output.stdout).expect("JSON");
    let times: Vec<f64> =
        rows["rows"].as_array().expect("rows").iter().filter_map(|r| r["t"].as_f64()).collect();
    assert_eq!(times, [3.25, 3.5, 3.75, 4.0, 4.25, 4.5]);
    write("near.csv", "n,0,6,10\nn,1.03,5.5,0\nn,3.1,5,0\n");
    let output = run(folder, "infer model near.csv");
    assert!(stderr(&output).contains("2 moved, by 0.065"), "{}", stderr(&output));
    write("fine.csv", "n,0,6,10\nn,0.1,5.5,0\nn,0.2,5,0\nn,0.3,5,0\n");
    let said = must_fail(folder, "infer model fine.csv", 1);
    assert!(
        said.contains("expected steps of 0.25, as the model was learned with")
            && said.contains("try: --resample 0.25"),
        "{said}"
    );
    must(folder, "evaluate model levels.csv --seen 8");
}

/// A line whose time says that steps were missed is as good as lines without outputs for each of them.
#[test]
fn watch_takes_steps_between_two_times_as_missed() {
    let (folder, _) = folder();
    let answers = |lines: &str| -> Vec<Value> {
        let output = told(folder, "watch model --horizon 2 -q", lines.as_bytes());
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let sparse = answers("{\"t\": 5, \"y\": 6, \"u\": 10}\n{\"t\": 5.77, \"y\": 5, \"u\": 0}\n");
    let dense = answers(
        "{\"y\": 6, \"u\": 10}\n{\"y\": null, \"u\": 0}\n{\"y\": null, \"u\": 0}\n{\"y\": 5, \"u\": 0}\n",
    );
    assert_eq!((&sparse[1]["n"], &sparse[1]["missed"]), (&dense[3]["n"], &Value::from(2)));
    assert_eq!((&sparse[1]["z"], &sparse[1]["forecast"]), (&dense[3]["z"], &dense[3]["forecast"]));
    assert!(sparse[1]["off"].is_null());
    let wrong = answers(
        "{\"t\": 5, \"y\": 6, \"u\": 10}\n{\"t\": 5.1, \"y\": 6, \"u\": 0}\n{\"t\": 9999, \"y\": 5, \"u\": 0}\n{\"t\": 5.35, \"y\": 5, \"u\": 0}\n",
    );
    assert!(
        wrong[1]["error"].as_str().expect("refused").contains("a step of this model is 0.25"),
        "{wrong:?}"
    );
    assert!(wrong[2]["error"].as_str().expect("refused").contains("expected at most 200"), "{wrong:?}");
    assert_eq!((&wrong[3]["n"], wrong[3]["missed"].is_null()), (&Value::from(2), true));
    assert!((wrong[3]["off"].as_f64().expect("said") - 0.4).abs() < 1e-9);
}

#[test]
fn a_family_is_inspected_with_the_grid_that_it_would_have() {
    let (folder, _) = folder();
    let notes = json(folder, "inspect levels.csv")["notes"].to_string();
    assert!(notes.contains("times are irregular"), "{notes}");
}

"""The package and the program give the same bits, whatever the frame."""

import io
import re
import subprocess

import duckdb
import narwhals as nw
import polars as pl
import pyarrow as pa
import pytest
from conftest import SETTINGS, rows

import pymtds

QUANTILES = {"lo-95": "q0.025", "lo-80": "q0.1", "hi-80": "q0.9", "hi-95": "q0.975"}


def with_inputs() -> pl.DataFrame:
    """The family with an input, known for five steps ahead."""
    frame = rows(5, 25).with_columns(u=(pl.col("t") % 7 == 0).cast(pl.Float64))
    return frame.with_columns(y=pl.when(pl.col("t") < 20).then(pl.col("y")))


def kinds(frame: pl.DataFrame) -> dict:
    return {
        "polars": frame,
        "pandas": frame.to_pandas(),
        "pyarrow": frame.to_arrow(),
        "chunked": pa.concat_tables([frame[:17].to_arrow(), frame[17:].to_arrow()]),
        "duckdb": duckdb.sql("select * from frame"),
        "lazy": frame.lazy(),
    }


@pytest.mark.parametrize("make", [rows, with_inputs])
def test_a_model_has_the_bytes_that_the_program_writes(make, run, tmp_path):
    frame = make()
    frame.write_csv(tmp_path / "family.csv")
    run("fit", "family.csv", "-o", "theirs", "--code", "1", "--effort", "0.02", "-q")
    theirs = {path.name: path.read_bytes() for path in (tmp_path / "theirs").iterdir()}
    for i, family in enumerate((frame, frame.to_pandas(), frame.to_arrow())):
        pymtds.fit(family, threads=1 + i % 2, **SETTINGS).save(tmp_path / "ours")
        ours = {path.name: path.read_bytes() for path in (tmp_path / "ours").iterdir()}
        assert ours == theirs


@pytest.mark.parametrize("make", [rows, with_inputs])
def test_forecasts_are_those_of_the_program(make, run, tmp_path):
    frame = make()
    frame.write_csv(tmp_path / "family.csv")
    pymtds.fit(frame, **SETTINGS).save(tmp_path / "model")
    model = pymtds.load(tmp_path / "model")
    levels = "0.025,0.1,0.9,0.975"
    said = run("forecast", "model", "family.csv", "--horizon", "5", "--quantiles", levels, "-q")
    theirs = pl.read_csv(io.StringIO(said))
    for name, family in kinds(frame).items():
        found = model.forecast(family, horizon=5, level=[95, 80]).frame
        if name in ("pandas", "pyarrow"):
            assert type(found) is type(family)
        if name == "duckdb":
            assert isinstance(found, duckdb.DuckDBPyRelation)
            found = found.to_arrow_table() if hasattr(found, "to_arrow_table") else found.arrow()
        ours = nw.from_native(found, eager_only=True)
        assert ours.columns == ["series", "t", "output", "mean", "sd", *QUANTILES], name
        for column in ("series", "t", "output", "mean", "sd"):
            assert ours[column].to_list() == theirs[column].to_list(), (name, column)
        for column, quantile in QUANTILES.items():
            assert ours[column].to_list() == theirs[quantile].to_list(), (name, column)


def test_posteriors_are_those_of_the_program(model, frame, run, tmp_path):
    frame.write_csv(tmp_path / "family.csv")
    model.save(tmp_path / "model")
    said = run(
        "infer", "model", "family.csv", "--seen", "12", "--draws", "draws.csv", "--n-draws", "50", "-q"
    )
    found = model.infer(frame, seen=12, draws=50)
    assert found.frame.equals(pl.read_csv(io.StringIO(said)))
    draws = pl.read_csv(tmp_path / "draws.csv")
    assert found.draws.reshape(-1).tolist() == draws["z1"].to_list()


def test_scores_are_those_of_the_program(model, frame, run, tmp_path):
    frame.write_csv(tmp_path / "family.csv")
    model.save(tmp_path / "model")
    words = [
        "--seen",
        "10,20",
        "--train",
        "family.csv",
        "--against",
        "last-value,ridge",
        "-o",
        "scores.csv",
        "-q",
    ]
    run("evaluate", "model", "family.csv", *words)
    theirs = pl.read_csv(tmp_path / "scores.csv")
    ours = model.evaluate(frame, seen=[20, 10], against=["ridge", "last-value"], train=frame)
    assert ours.columns == theirs.columns
    assert ours.with_columns(pl.col(pl.Float64).fill_nan(None)).equals(theirs)


def test_made_up_sequences_are_those_of_the_program(model, run, tmp_path):
    model.save(tmp_path / "model")
    # Codes of members are stored in single precision.
    model = pymtds.load(tmp_path / "model")
    said = run("generate", "model", "--sample", "3", "--steps", "12", "--noise", "--seed", "5", "-q")
    theirs = pl.read_csv(io.StringIO(said))["y"].to_list()
    assert model.generate(12, sample=3, noise=True, seed=5).reshape(-1).tolist() == theirs
    said = run("morph", "model", "--from", "a", "--via", "c", "--to", "b", "--steps", "9", "-q")
    theirs = pl.read_csv(io.StringIO(said))["y"].to_list()
    assert model.morph(["a", "c", "b"], 9).reshape(-1).tolist() == theirs


def test_transfer_is_that_of_the_program(run, tmp_path):
    frame = with_inputs()
    frame.write_csv(tmp_path / "family.csv")
    pymtds.fit(frame, **SETTINGS).save(tmp_path / "model")
    model = pymtds.load(tmp_path / "model")
    said = run("transfer", "model", "family.csv", "--content", "a", "--style", "d", "-q")
    theirs = pl.read_csv(io.StringIO(said))["y"].to_list()
    assert model.transfer(frame, content="a", style="d").reshape(-1).tolist() == theirs
    with pytest.raises(pymtds.SettingError, match="all style"):
        pymtds.fit(rows(), **SETTINGS).transfer(rows(), content="a", style="b")


def with_attributes() -> pl.DataFrame:
    """The family at irregular times, with a category and a number for each sequence."""
    letters = pl.col("series").replace_strict({name: i for i, name in enumerate("abcdef")})
    kept = (pl.col("t") < 3) | ((pl.col("t") * 7 + letters) % 5 != 0)
    frame = rows().filter(kept)
    return frame.with_columns(
        diet=pl.when(letters % 2 == 0).then(pl.lit("hay")).otherwise(pl.lit("oats")), dose=letters * 0.5
    )


def test_what_does_not_change_within_a_sequence_and_irregular_times_are_as_the_program_has_them(
    run, tmp_path
):
    frame = with_attributes()
    frame.write_csv(tmp_path / "family.csv")
    words = ("--inputs", "diet,dose", "--code", "1", "--effort", "0.02", "-q")
    run("fit", "family.csv", "-o", "theirs", *words)
    model = pymtds.fit(frame, inputs=["diet", "dose"], **SETTINGS)
    model.save(tmp_path / "ours")
    for path in (tmp_path / "theirs").iterdir():
        assert (tmp_path / "ours" / path.name).read_bytes() == path.read_bytes(), path.name
    assert model.attributes == {"diet": ["hay", "oats"], "dose": []}
    assert model.input_names == ["diet=oats", "dose"]
    # One member alone, of the level that is not the first, without a row for the future.
    model = pymtds.load(tmp_path / "theirs")
    new = frame.filter(pl.col("series") == "b")
    new.write_csv(tmp_path / "new.csv")
    said = run("forecast", "theirs", "new.csv", "--horizon", "4", "-q")
    found = model.forecast(new, horizon=4).frame
    assert found["mean"].to_list() == pl.read_csv(io.StringIO(said))["mean"].to_list()
    tracker = model.track()
    tracker.observe([[1.0], [0.9]], [[1.0, 0.5], [1.0, 0.5]])
    held, given = tracker.forecast(3), tracker.forecast(3, inputs=[[1.0, 0.5]] * 3)
    assert held.mean.shape == given.mean.shape == (3, 1)
    with pytest.raises(pymtds.DataError, match="corn"):
        model.forecast(new.with_columns(diet=pl.lit("corn")), horizon=4)


def refused_by(program, folder, *words) -> str:
    """What the program says on its way out, on one line."""
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return " ".join(done.stderr.split()).removeprefix("error: ")


@pytest.mark.parametrize(
    "spoil",
    [
        {"y": pl.when(pl.col("t") == 7).then(float("inf")).otherwise(pl.col("y"))},
        {"t": pl.when(pl.col("t") == 7).then(None).otherwise(pl.col("t"))},
        {"t": pl.when(pl.col("t") == 7).then(6).otherwise(pl.col("t"))},
        {"series": pl.when(pl.col("t") == 7).then(None).otherwise(pl.col("series"))},
        {"y": pl.lit(None, pl.Float64)},
        {"u": pl.when(pl.col("t") == 7).then(None).otherwise(1.0 * pl.col("t"))},
        {"label": pl.when(pl.col("t") == 7).then(pl.lit("x")).otherwise(pl.lit("z"))},
    ],
    ids=lambda spoil: next(iter(spoil)),
)
def test_frames_are_refused_in_the_words_of_the_program(spoil, program, tmp_path):
    frame = rows().with_columns(**spoil)
    frame.write_csv(tmp_path / "family.csv")
    said = refused_by(program, tmp_path, "fit", "family.csv", "-o", "model", "-q")
    with pytest.raises(pymtds.DataError) as refused:
        pymtds.fit(frame)
    ours = str(refused.value)
    # A file has a header, which is a row of it.
    row = re.search(r"row (\d+)", ours)
    if row:
        ours = re.sub(r"row (\d+)", lambda found: f"row {int(found[1]) + 1}", ours)
    assert ours.replace("frame", "family.csv", 1) in said, (ours, said)


@pytest.mark.parametrize(
    ("setting", "option"),
    [
        ({"effort": -1.0}, ["--effort=-1"]),
        ({"base": "steam"}, ["--base", "steam"]),
        ({"validation": 1.5}, ["--validation", "1.5"]),
        ({"learn": "elbo", "refine_steps": 0}, ["--learn", "elbo", "--refine-steps", "0"]),
    ],
)
def test_settings_are_refused_in_the_words_of_the_program(setting, option, program, tmp_path):
    rows().write_csv(tmp_path / "family.csv")
    said = refused_by(program, tmp_path, "fit", "family.csv", "-o", "model", "-q", *option)
    with pytest.raises(pymtds.SettingError) as refused:
        pymtds.fit(rows(), **setting)
    ours = str(refused.value).split(": ", 1)[-1]
    assert ours in said, (ours, said)


def test_a_model_refuses_in_the_words_of_the_program(model, program, tmp_path):
    model.save(tmp_path / "model")
    renamed = rows().rename({"y": "x"})
    renamed.write_csv(tmp_path / "family.csv")
    said = refused_by(program, tmp_path, "forecast", "model", "family.csv", "--horizon", "3", "-q")
    with pytest.raises(pymtds.DataError) as refused:
        model.forecast(renamed, horizon=3)
    assert str(refused.value).replace("frame", "family.csv", 1) in said
    said = refused_by(program, tmp_path, "generate", "nothing", "--sample", "1", "--steps", "2")
    with pytest.raises(FileNotFoundError) as refused:
        pymtds.load("nothing")
    assert str(refused.value) in said

"""What a model answers: shapes, names, refusals, pictures."""

import re

import numpy as np
import polars as pl
import pytest
from conftest import rows

import pymtds


def test_a_forecast_is_a_frame_and_arrays(model, frame):
    found = model.forecast(frame, horizon=4, level=80, quantiles=[0.5], draws=9)
    assert found.frame.columns == ["series", "t", "output", "mean", "sd", "lo-80", "hi-80", "q0.5"]
    assert (found.mean.shape, found.sd.shape, found.draws.shape) == ((6, 4, 1), (6, 4, 1), (6, 9, 4, 1))
    low, high = found.interval(80)
    assert np.all(low < found.quantile(0.5))
    assert np.all(found.quantile(0.5) < high)
    assert found.frame["mean"].to_list() == found.mean.reshape(-1).tolist()
    assert repr(found) == "Forecast(6 sequences, 4 steps, outputs y)"
    with pytest.raises(pymtds.SettingError, match=r"was not asked for; the forecast has 0\.1, 0\.5, 0\.9"):
        found.quantile(0.3)
    assert "<svg" in found._repr_html_()
    assert model.forecast(frame, horizon=4, level=[]).frame.columns[-1] == "sd"


def test_sequences_of_several_lengths_are_forecast_as_far_as_they_go(model, frame):
    shorter = frame.filter((pl.col("series") != "b") | (pl.col("t") < 20))
    found = model.forecast(shorter, seen=15)
    assert [len(mean) for mean in found.mean] == [15, 5, 15, 15, 15, 15]
    assert found.frame.height == 80
    with pytest.raises(pymtds.SettingError, match="expected a number of steps, found none"):
        model.forecast(frame)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"horizon": 0}, "setting `horizon`: expected 1 or more steps, found 0"),
        ({"horizon": 2.5}, "setting `horizon`"),
        ({"horizon": 2, "seen": 0}, "setting `seen`"),
        ({"horizon": 2, "level": [120]}, "setting `level`: expected percents between 0 and 100"),
        ({"horizon": 2, "quantiles": [1.5]}, "setting `quantiles`: expected levels between 0 and 1"),
        ({"horizon": 2, "method": "guess"}, "setting `method`: found `guess`"),
        ({"horizon": 2, "method": "amortised"}, "needs an inference network"),
    ],
)
def test_what_cannot_be_meant_is_refused(model, frame, asked, said):
    with pytest.raises(pymtds.SettingError) as refused:
        model.forecast(frame, **asked)
    assert said in str(refused.value)


def test_posteriors_have_draws_and_weights(model, frame):
    found = model.infer(frame, seen=10, draws=200)
    assert (found.mean.shape, found.draws.shape, found.log_weights.shape) == (
        (6, 1),
        (6, 1, 200, 1),
        (6, 1, 200),
    )
    assert np.all(found.log_weights < 0)
    error = np.abs(found.draws.mean(axis=(1, 2)) - found.mean)
    # Two hundred draws: five standard errors, one in a million by chance.
    assert np.all(error < 5 * found.sd / np.sqrt(200))
    chains = model.infer(frame.head(30), method="nuts", draws=100)
    assert chains.draws.shape[:2] == (1, 4)


def test_posteriors_go_to_arviz(model, frame):
    arviz = pytest.importorskip("arviz")
    tree = model.infer(frame, draws=50).to_arviz()
    assert tree.posterior["z"].dims == ("chain", "draw", "series", "code")
    assert list(tree.posterior["series"].values) == list("abcdef")
    assert tree.sample_stats["log_weight"].shape == (1, 50, 6)
    assert len(arviz.summary(tree, var_names=["z"])) == 6


def test_a_tracker_follows_a_sequence(model):
    tracker = model.track()
    curve = np.exp(-0.1 * np.arange(20))
    assert (tracker.n_observed, tracker.mean) == (0, None)
    before = tracker.forecast(3, level=80).sd.mean()
    for value in curve[:10]:
        tracker.observe([value])
    tracker.observe(curve[10:, None])
    after = tracker.forecast(3, level=80)
    assert (tracker.n_observed, after.mean.shape, list(after.quantiles)) == (20, (3, 1), ["lo-80", "hi-80"])
    assert after.sd.mean() < before
    assert np.isfinite(tracker.log_evidence)
    at_once, one_by_one = model.track(), model.track()
    at_once.observe(curve)
    assert sum(one_by_one.observe([value]) for value in curve) > 0
    assert np.array_equal(at_once.mean, one_by_one.mean)
    with pytest.raises(pymtds.DataError):
        tracker.observe([[1.0, 2.0]])
    with pytest.raises(pymtds.Error):
        tracker.observe([float("inf")])


def test_sequences_are_made_of_codes(model):
    assert model.generate(12, code=[0.3]).shape == (1, 12, 1)
    assert model.generate(12, code=[[0.3], [0.1]]).shape == (2, 12, 1)
    assert np.array_equal(model.generate(12, like="b"), model.generate(12, code=model.code_of("b")))
    assert not np.array_equal(model.generate(12, like="b"), model.generate(12, like="b", noise=True))
    for wrong in ({}, {"code": [0.1, 0.2]}, {"like": "nobody"}, {"code": [0.1], "sample": 2}):
        with pytest.raises(pymtds.Error):
            model.generate(12, **wrong)
    with pytest.raises(pymtds.SettingError, match="n_time"):
        model.generate(sample=2)


def test_inputs_that_are_not_known_are_refused_instead_of_answered_with_nan(frame):
    driven = frame.with_columns(u=(pl.col("t") % 7 == 0).cast(pl.Float64))
    model = pymtds.fit(driven, code=1, effort=0.02)
    for value in (np.nan, np.inf):
        inputs = [[1.0], [value], [1.0]]
        for ask in (
            lambda inputs=inputs: model.generate(sample=1, inputs=inputs),
            lambda inputs=inputs: model.generate(sample=1, inputs=inputs, noise=True),
            lambda inputs=inputs: model.morph(["a", "b"], inputs=inputs),
        ):
            with pytest.raises(pymtds.DataError, match=r"inputs at step 2: found .*inputs cannot be missing"):
                ask()


def test_sequences_whose_ids_are_numbers_are_asked_for_by_number(frame):
    numbered = frame.with_columns(pl.col("series").rank("dense").cast(pl.Int64))
    driven = numbered.with_columns(u=(pl.col("t") % 7 == 0).cast(pl.Float64))
    model = pymtds.fit(driven, code=1, effort=0.02)
    assert model.members == list("123456")
    inputs = np.ones((5, 1))
    for number in (2, np.int64(2)):
        assert np.array_equal(model.code_of(number), model.codes[1])
        made = model.generate(like=number, inputs=inputs)
        assert np.array_equal(made, model.generate(like=["2"], inputs=inputs))
        assert model.transfer(driven, content=number, style=1).shape == (30, 1)
        family = pymtds.Family(driven)
        assert np.array_equal(family.outputs(number), family.outputs("2"))
        assert np.array_equal(family.inputs(number), family.inputs("2"))
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert model.forecast(driven, seen=20).plot(3).get_title() == "3"


def test_a_model_says_what_it_is(model, tmp_path):
    assert repr(model).startswith("Model(")
    assert "<table>" in model._repr_html_()
    assert model.codes.shape == (6, 1)
    assert model.members == list("abcdef")
    assert model.time_step == "1"
    assert model.record["settings"]["code"] == 1
    with pytest.raises(TypeError, match=r"pymtds\.fit"):
        pymtds.Model()
    with pytest.raises(FileNotFoundError, match="expected a directory, found nothing"):
        pymtds.load(tmp_path / "absent")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    with pytest.raises(pymtds.Error):
        pymtds.load(tmp_path / "broken")
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "letter.txt").write_text("mine")
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "else")


def test_notebooks_show_a_table_and_a_picture(model, frame):
    tracker = model.track()
    assert "steps observed" in tracker._repr_html_()
    tracker.observe(np.exp(-0.1 * np.arange(10))[:, None])
    gaps = frame.with_columns(y=pl.when(pl.col("series") != "a").then(pl.col("y")))
    shown = {
        "family": (pymtds.Family(frame), "180 of 180"),
        "gaps": (pymtds.Family(gaps), "nothing observed"),
        "forecast": (model.forecast(frame, horizon=4, level=80), "a, y after 4 steps"),
        "posterior": (model.infer(frame, seen=10), "±"),
        "model": (model, "base model"),
    }
    for name, (found, said) in shown.items():
        html = found._repr_html_()
        assert "<table>" in html, name
        assert "<svg" in html, name
        assert said in html, name
        assert "nan" not in html, name
    assert "±" in tracker._repr_html_()
    assert "and 1 more" in shown["family"][0]._repr_html_()


def test_pictures_are_drawn(model, frame):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = model.forecast(frame, horizon=5).plot("c")
    assert axes.get_title() == "c"
    assert len(axes.collections) == 2
    assert model.plot_codes().get_xlabel() == "z1"
    with pytest.raises(pymtds.SettingError, match="unknown sequence"):
        model.forecast(frame, horizon=5).plot("nobody")


def test_scores_are_a_frame_of_the_kind_that_went_in(model):
    found = model.evaluate(rows().to_pandas(), seen=10)
    assert type(found).__module__.startswith("pandas")
    for wrong, said in (
        ({"seen": [0]}, "seen"),
        ({"seen": 100}, "no sequence is longer"),
        ({"against": ["x"]}, "`x`"),
    ):
        with pytest.raises(pymtds.SettingError) as refused:
            model.evaluate(rows(), **wrong)
        assert said in str(refused.value)
    with pytest.raises(pymtds.SettingError, match="learns from training sequences"):
        model.evaluate(rows(), seen=10, against=["ridge"])


def test_a_sequence_that_is_no_member_is_said_to_be_far_outside(model, frame, caplog):
    strange = frame.with_columns(y=pl.when(pl.col("series") == "c").then(40 * pl.col("y") + 7).otherwise("y"))
    for found in (model.forecast(strange, horizon=2), model.infer(strange)):
        assert found.far_outside == ["c"]
    told = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert len(told) == 2
    assert all(note.startswith("`c` (errors") and "no code explains it" in note for note in told)
    caplog.clear()
    assert model.forecast(frame, horizon=2).far_outside == model.infer(frame).far_outside == []
    assert caplog.records == []


def test_sequences_that_are_not_forecast_are_counted_aloud(model, frame, caplog):
    found = model.forecast(frame.filter((pl.col("series") != "a") | (pl.col("t") < 20)), seen=20)
    assert found.ids == list("bcdef")
    assert "1 sequence(s) end with what is seen" in caplog.text


HUGE = 10**12


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda model, frame: model.forecast(frame, HUGE), "`horizon`: expected at most"),
        (lambda model, frame: model.forecast(frame, 2, draws=HUGE), "`horizon`: expected at most"),
        (
            lambda model, frame: model.forecast(frame, 2, draws=-1),
            "`draws`: expected a whole number, 0 or more",
        ),
        (lambda model, frame: model.forecast(frame, 2, seed=-1), "`seed`: expected a whole number, 0 to"),
        (lambda model, frame: model.forecast(frame, 2, seed=1.5), "found 1.5"),
        (lambda model, frame: model.forecast(frame, 2, threads=-1), "`threads`: expected"),
        (lambda model, frame: model.forecast(frame, 2, level="80"), "`level`: expected numbers"),
        (
            lambda model, frame: model.forecast(frame, 2, serie="x"),
            "no setting `serie`; columns are named by series",
        ),
        (lambda model, frame: model.forecast(pymtds.Family(frame), 2, series="x"), "in pymtds.Family"),
        (lambda model, frame: pymtds.fit(pymtds.Family(frame), time="x"), "in pymtds.Family"),
        (lambda model, frame: pymtds.fit(frame, select_code=[0]), "`select_code`: expected"),
        (lambda model, frame: model.infer(frame, draws=0), "`draws`: expected a whole number, 1 or more"),
        (lambda model, frame: model.infer(frame, draws=HUGE), "`draws`: expected at most"),
        (
            lambda model, frame: model.generate(-1, sample=1),
            "`n_time`: expected 1 or more steps",
        ),
        (lambda model, frame: model.generate(HUGE, sample=1), "`n_time`: expected at most"),
        (lambda model, frame: model.generate(4, sample=-1), "`sample`: expected"),
        (lambda model, frame: model.generate(4, sample=HUGE), "`sample`: expected at most"),
        (lambda model, frame: model.generate(4, code="a"), "code: expected numbers"),
        (lambda model, frame: model.morph([], 4), "`path`: expected"),
        (lambda model, frame: model.morph(["a", "b"], HUGE), "`n_time`: expected at most"),
        (lambda model, frame: model.track(-1), "`number`: expected"),
        (lambda model, frame: model.track().observe("a"), "outputs: expected numbers"),
        (lambda model, frame: model.track().forecast(HUGE), "`horizon`: expected at most"),
        (lambda model, frame: model.evaluate(frame, seen=-1), "`seen`: expected"),
        (lambda model, frame: model.evaluate(frame, seen=2.5), "`seen`: expected"),
        (lambda model, frame: model.evaluate(frame, seen=None), "`seen`: expected"),
        (lambda model, frame: model.evaluate(frame, seen=5, against=[3]), "`against`: expected a text"),
        (lambda model, frame: pymtds.fit(frame, select_code=2.5), "`select_code`: expected"),
        (lambda model, frame: pymtds.fit(frame, outputs=5), "`outputs`: expected a text, found 5"),
        (lambda model, frame: pymtds.fit(frame, resample=2), "`resample`: expected a text, found 2"),
        (lambda model, frame: pymtds.fit(frame, effort=float("nan")), "`effort`: expected a finite number"),
        (lambda model, frame: pymtds.fit(frame, device=None), "`device`: expected a text"),
        (lambda model, frame: pymtds.Fitting(frame, checkpoint="x"), "`checkpoint`: expected bytes"),
        (lambda model, frame: model.on(5), "`device`: expected a text"),
        (lambda model, frame: model.forecast(frame, 2, method=None), "`method`: expected a text"),
        (lambda model, frame: model.forecast(frame, 2).quantile("0.1"), "`quantiles`: expected numbers"),
        (lambda model, frame: model.forecast(frame, 2).interval(None), "`level`: expected numbers"),
        (lambda model, frame: model.forecast(frame, 2).interval([80]), "`level`: expected a number"),
        (
            lambda model, frame: model.transfer(frame, content="a", style="b", threads=-1),
            "`threads`: expected",
        ),
        (
            lambda model, frame: model.transfer(frame, content=None, style="b"),
            "`content`: expected a text",
        ),
        (lambda model, frame: model.generate(4, like=[]), "`like`: expected codes"),
        (lambda model, frame: model.generate(4, like=2.5), "`id`: expected a text"),
        (lambda model, frame: model.morph(None, 4), "expected codes of length 1"),
        (lambda model, frame: model.morph(5, 4), "expected codes of length 1"),
        (lambda model, frame: model.morph([[1.0, 2.0], [1.0]], 4), "expected codes of length 1"),
        (lambda model, frame: model.code_of(True), "`id`: expected a text"),
    ],
)
def test_slips_are_named_and_do_not_end_the_interpreter(model, frame, ask, said):
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        ask(model, frame)
    assert isinstance(refused.value, pymtds.Error)

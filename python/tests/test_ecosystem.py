"""The conventions of others: Nixtla's frames and methods, sktime's own checks of an estimator."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import SETTINGS, rows

import pymtds
from pymtds.nixtla import MTDS, _check


def long_frame() -> pd.DataFrame:
    frame = rows().to_pandas().rename(columns={"series": "unique_id", "t": "ds"})
    months = pd.date_range("2024-01-31", periods=30, freq="ME")
    return frame.assign(ds=months[frame["ds"]])


def test_names_and_times_are_those_of_nixtla():
    frame = long_frame()
    model = MTDS(freq="ME", **SETTINGS).fit(frame)
    assert repr(model) == "MTDS(freq='ME', code=1, effort=0.02)"
    found = model.predict(h=3, level=[80, 95])
    levels = ["mtds-lo-95", "mtds-lo-80", "mtds-hi-80", "mtds-hi-95"]
    assert list(found.columns) == ["unique_id", "ds", "mtds", *levels]
    assert found["ds"].dtype == frame["ds"].dtype
    assert found["ds"].iloc[0] == frame["ds"].max() + pd.offsets.MonthEnd(1)
    assert list(found["unique_id"].unique()) == list("abcdef")
    named = {"unique_id": "series", "ds": "t"}
    plain = pymtds.fit(frame.rename(columns=named), series="series", time="t", outputs=["y"], **SETTINGS)
    assert np.array_equal(found["mtds"], plain.forecast(frame.rename(columns=named), 3).mean.reshape(-1))


@pytest.mark.parametrize(
    ("freq", "days"),
    [("D", 1), ("1d", 1), ("h", 1 / 24), ("15min", 15 / 1440), ("W-SUN", 7), ("w", 7), (None, 3)],
)
def test_a_frequency_is_compared_with_the_times(freq, days):
    times = pd.Timestamp("2024-01-07") + pd.to_timedelta(rows()["t"].to_numpy() * days, unit="D")
    frame = long_frame().assign(ds=times.round("min"))
    read = pymtds.Family(frame, series="unique_id", time="ds", outputs=["y"])
    _check(freq, read.time_step)
    # Days of business are no step that we know, so that there is nothing to compare.
    _check("B", read.time_step)
    with pytest.raises(pymtds.DataError, match="expected steps of 5h, as `freq` says, found steps of "):
        MTDS(freq="5h", **SETTINGS).fit(frame)


def test_a_frequency_of_months_and_of_steps():
    MTDS(freq="ME", **SETTINGS).fit(long_frame())
    for freq in ("D", "2MS", 3):
        with pytest.raises(
            pymtds.DataError, match=f"expected steps of {freq}, as `freq` says, found steps of 1mo"
        ):
            MTDS(freq=freq, **SETTINGS).fit(long_frame())


def test_new_sequences_and_frames_of_polars():
    frame = rows().rename({"series": "unique_id", "t": "ds"})
    model = MTDS(alias="ours", **SETTINGS).fit(frame)
    new = rows(2, 8, seed=3).rename({"series": "unique_id", "t": "ds"})
    found = model.predict(h=4, new_df=new)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == ["unique_id", "ds", "ours"]
    assert found.height == 8
    with pytest.raises(pymtds.Error, match="call fit first"):
        MTDS().predict(h=1)
    with pytest.raises(pymtds.DataError, match="expected a column `ds`"):
        MTDS().fit(frame.rename({"ds": "when"}))


def test_inputs_of_the_future_come_in_a_frame_of_their_own():
    frame = long_frame()
    frame["dose"] = (frame["ds"].dt.month % 3 == 0).astype(float)
    model = MTDS(**SETTINGS).fit(frame)
    ahead = model.predict(h=2, X_df=future(frame)).groupby("unique_id", sort=False).size()
    assert list(ahead) == [2] * 6
    with pytest.raises(pymtds.DataError, match="expected X_df with dose of the next 2 steps"):
        model.predict(h=2)
    with pytest.raises(pymtds.DataError, match="expected a column `dose`"):
        model.predict(h=2, X_df=future(frame).drop(columns="dose"))


def future(frame: pd.DataFrame) -> pd.DataFrame:
    times = [frame["ds"].max() + pd.offsets.MonthEnd(k) for k in (1, 2)]
    ids = list(frame["unique_id"].unique())
    return pd.DataFrame({"unique_id": np.repeat(ids, 2), "ds": times * len(ids), "dose": 1.0})


@pytest.mark.parametrize("refit", [True, False])
def test_cross_validation_sees_only_what_came_before(refit):
    frame = long_frame()
    found = MTDS(**SETTINGS).cross_validation(frame, h=3, n_windows=2, step_size=2, level=[80], refit=refit)
    assert list(found.columns) == ["unique_id", "ds", "cutoff", "y", "mtds", "mtds-lo-80", "mtds-hi-80"]
    assert len(found) == 6 * 2 * 3
    assert (found["ds"] > found["cutoff"]).all()
    assert not found.isna().any().any()
    cutoffs = sorted(found["cutoff"].unique())
    assert [frame["ds"].max() - pd.offsets.MonthEnd(5), frame["ds"].max() - pd.offsets.MonthEnd(3)] == cutoffs
    before = frame[frame["ds"] <= cutoffs[0]]
    again = MTDS(**SETTINGS).fit(before).predict(h=3)
    first = found[found["cutoff"] == cutoffs[0]].sort_values(["unique_id", "ds"])
    assert np.array_equal(again["mtds"], first["mtds"])


# All of them take minutes on two cores; these are about what an estimator of this kind may get wrong.
SOME = [
    "test_clone",
    "test_fit_updates_state",
    "test_pretrain_fit_predict_workflow",
    "test_pretrain_not_reset_by_fit",
    "test_predict_quantiles",
    "test_persistence_via_pickle",
]


def test_the_estimator_passes_the_checks_of_sktime():
    pytest.importorskip("sktime")
    from sktime.utils.estimator_checks import check_estimator

    from pymtds.sktime import MTDSForecaster

    asked = {} if os.environ.get("MTDS_ALL") else {"tests_to_run": SOME}
    results = check_estimator(MTDSForecaster, raise_exceptions=False, verbose=False, **asked)
    assert results
    assert {name: found for name, found in results.items() if found != "PASSED"} == {}


def test_a_panel_is_learned_and_a_short_series_forecast():
    pytest.importorskip("sktime")
    from pymtds.sktime import MTDSForecaster

    frame = rows()
    panel = frame.to_pandas().set_index(["series", "t"])
    forecaster = MTDSForecaster(settings=SETTINGS).pretrain(panel)
    member = np.exp(-0.1 * np.arange(8))
    forecaster.fit(pd.Series(member))
    ours = pymtds.fit(pymtds.Family.from_arrays(frame["y"].to_numpy().reshape(6, 30)), **SETTINGS)
    expected = ours.forecast(pymtds.Family.from_arrays([member]), 5, quantiles=[0.1, 0.9])
    assert np.array_equal(forecaster.predict(fh=[1, 2, 5]), expected.mean[0, [0, 1, 4], 0])
    quantiles = forecaster.predict_quantiles(fh=[1, 2, 5], alpha=[0.1, 0.9])
    assert np.array_equal(quantiles.to_numpy()[:, 0], expected.quantile(0.1)[0, [0, 1, 4], 0])

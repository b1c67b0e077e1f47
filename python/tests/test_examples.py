"""The first examples of other packages, step by step as their pages have them, with `mtds` in the place of their model."""

import pandas as pd
import pytest
from conftest import SETTINGS

from pymtds.nixtla import MTDS

pytest.importorskip("sktime")
pytest.importorskip("utilsforecast")


@pytest.fixture(scope="module")
def airline() -> pd.Series:
    from sktime.datasets import load_airline

    return load_airline()


@pytest.fixture
def air_passengers(airline) -> pd.DataFrame:
    """`AirPassengersDF` of Nixtla's packages: the only id is a number, times are ends of months."""
    months = airline.index.to_timestamp(how="end").normalize()
    return pd.DataFrame({"unique_id": 1.0, "ds": months, "y": airline.to_numpy()})


def test_the_quick_start_of_statsforecast(air_passengers):
    """Fit, forecast the next year with intervals, draw both."""
    from utilsforecast.plotting import plot_series

    df = air_passengers
    sf = MTDS(freq="ME", **SETTINGS)
    sf.fit(df)
    forecast_df = sf.predict(h=12, level=[90])
    assert list(forecast_df.columns) == ["unique_id", "ds", "mtds", "mtds-lo-90", "mtds-hi-90"]
    assert forecast_df.dtypes[["unique_id", "ds"]].equals(df.dtypes[["unique_id", "ds"]])
    assert list(forecast_df["ds"]) == list(pd.date_range("1961-01-31", periods=12, freq="ME"))
    assert plot_series(df, forecast_df, level=[90]) is not None
    again = MTDS(freq="ME", **SETTINGS).forecast(df=df, h=12, level=[90])
    pd.testing.assert_frame_equal(again, forecast_df)


def test_cross_validation_and_evaluation_of_statsforecast(air_passengers):
    """Several windows, scored by their own measures, the best of which is counted by series."""
    from utilsforecast.evaluation import evaluate
    from utilsforecast.losses import mae, rmse

    sf = MTDS(freq="ME", **SETTINGS)
    cv_df = sf.cross_validation(df=air_passengers, h=12, step_size=12, n_windows=2, refit=False)
    assert len(cv_df) == 24
    assert not cv_df.isna().any().any()
    scores = evaluate(cv_df.drop(columns="cutoff"), metrics=[mae, rmse])
    assert list(scores.columns) == ["unique_id", "metric", "mtds"]
    assert (scores["mtds"] < 300).all()


def test_the_quick_start_of_mlforecast():
    """Daily series of several lengths with a feature each that does not change; new series; the last days held out."""
    from utilsforecast.data import generate_series
    from utilsforecast.evaluation import evaluate
    from utilsforecast.losses import rmse

    series = generate_series(
        6, freq="D", min_length=30, max_length=50, n_static_features=1, static_as_categorical=False
    )
    valid = series.groupby("unique_id", observed=True).tail(7)
    train = series.drop(valid.index)
    fcst = MTDS(freq="D", **SETTINGS)
    fcst.fit(train)
    predictions = fcst.predict(7)
    assert predictions["unique_id"].dtype == series["unique_id"].dtype
    assert len(predictions) == len(valid)
    scores = evaluate(valid.merge(predictions, on=["unique_id", "ds"]), metrics=[rmse], models=["mtds"])
    assert scores["mtds"].notna().all()
    new = fcst.predict(7, new_df=train[train["unique_id"].isin([0, 1])])
    assert sorted(new["unique_id"].unique()) == [0, 1]


def test_features_of_the_future_of_mlforecast():
    """A price that is known ahead, in `X_df`."""
    from utilsforecast.data import generate_series

    series, future = generate_series(
        5, freq="D", min_length=30, max_length=40, n_futr_exog=1, h=7, equal_ends=True
    )
    fcst = MTDS(freq="D", **SETTINGS).fit(series)
    predictions = fcst.predict(h=7, X_df=future)
    assert predictions[["unique_id", "ds"]].equals(future[["unique_id", "ds"]])


def test_the_quick_start_of_sktime(airline):
    """Passengers split in time, forecast at the dates of the test set, and the error."""
    from sktime.forecasting.base import ForecastingHorizon
    from sktime.performance_metrics.forecasting import mean_absolute_percentage_error
    from sktime.split import temporal_train_test_split

    from pymtds.sktime import MTDSForecaster

    y_train, y_test = temporal_train_test_split(airline)
    fh = ForecastingHorizon(y_test.index, is_relative=False)
    forecaster = MTDSForecaster(settings=SETTINGS)
    forecaster.fit(y_train)
    y_pred = forecaster.predict(fh)
    assert y_pred.index.equals(y_test.index)
    # A first look at one series: better than nothing at all.
    assert mean_absolute_percentage_error(y_test, y_pred) < 1.0


def test_the_forecasting_tutorial_of_sktime(airline):
    """Intervals, quantiles, variances, evaluation by a window that grows, and a pipeline around the forecaster."""
    from sktime.forecasting.model_evaluation import evaluate
    from sktime.split import ExpandingWindowSplitter
    from sktime.transformations.series.detrend import Detrender

    from pymtds.sktime import MTDSForecaster

    fh = list(range(1, 13))
    forecaster = MTDSForecaster(settings=SETTINGS).fit(airline, fh=fh)
    intervals = forecaster.predict_interval(coverage=0.9)
    assert (intervals.iloc[:, 0] < intervals.iloc[:, 1]).all()
    quantiles = forecaster.predict_quantiles(alpha=[0.275, 0.975])
    assert (quantiles.iloc[:, 0] < quantiles.iloc[:, 1]).all()
    assert (forecaster.predict_var() > 0).all().all()
    splitter = ExpandingWindowSplitter(initial_window=120, step_length=12, fh=[1, 2, 3])
    results = evaluate(
        forecaster=MTDSForecaster(settings=SETTINGS), y=airline, cv=splitter, error_score="raise"
    )
    assert len(results) == 2
    pipeline = Detrender() * MTDSForecaster(settings=SETTINGS)
    assert len(pipeline.fit(airline, fh=fh).predict()) == 12


def test_a_pretrained_forecaster_of_sktime(airline):
    """A panel in `pretrain`, as the tutorial on foundation models and global forecasting has it, then each of its series."""
    from sktime.utils._testing.hierarchical import _make_hierarchical

    from pymtds.sktime import MTDSForecaster

    panel = _make_hierarchical(hierarchy_levels=(5,), min_timepoints=20, max_timepoints=20)
    forecaster = MTDSForecaster(settings=SETTINGS)
    forecaster.pretrain(panel)
    assert forecaster.state == "pretrained"
    forecaster.fit(panel, fh=[1, 2, 3])
    assert len(forecaster.predict()) == 5 * 3

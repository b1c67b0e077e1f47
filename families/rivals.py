"""Forecasts of one sequence from its own history alone, by statsmodels.

    auto-regression     ARIMA(p, 0, 0) with a mean, by maximum likelihood; p = 2 from eight values on, else 1
    smoothing           simple exponential smoothing, as a state space model
    damped trend        Holt's exponential smoothing with a damped trend, as a state space model

All three skip gaps, keep within stable parameters, and say how sure they are. A history that has fewer than three
values, that never moves, or on which the likelihood has no maximum is answered with its last value; such are counted.
"""

import warnings

import numpy as np
from statsmodels.tsa.arima.model import ARIMA
from statsmodels.tsa.statespace.exponential_smoothing import ExponentialSmoothing

FEWEST = 3
ENOUGH_FOR_TWO = 8


def auto_regression(history):
    order = 2 if np.sum(~np.isnan(history)) >= ENOUGH_FOR_TWO else 1
    return ARIMA(history, order=(order, 0, 0), trend="c").fit()


def likeliest(system, starts):
    """The best of several climbs: on short histories likelihoods have flat ends, and one climb may stay on one."""
    return max((system.fit(start_params=start, disp=False) for start in starts), key=lambda found: found.llf)


def smoothing(history):
    system = ExponentialSmoothing(history, initialization_method="concentrated")
    return likeliest(system, [system.start_params, [0.95]])


def damped_trend(history):
    system = ExponentialSmoothing(history, trend=True, damped_trend=True, initialization_method="concentrated")
    return likeliest(system, [system.start_params, [0.95, 0.5, 0.97]])


RIVALS = {"auto-regression": auto_regression, "smoothing": smoothing, "damped trend": damped_trend}


def fitted(rival, history, steps):
    """Means and standard deviations after a history whose values are about 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ahead = RIVALS[rival](history).get_forecast(steps)
    return ahead.predicted_mean, ahead.se_mean


def forecast(rival, history, steps):
    """Means and standard deviations of the `steps` values after `history`; deviations are None where it gave up."""
    begun = history[np.argmax(~np.isnan(history)):]
    seen = begun[~np.isnan(begun)]
    last = np.full(steps, seen[-1] if len(seen) else np.nan)
    if len(seen) < FEWEST or np.ptp(seen) == 0.0:
        return last, None
    centre, size = seen.mean(), seen.std()
    try:
        mean, std = fitted(rival, (begun - centre) / size, steps)
    except (ValueError, np.linalg.LinAlgError):
        return last, None
    if not (np.all(np.isfinite(mean)) and np.all(np.isfinite(std))):
        return last, None
    return centre + size * mean, size * std

"""Multi-task dynamical systems: learn a family of sequences, customise each member by a short code.

A model is learned from a family of related sequences; a few observations of a new member then say where it is going:

>>> import pymtds
>>> model = pymtds.fit(family_frame, code=1, effort=0.02)
>>> forecast = model.forecast(new_frame, horizon=5, level=[80, 95])
>>> forecast.mean.shape
(1, 5, 1)

Everything is computed by the Rust library `mtds`, with the interpreter's lock released; the program `mtds` gives the same bits.
"""

from pymtds._core import VERSION as __version__
from pymtds._devices import Device, devices
from pymtds._errors import (
    DataError,
    DeviceError,
    Error,
    FitError,
    FitInterrupted,
    InternalError,
    ModelError,
    SettingError,
)
from pymtds._family import Family
from pymtds._fit import Fitting, fit
from pymtds._forecast import Forecast
from pymtds._model import Model, load
from pymtds._posterior import Posterior
from pymtds._settings import Settings
from pymtds._tracker import TrackedForecast, Tracker

__all__ = [
    "DataError",
    "Device",
    "DeviceError",
    "Error",
    "Family",
    "FitError",
    "FitInterrupted",
    "Fitting",
    "Forecast",
    "InternalError",
    "Model",
    "ModelError",
    "Posterior",
    "SettingError",
    "Settings",
    "TrackedForecast",
    "Tracker",
    "__version__",
    "devices",
    "fit",
    "load",
]

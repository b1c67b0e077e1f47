"""What can go wrong, with the words that the program `mtds` has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pymtds._fit import Fitting

__all__ = [
    "DataError",
    "DeviceError",
    "Error",
    "FitError",
    "FitInterrupted",
    "InternalError",
    "ModelError",
    "SettingError",
]


class Error(Exception):
    """Anything that `pymtds` refuses or fails to do."""


class DataError(Error, ValueError):
    """A frame or an array that cannot be used: which row and column, what was expected, what was found, what to try."""


class SettingError(Error, ValueError):
    """A setting or an argument that does not exist or is out of range."""


class DeviceError(Error, RuntimeError):
    """A graphics card that was asked for and cannot be used."""


class FitError(Error, RuntimeError):
    """Learning that stopped making sense, such as numbers that are no longer finite."""


class ModelError(Error, RuntimeError):
    """Files that do not make a model."""


class InternalError(Error, RuntimeError):
    """A fault of `pymtds` itself."""


class FitInterrupted(KeyboardInterrupt):
    """Ctrl-C during a fit. `fitting.run()` goes on to the same bits; `fitting.so_far()` is the model with what was learned."""

    def __init__(self, fitting: Fitting) -> None:
        super().__init__(
            "the fit was interrupted; `.fitting.run()` of this exception goes on from there, and `.fitting.so_far()` is the model as it stands"
        )
        self.fitting = fitting

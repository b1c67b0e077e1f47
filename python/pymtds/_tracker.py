"""Trackers: a sequence that is followed as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from pymtds._errors import DataError
from pymtds._forecast import Levels
from pymtds._numbers import Array, array, check_size, steps

if TYPE_CHECKING:
    from pymtds import _core

__all__ = ["TrackedForecast", "Tracker"]


class TrackedForecast(NamedTuple):
    """The steps after the last one that was observed, steps × outputs each."""

    mean: Array
    sd: Array
    quantiles: dict[str, Array]
    """By name: `lo-80`, `hi-80`, …"""


class Tracker:
    """Follows a sequence: observe what comes, ask what the code is and where it is going.

    >>> tracker = model.track()
    >>> for value in [0.97, 0.92, 0.88, 0.85, 0.8]:
    ...     updates = tracker.observe([value])
    >>> tracker.n_observed
    5
    >>> ahead = tracker.forecast(3, level=80)
    >>> ahead.mean.shape, list(ahead.quantiles)
    ((3, 1), ['lo-80', 'hi-80'])
    """

    def __init__(self, core: _core.Tracker, outputs: int, inputs: int) -> None:
        self._core = core
        self._sizes = (outputs, inputs)

    def observe(self, outputs: npt.ArrayLike, inputs: npt.ArrayLike | None = None) -> int:
        """Take in one step, or several as steps × outputs, with their inputs; NaN marks a missing output.

        Returns how often the posterior was updated.
        """
        rows = _rows(outputs, self._sizes[0], "outputs")
        return self._core.observe(rows, None if inputs is None else _rows(inputs, self._sizes[1], "inputs"))

    @property
    def n_observed(self) -> int:
        """Steps that were observed."""
        return self._core.n_observed

    @property
    def mean(self) -> Array | None:
        """Posterior mean of the code; `None` before the first update."""
        found = self._core.code()
        return None if found is None else np.asarray(found[0])

    @property
    def sd(self) -> Array | None:
        """Posterior standard deviation of the code; `None` before the first update."""
        found = self._core.code()
        return None if found is None else np.asarray(found[1])

    @property
    def log_evidence(self) -> float | None:
        """Log density of all that was observed."""
        return self._core.log_evidence()

    def forecast(
        self,
        horizon: int,
        *,
        level: Sequence[float] | float = (80, 95),
        quantiles: Sequence[float] = (),
        inputs: npt.ArrayLike | None = None,
    ) -> TrackedForecast:
        """Forecast the next steps; `inputs` are those of these steps, where the model has inputs that change."""
        levels = Levels(level, quantiles)
        future = None if inputs is None else _rows(inputs, self._sizes[1], "inputs")
        ahead = steps("horizon", horizon)
        check_size("horizon", ahead, inner=ahead * self._sizes[0])
        mean, sd, found = self._core.forecast(ahead, levels.probabilities, future)
        return TrackedForecast(mean, sd, dict(zip(levels.names, found, strict=True)))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a tracker cannot be pickled; send the model, and what was observed")

    def __repr__(self) -> str:
        return f"Tracker({self.n_observed} steps observed)"

    def _repr_html_(self) -> str:
        from pymtds._html import tracker

        return tracker(self)


def _rows(values: npt.ArrayLike, width: int, what: str) -> Array:
    """Steps × columns; numbers of one dimension are a step, or steps of one column."""
    found = array(values, what)
    if found.ndim < 2:
        found = found.reshape(-1, width) if width and found.size % width == 0 else found.reshape(1, -1)
    if found.ndim != 2 or found.shape[1] != width:
        raise DataError(f"{what}: expected {width} in each step, found an array of shape {np.shape(values)}")
    return np.ascontiguousarray(found)

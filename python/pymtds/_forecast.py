"""Forecasts: where sequences are going, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from pymtds._errors import SettingError
from pymtds._frames import Kind, SameKind

if TYPE_CHECKING:
    from pymtds import _core

__all__ = ["Forecast", "Levels"]

Array = npt.NDArray[np.float64]


class Levels:
    """Levels of intervals in percent, and of quantiles, as probabilities with the names of their columns."""

    def __init__(self, level: Sequence[float] | float, quantiles: Sequence[float] = ()) -> None:
        percents = sorted({_percent(one) for one in _several("level", level)})
        self.names = {f"lo-{one:g}": _probability(100 - one) for one in reversed(percents)}
        self.names |= {f"hi-{one:g}": _probability(100 + one) for one in percents}
        self.names |= {
            f"q{float(one):g}": float(one) for one in sorted(set(_several("quantiles", quantiles)))
        }
        for one in self.names.values():
            if not 0 < one < 1:
                raise SettingError(f"setting `quantiles`: expected levels between 0 and 1, found {one:g}")

    @property
    def probabilities(self) -> list[float]:
        """Levels of the quantiles, in the order of the columns."""
        return list(self.names.values())


def _several(name: str, values: Any) -> list[float]:
    try:
        if isinstance(values, str):
            raise TypeError
        return [float(one) for one in ([values] if np.ndim(values) == 0 else values)]
    except (TypeError, ValueError):
        raise SettingError(
            f"setting `{name}`: expected numbers, such as 80 or [80, 95], found {values!r}"
        ) from None


def _one(name: str, value: Any) -> float:
    if np.ndim(value) != 0:
        raise SettingError(f"setting `{name}`: expected a number, found {value!r}")
    return _several(name, value)[0]


def _percent(level: float) -> float:
    if not 0 < level < 100:
        raise SettingError(
            f"setting `level`: expected percents between 0 and 100, such as 80, found {level:g}"
        )
    return level


def _probability(percent: float) -> float:
    """Half of a percentage, without the rounding error that a difference from 1 would have."""
    return percent / 200


class Forecast:
    """Forecasts of the sequences of a family.

    `frame` has a row per sequence, step and output; `mean`, `sd`, `interval`, `quantile` and `draws` are arrays of sequences ×
    steps × outputs, or lists of arrays where sequences are forecast for different numbers of steps.

    >>> forecast = model.forecast(family_frame, horizon=4, level=80, draws=10)
    >>> forecast
    Forecast(6 sequences, 4 steps, outputs y)
    >>> forecast.frame.shape
    (24, 7)
    >>> low, high = forecast.interval(80)
    >>> bool((low < high).all())
    True
    >>> forecast.draws.shape
    (6, 10, 4, 1)
    """

    def __init__(self, core: _core.Forecast, levels: Levels, kind: Kind, outputs: list[str]) -> None:
        self._core = core
        self._levels = levels
        self._kind = kind
        self._frame: SameKind = None
        self.output_names = outputs
        """Names of the outputs."""

    @property
    def ids(self) -> list[str]:
        """Ids of the sequences that are forecast."""
        return self._core.ids

    @property
    def far_outside(self) -> list[str]:
        """Ids of the sequences that are far outside of what the family does: no code explains them, and their forecasts mean little."""
        return self._core.far_outside()[0]

    @property
    def frame(self) -> SameKind:
        """A row per sequence, step and output, as a frame of the kind that was forecast from."""
        if self._frame is None:
            self._frame = self._kind.frame(self._core.table(list(self._levels.names)))
        return self._frame

    @property
    def mean(self) -> Any:
        """Means."""
        return _stacked(self._core.means())

    @property
    def sd(self) -> Any:
        """Standard deviations."""
        return _stacked(self._core.std_devs())

    def quantile(self, q: float) -> Any:
        """Quantiles of a level that was asked for when it was forecast."""
        q = _one("quantiles", q)
        for k, found in enumerate(self._levels.probabilities):
            if abs(found - q) < 1e-12:
                return _stacked(self._core.quantiles(k))
        known = ", ".join(f"{one:g}" for one in sorted(self._levels.probabilities))
        raise SettingError(
            f"setting `quantiles`: {q:g} was not asked for; the forecast has {known or 'none'}"
        )

    def interval(self, level: float) -> tuple[Any, Any]:
        """Lower and upper ends of the central interval of a level in percent that was asked for."""
        level = _one("level", level)
        return self.quantile(_probability(100 - level)), self.quantile(_probability(100 + level))

    @property
    def draws(self) -> Any:
        """Random futures, sequences × draws × steps × outputs; as many as `draws` asked for."""
        return _stacked(self._core.draws())

    def plot(self, id: str | int | None = None, *, output: str | None = None, axes: Any = None) -> Any:
        """Draw the forecast of a sequence with its intervals; needs matplotlib."""
        from pymtds._plot import forecast

        return forecast(self, id, output, axes)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a forecast cannot be pickled; send its `frame`, or arrays such as `mean`")

    def __len__(self) -> int:
        return len(self._core.ids)

    def __repr__(self) -> str:
        shapes = [mean.shape[0] for mean in self._core.means()]
        steps = f"{min(shapes)}" if min(shapes) == max(shapes) else f"{min(shapes)} to {max(shapes)}"
        sequences = "sequence" if len(self) == 1 else "sequences"
        return f"Forecast({len(self)} {sequences}, {steps} steps, outputs {', '.join(self.output_names)})"

    def _repr_html_(self) -> str:
        from pymtds._html import forecast

        return forecast(self)


def _stacked(arrays: list[Array]) -> Any:
    """One array where all have one shape."""
    return np.stack(arrays) if len({array.shape for array in arrays}) == 1 else arrays

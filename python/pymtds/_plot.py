"""Pictures by matplotlib, for those who have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pymtds._errors import Error, SettingError
from pymtds._numbers import id_of

if TYPE_CHECKING:
    from pymtds._forecast import Forecast
    from pymtds._model import Model


def forecast(found: Forecast, id: str | int | None, output: str | None, axes: Any) -> Any:
    """The forecast of one sequence: mean, and a band for every interval."""
    id = found.ids[0] if id is None else id_of("id", id)
    output = found.output_names[0] if output is None else output
    if id not in found.ids:
        raise SettingError(f"unknown sequence `{id}`; the forecast has {', '.join(found.ids[:20])}")
    if output not in found.output_names:
        raise SettingError(f"unknown output `{output}`; the forecast has {', '.join(found.output_names)}")
    i, c = found.ids.index(id), found.output_names.index(output)
    axes = _axes(axes)
    mean = found._core.means()[i][:, c]
    steps = np.arange(1, len(mean) + 1)
    names = list(found._levels.names)
    for name in names:
        if name.startswith("lo-"):
            low = found._core.quantiles(names.index(name))[i][:, c]
            high = found._core.quantiles(names.index("hi-" + name[3:]))[i][:, c]
            axes.fill_between(steps, low, high, alpha=0.2, color="C0", label=f"{name[3:]} %")
    axes.plot(steps, mean, color="C0", label="mean")
    axes.set(title=id, xlabel="steps ahead", ylabel=output)
    axes.legend()
    return axes


def codes(model: Model, axes: Any) -> Any:
    """The members by the two dimensions along which their codes differ most."""
    axes = _axes(axes)
    points = model.codes
    order = np.argsort(points.var(axis=0))[::-1]
    x = points[:, order[0]]
    y = points[:, order[1]] if points.shape[1] > 1 else np.zeros(len(points))
    labels = np.array([label or "" for label in model.labels])
    for label in sorted(set(labels)):
        axes.scatter(x[labels == label], y[labels == label], label=label or None)
    axes.set(xlabel=f"z{order[0] + 1}", ylabel=f"z{order[1] + 1}" if points.shape[1] > 1 else "")
    if any(labels):
        axes.legend()
    return axes


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise Error("pictures need matplotlib, which is not installed; pip install matplotlib") from error
    return pyplot.subplots()[1]

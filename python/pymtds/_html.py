"""Small tables and pictures for notebooks."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pymtds._family import Family
    from pymtds._forecast import Forecast
    from pymtds._model import Model
    from pymtds._posterior import Posterior
    from pymtds._tracker import Tracker

_SHOWN = 5
_SIZE = (320, 120)


def model(found: Model) -> str:
    """What a model is, how it did, and the map of its codes."""
    rows: list[tuple[str, str]] = [
        ("base model", found.base),
        ("outputs", ", ".join(found.output_names)),
        ("inputs", ", ".join(found.input_names) or "none"),
        ("length of the code", str(found.d_code)),
        ("members", str(len(found.members))),
    ]
    for measure, condition, mean, error, _ in found._core.scores:
        within = "" if error is None else f" ± {error:.3g}"
        rows.append((f"{measure}, {condition}", f"{mean:.4g}{within}"))
    return f"<div>{_table(rows)}{_map(found.codes)}</div>"


def family(found: Family) -> str:
    """What was read, and the first output of the first sequences."""
    lengths = found._core.lengths
    rows = [
        ("sequences", str(len(found))),
        ("steps", _range(lengths)),
        ("outputs", ", ".join(found.output_names)),
        ("inputs", ", ".join(found.input_names) or "none"),
        ("observed", f"{found._core.n_observed} of {sum(lengths) * len(found.output_names)}"),
    ]
    if found.time_step is not None:
        rows.append(("length of a step", found.time_step))
    shown = [found._core.outputs(i)[:, 0] for i in range(min(_SHOWN, len(found)))]
    pictures = [
        f"<div>{escape(id)}<br>{_observed(values)}</div>"
        for id, values in zip(found.ids, shown, strict=False)
    ]
    return f"<div>{_table(rows)}{''.join(pictures)}{_more(found)}</div>"


def posterior(found: Posterior) -> str:
    """The codes of the first sequences, and the map of all."""
    mean, sd = found.mean, found.sd
    rows = [
        (id, ", ".join(f"{m:.3g} ± {s:.2g}" for m, s in zip(means, deviations, strict=True)))
        for id, means, deviations in zip(found.ids[:_SHOWN], mean, sd, strict=False)
    ]
    return f"<div><b>{escape(repr(found))}</b>{_table(rows)}{_more(found)}{_map(mean)}</div>"


def tracker(found: Tracker) -> str:
    """What is known by now."""
    rows = [("steps observed", str(found.n_observed))]
    mean, sd = found.mean, found.sd
    if mean is not None and sd is not None:
        codes = (f"{m:.3g} ± {s:.2g}" for m, s in zip(mean, sd, strict=True))
        rows.append(("code", ", ".join(codes)))
    if found.log_evidence is not None:
        rows.append(("log evidence", f"{found.log_evidence:.4g}"))
    return f"<div>{_table(rows)}</div>"


def forecast(found: Forecast) -> str:
    """The first sequences: a table of their last steps, mean and widest interval as pictures."""
    names = list(found._levels.names)
    band = (
        (names[0], [name for name in names if name.startswith("hi-")][-1])
        if names and names[0].startswith("lo-")
        else None
    )
    pictures, rows = [], []
    means = found._core.means()
    for i, id in enumerate(found.ids[:_SHOWN]):
        mean = means[i][:, 0]
        low, high = mean, mean
        if band is not None:
            low = found._core.quantiles(names.index(band[0]))[i][:, 0]
            high = found._core.quantiles(names.index(band[1]))[i][:, 0]
        pictures.append(f"<div>{escape(id)}<br>{_curve(mean, low, high)}</div>")
        within = "" if band is None else f" ({low[-1]:.4g} to {high[-1]:.4g})"
        rows.append((f"{id}, {found.output_names[0]} after {len(mean)} steps", f"{mean[-1]:.4g}{within}"))
    return f"<div><b>{escape(repr(found))}</b>{_table(rows)}{''.join(pictures)}{_more(found)}</div>"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def _more(found: Sized) -> str:
    return f"<p>and {len(found) - _SHOWN} more</p>" if len(found) > _SHOWN else ""


def _table(rows: Sequence[tuple[str, str]]) -> str:
    cells = (f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in rows)
    return f"<table>{''.join(cells)}</table>"


def _map(codes: Any) -> str:
    """Members by the two dimensions along which they differ most."""
    if len(codes) == 0 or codes.shape[1] == 0:
        return ""
    order = np.argsort(codes.var(axis=0))[::-1]
    x = codes[:, order[0]]
    y = codes[:, order[1]] if codes.shape[1] > 1 else np.zeros(len(codes))
    width, height = _SIZE
    points = zip(_scaled(x, width), _scaled(y, height), strict=True)
    dots = "".join(f"<circle cx='{a:.1f}' cy='{height - b:.1f}' r='3' fill='#2a6fb0'/>" for a, b in points)
    return f"<svg width='{width}' height='{height}' role='img' aria-label='codes of the members'>{dots}</svg>"


def _curve(mean: Any, low: Any, high: Any) -> str:
    width, height = _SIZE
    x = _scaled(np.arange(len(mean)), width)
    every = np.concatenate([mean, low, high])
    upright = height - _scaled(every, height)
    n = len(mean)
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, upright[:n], strict=True))
    lower = [f"{a:.1f},{b:.1f}" for a, b in zip(x, upright[n : 2 * n], strict=True)]
    upper = [f"{a:.1f},{b:.1f}" for a, b in zip(x, upright[2 * n :], strict=True)]
    band = f"<polygon points='{' '.join(lower + upper[::-1])}' fill='#2a6fb0' fill-opacity='0.2'/>"
    return (
        f"<svg width='{width}' height='{height}' role='img' aria-label='forecast'>{band}"
        f"<polyline points='{line}' fill='none' stroke='#2a6fb0' stroke-width='1.5'/></svg>"
    )


def _observed(values: Any) -> str:
    """What was observed of a sequence: a dot each, as gaps may lie between; of very many, every second, every third."""
    width, height = _SIZE
    places = np.flatnonzero(np.isfinite(values))
    places = places[:: max(1, -(-len(places) // width))]
    if len(places) == 0:
        return "nothing observed"
    points = zip(_scaled(places, width), _scaled(values[places], height), strict=True)
    dots = "".join(f"<circle cx='{a:.1f}' cy='{height - b:.1f}' r='1.5' fill='#2a6fb0'/>" for a, b in points)
    return f"<svg width='{width}' height='{height}' role='img' aria-label='observed outputs'>{dots}</svg>"


def _scaled(values: Any, size: float) -> Any:
    """Into a picture of this size, with a margin."""
    low, high = np.nanmin(values), np.nanmax(values)
    share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    return 5 + share * (size - 10)

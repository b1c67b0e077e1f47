"""Numbers, names and arrays that people give, before the compiled half sees them: it would not say which of them is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pymtds._errors import DataError, SettingError

__all__ = [
    "Array",
    "array",
    "check_size",
    "count",
    "each",
    "id_of",
    "matrix",
    "seed_number",
    "steps",
    "text",
    "texts",
    "whole",
]

Array = npt.NDArray[np.float64]

_MOST_NUMBERS = 2**30
"""Eight GiB: who asks for more has most likely mistyped, and would lose the interpreter."""
_DRAWS = 3000
"""Draws that a forecast is made of, for each system."""


def whole(name: str, value: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number, of NumPy or of Python."""
    upward = f"{least} or more" if most == 2**63 - 1 else f"{least} to {most}"
    return _checked(name, value, (least, most), f"a whole number, {upward}")


def steps(name: str, value: Any) -> int:
    """A number of steps."""
    return _checked(name, value, (1, 2**63 - 1), "1 or more steps")


def count(name: str, value: Any) -> int | None:
    """A number of steps, if there is one."""
    return None if value is None else steps(name, value)


def _checked(name: str, value: Any, bounds: tuple[int, int], expected: str) -> int:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not bounds[0] <= value <= bounds[1]:
        raise SettingError(f"setting `{name}`: expected {expected}, found {value!r}")
    return int(value)


def seed_number(value: Any) -> int:
    """A seed."""
    return whole("seed", value, 0, 2**64 - 1)


def text(name: str, value: Any) -> str:
    """A text, such as a name."""
    if not isinstance(value, str):
        raise SettingError(f"setting `{name}`: expected a text, found {value!r}")
    return str(value)


def id_of(name: str, value: Any) -> str:
    """The id of a sequence: a text, or the number that it is in the frame."""
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return str(int(value)) if is_number else text(name, value)


def each(values: Any) -> list[Any]:
    """What was given alone or several of."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    return list(values)


def texts(name: str, values: Any) -> list[str]:
    """Texts, one or several."""
    return [text(name, value) for value in each(values)]


def check_size(name: str, *factors: int, inner: int = 0) -> None:
    """Refuse what would not fit into memory: `factors` of the result, `inner` of what one sequence takes on the way."""
    for size in (prod(factors), _DRAWS * inner):
        if size > _MOST_NUMBERS:
            raise SettingError(
                f"setting `{name}`: expected at most {_MOST_NUMBERS} numbers, found a question that takes {size}; ask for fewer at once"
            )


def array(values: npt.ArrayLike | None, what: str) -> Array:
    """An array of numbers."""
    try:
        found = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        if found.dtype.kind in "cmM":
            raise TypeError(f"found values of type {found.dtype}")
        found = found.astype(np.float64, copy=False)
        # What is masked is missing, whatever lies below.
        return found.filled(np.nan) if isinstance(found, np.ma.MaskedArray) else found
    except (TypeError, ValueError) as error:
        raise DataError(f"{what}: expected numbers ({error})") from error


def matrix(values: npt.ArrayLike, what: str) -> Array:
    """An array of steps × columns; a column where there is one dimension."""
    found = array(values, what)
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2:
        raise DataError(
            f"{what}: expected steps and columns of each sequence, found an array of shape {found.shape}"
        )
    return np.ascontiguousarray(found)

"""Families: sequences that belong together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy.typing as npt

from pymtds import _core
from pymtds._errors import DataError
from pymtds._frames import Frame, Kind, SameKind, kind_of, streams_of
from pymtds._numbers import Array, id_of, matrix, text, texts

__all__ = ["Family"]


class Family:
    """Sequences that belong together, each with an id, outputs, and inputs if the family has some.

    A frame becomes a family by itself wherever one is asked for. Make one by hand to look at what was understood, to use
    it several times, or to name its columns once:

    >>> import pymtds, polars
    >>> frame = polars.DataFrame({"series": ["a", "a", "b", "b"], "t": [1, 2, 1, 2], "y": [0.5, 0.7, 1.0, None]})
    >>> family = pymtds.Family(frame)
    >>> family
    Family(2 sequences of 2 steps, outputs y)
    >>> family.outputs("b")
    array([[ 1.],
           [nan]])
    """

    def __init__(
        self,
        frame: Frame,
        *,
        series: str | None = None,
        time: str | None = None,
        label: str | None = None,
        outputs: Sequence[str] = (),
        inputs: Sequence[str] = (),
        resample: str | None = None,
        resample_by: str | None = None,
    ) -> None:
        """Read a frame: a row per sequence and time, in any order.

        `series`, `time` and `label` are the columns of ids, times and labels (by default `series`, `t` and `label`);
        outputs are those named, else `y`, `y1`, `y_left`, …, else all that hold numbers; inputs are those named, else `u`, `u1`,
        …, and columns of text that are named are categories, one for each sequence. An output that is null or NaN is missing. Irregular
        times lie on a grid with gaps, of which `notes` tell; `resample` brings times to steps of this length instead, such as
        `"15min"`, by `"mean"` or `"linear"`.
        """
        columns = columns_of(series, time, label, outputs, inputs, resample, resample_by)
        self._core = _core.Family.from_frame(streams_of(frame), columns)
        self._kind = kind_of(frame, self._core.index_names)

    @classmethod
    def from_arrays(
        cls,
        outputs: npt.ArrayLike | Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike],
        inputs: npt.ArrayLike | Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike] | None = None,
        *,
        ids: Sequence[str] | None = None,
        output_names: Sequence[str] = (),
        input_names: Sequence[str] = (),
    ) -> Family:
        """Make a family of arrays: sequences × steps × columns, or a list or a dict of arrays of steps × columns.

        An array of one dimension is a sequence with one output. NaN marks a missing output. Inputs may be longer than outputs:
        they are then known ahead.

        >>> import numpy, pymtds
        >>> pymtds.Family.from_arrays(numpy.zeros((3, 20, 2)))
        Family(3 sequences of 20 steps, outputs y1, y2)
        """
        names, each = _arrays(outputs, "outputs")
        if ids is not None:
            names = [str(name) for name in ids]
        if len(names) != len(each):
            raise DataError(f"expected an id for each of {len(each)} sequences, found {len(names)}")
        own = None
        if inputs is not None:
            of, all_inputs = _arrays(inputs, "inputs")
            if isinstance(inputs, Mapping):
                by_id = dict(zip(of, all_inputs, strict=True))
                missing = [name for name in names if name not in by_id]
                if missing:
                    raise DataError(f"expected inputs of every sequence, found none of `{missing[0]}`")
                all_inputs = [by_id[name] for name in names]
            if len(all_inputs) != len(each):
                raise DataError(f"expected inputs of each of {len(each)} sequences, found {len(all_inputs)}")
            own = all_inputs
        self = cls.__new__(cls)
        self._core = _core.Family.from_arrays(names, each, own, (list(output_names), list(input_names)))
        self._kind = Kind("polars" if _installed("polars") else "pandas" if _installed("pandas") else "arrow")
        return self

    @property
    def ids(self) -> list[str]:
        """Ids of the sequences, in order."""
        return self._core.ids

    @property
    def labels(self) -> list[str | None]:
        """Labels of the sequences, in order; learning never sees them."""
        return self._core.labels

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._core.output_names

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs."""
        return self._core.input_names

    @property
    def time_step(self) -> str | None:
        """Length of a step, such as `1` or `1d`; `None` where steps are only counted."""
        return self._core.time_step

    @property
    def notes(self) -> list[str]:
        """What was noticed, done or left out when the frame was read."""
        return self._core.notes

    @property
    def fingerprint(self) -> str:
        """A short text that changes with any number of the family."""
        return self._core.fingerprint()

    def outputs(self, id: str | int) -> Array:
        """Outputs of a sequence, steps × outputs; NaN where one is missing."""
        return self._core.outputs(self._index(id))

    def inputs(self, id: str | int) -> Array | None:
        """Inputs of a sequence, steps × inputs, those known ahead included; `None` for a family without inputs."""
        return self._core.inputs(self._index(id))

    def to_frame(self) -> SameKind:
        """Give back the family as a frame of the kind that it was read from: a row per sequence and step, gaps filled with nothing."""
        return self._kind.frame(self._core.table())

    def _index(self, id: str | int) -> int:
        id = id_of("id", id)
        try:
            return self._core.ids.index(id)
        except ValueError:
            raise DataError(f"unknown sequence `{id}`; the family has {', '.join(self.ids[:20])}") from None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a family cannot be pickled; send the frame that it was read from, or `to_frame()`")

    def __len__(self) -> int:
        return len(self._core)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __repr__(self) -> str:
        lengths = self._core.lengths
        low, high = min(lengths), max(lengths)
        steps = f"{low}" if low == high else f"{low} to {high}"
        inputs = f", inputs {', '.join(self.input_names)}" if self.input_names else ""
        sequences = "sequence" if len(self) == 1 else "sequences"
        return f"Family({len(self)} {sequences} of {steps} steps, outputs {', '.join(self.output_names)}{inputs})"

    def _repr_html_(self) -> str:
        from pymtds._html import family

        return family(self)


def columns_of(
    series: str | None,
    time: str | None,
    label: str | None,
    outputs: Sequence[str],
    inputs: Sequence[str],
    resample: str | None,
    resample_by: str | None,
) -> str:
    """Columns as the library reads them."""
    named = {
        "series": series,
        "time": time,
        "label": label,
        "resample": resample,
        "resample_by": resample_by,
    }
    columns: dict[str, Any] = {key: text(key, value) for key, value in named.items() if value is not None}
    return json.dumps({**columns, "outputs": texts("outputs", outputs), "inputs": texts("inputs", inputs)})


def _arrays(data: Any, what: str) -> tuple[list[str], list[Array]]:
    if isinstance(data, Mapping):
        names, each = [str(name) for name in data], list(data.values())
    else:
        if isinstance(data, str) or not isinstance(data, Iterable):
            raise DataError(f"{what}: expected sequences, found {data!r}")
        each = list(data)
        names = [str(i + 1) for i in range(len(each))]
    if not each:
        raise DataError(f"{what}: expected sequences, found none")
    return names, [matrix(array, what) for array in each]


def _installed(module: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(module) is not None

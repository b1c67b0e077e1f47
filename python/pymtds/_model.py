"""Models: what a fit leaves behind, and what every question is put to."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from pymtds._core import Family as CoreFamily
from pymtds._core import Forecast as CoreForecast
from pymtds._core import Model as CoreModel
from pymtds._core import Posterior as CorePosterior
from pymtds._devices import say_trouble
from pymtds._errors import DataError, SettingError
from pymtds._family import Family, columns_of
from pymtds._forecast import Forecast, Levels
from pymtds._frames import Frame, Kind, SameKind, kind_of, streams_of
from pymtds._numbers import (
    Array,
    array,
    check_size,
    count,
    each,
    id_of,
    matrix,
    seed_number,
    steps,
    text,
    texts,
    whole,
)
from pymtds._posterior import Posterior
from pymtds._progress import Heard, shown
from pymtds._tracker import Tracker

__all__ = ["ColumnNames", "Model", "load"]

_LOG = logging.getLogger("pymtds")


class ColumnNames(TypedDict, total=False):
    """Columns of a frame where they are not called as when the model was learned."""

    series: str
    time: str
    label: str
    outputs: Sequence[str]
    inputs: Sequence[str]
    resample: str
    resample_by: str


class Model:
    """A multi-task dynamical system that was learned from a family.

    `pymtds.fit` makes one and `pymtds.load` reads one. It can be pickled, shared between threads, and gives the same answers as the
    program `mtds` with the same seed.
    """

    _core: CoreModel
    _kind: Kind | None

    def __init__(self) -> None:
        raise TypeError("a model is made by pymtds.fit or read by pymtds.load")

    @classmethod
    def _of(cls, core: CoreModel, kind: Kind | None = None) -> Model:
        self = cls.__new__(cls)
        self._core = core
        self._kind = kind
        return self

    def forecast(
        self,
        frame: Frame | Family,
        horizon: int | None = None,
        *,
        level: Sequence[float] | float = (80, 95),
        quantiles: Sequence[float] = (),
        seen: int | None = None,
        draws: int = 0,
        method: str = "adais",
        seed: int = 1,
        threads: int | None = None,
        progress: bool | Heard | None = None,
        **columns: Unpack[ColumnNames],
    ) -> Forecast:
        """Forecast every sequence of a frame: the `horizon` steps after its last, or after its first `seen`.

        Without a horizon it goes as far as the frame does beyond what is seen. Where the model has inputs, rows at the end with
        inputs and no outputs are the future; inputs that do not change within a sequence need none. `level` are central intervals in percent, `quantiles` probabilities, `draws` random
        futures. `method` is how codes are inferred: `adais`, `nuts`, `map` or `amortised`.

        >>> forecast = model.forecast(family_frame, horizon=3, level=[80])
        >>> list(forecast.frame.columns)
        ['series', 't', 'output', 'mean', 'sd', 'lo-80', 'hi-80']
        """
        family, kind = self._family(frame, columns)
        levels = Levels(level, quantiles)
        ahead, draws = count("horizon", horizon), whole("draws", draws)
        each = (ahead or max(family.lengths)) * len(self.output_names)
        check_size(
            "horizon", len(family), each, 2 + len(levels.names) + draws, inner=each * self._core.n_systems
        )
        with shown(progress) as heard:
            core = self._core.forecast(
                family,
                ahead,
                count("seen", seen),
                levels.probabilities,
                draws=draws,
                method=text("method", method),
                seed=seed_number(seed),
                threads=_threads(threads),
                progress=heard,
            )
        say_trouble(self._core)
        found = Forecast(core, levels, kind, family.output_names)
        _warn(core)
        without = len(family) - len(found)
        if without > 0:
            _LOG.warning("%d sequence(s) end with what is seen and are not forecast; give a horizon", without)
        return found

    def infer(
        self,
        frame: Frame | Family,
        *,
        seen: int | None = None,
        draws: int = 1000,
        method: str = "adais",
        seed: int = 1,
        threads: int | None = None,
        progress: bool | Heard | None = None,
        **columns: Unpack[ColumnNames],
    ) -> Posterior:
        """Infer the code of every sequence of a frame.

        >>> model.infer(family_frame, seen=10).mean.shape
        (6, 1)
        """
        family, kind = self._family(frame, columns)
        draws = whole("draws", draws, 1)
        check_size("draws", len(family), draws, self.d_code + 1)
        with shown(progress) as heard:
            core = self._core.infer(
                family,
                count("seen", seen),
                draws=draws,
                method=text("method", method),
                seed=seed_number(seed),
                threads=_threads(threads),
                progress=heard,
            )
        say_trouble(self._core)
        _warn(core)
        return Posterior(core, kind)

    def evaluate(
        self,
        frame: Frame | Family,
        *,
        seen: Sequence[int] | int = (10, 20, 40),
        horizon: int | None = None,
        against: Sequence[str] = (),
        train: Frame | Family | None = None,
        seed: int = 1,
        threads: int | None = None,
        progress: bool | Heard | None = None,
        **columns: Unpack[ColumnNames],
    ) -> SameKind:
        """Score forecasts of every sequence from each origin: RMSE, NLL, CRPS and coverage with standard errors, as a frame.

        `against` are baselines: `last-value`, `family-mean`, `nearest`, `ridge`, `fpca`, `gp`, `pooled`, `gru`, `single`;
        all but the last learn from `train`.

        >>> list(model.evaluate(family_frame, seen=10).columns)[:5]
        ['seen', 'method', 'n_seq', 'rmse', 'rmse_se']
        """
        family, kind = self._family(frame, columns)
        training = None if train is None else self._family(train, columns)[0]
        with shown(progress) as heard:
            table = self._core.evaluate(
                family,
                [whole("seen", one) for one in each(seen)],
                horizon=count("horizon", horizon),
                against=texts("against", against),
                train=training,
                seed=seed_number(seed),
                threads=_threads(threads),
                progress=heard,
            )
        say_trouble(self._core)
        return kind.frame(table)

    def track(self, number: int = 0) -> Tracker:
        """Make a tracker before its first observation; each `number` has random numbers of its own.

        >>> tracker = model.track()
        >>> tracker.observe([[0.9], [0.85], [0.8]])
        0
        >>> tracker.forecast(5).mean.shape
        (5, 1)
        """
        return Tracker(
            self._core.track(whole("number", number)), len(self.output_names), len(self.input_names)
        )

    def generate(
        self,
        n_time: int | None = None,
        *,
        code: npt.ArrayLike | None = None,
        like: str | int | Sequence[str | int] | None = None,
        sample: int | None = None,
        inputs: npt.ArrayLike | None = None,
        noise: bool = False,
        seed: int = 1,
    ) -> Array:
        """Make sequences: of codes that are given, of members, or of codes that are drawn; sequences × steps × outputs.

        `inputs`, steps × inputs, drive all of them; without `n_time` they say how long. Where inputs do not change within a sequence, one
        step of them is enough. `noise` adds observation noise.

        >>> model.generate(40, sample=3).shape
        (3, 40, 1)
        """
        if (code is not None) + (like is not None) + (sample is not None) != 1:
            raise SettingError("expected one of code, like and sample; say which sequences to make")
        if sample is not None:
            sample = whole("sample", sample, 1)
            check_size("sample", sample, self.d_code)
            codes = self._core.sample_codes(sample, seed_number(seed))
        elif like is not None:
            codes = self._stacked([self.code_of(id) for id in each(like)], "like")
        else:
            codes = np.atleast_2d(array(code, "code"))
        self._check_codes(codes)
        driven, length = self._driven(inputs, n_time)
        check_size("n_time", len(codes), length, len(self.output_names))
        return self._core.generate(
            np.ascontiguousarray(codes), length, driven, seed_number(seed) if noise else None
        )

    def morph(
        self,
        path: Sequence[str | npt.ArrayLike] | npt.ArrayLike,
        n_time: int | None = None,
        *,
        inputs: npt.ArrayLike | None = None,
    ) -> Array:
        """Make one sequence during which the system changes along a path of codes, or of members by their ids; steps × outputs.

        >>> model.morph(["a", "c", "b"], 30).shape
        (30, 1)
        """
        points = [
            self.code_of(point) if isinstance(point, str) else array(point, "path") for point in each(path)
        ]
        codes = self._stacked(points, "path")
        driven, length = self._driven(inputs, n_time)
        check_size("n_time", length, len(self.output_names))
        return self._core.morph(codes, length, driven)

    def transfer(
        self,
        frame: Frame | Family,
        *,
        content: str | int,
        style: str | int,
        seed: int = 1,
        threads: int | None = None,
        **columns: Unpack[ColumnNames],
    ) -> Array:
        """Answer the inputs of one sequence as another would; steps × outputs.

        `style` is a member of the model, or a sequence of the frame whose code is inferred.

        >>> import pymtds
        >>> driven = family_frame.assign(u=(family_frame["t"] % 7 == 0) * 1.0)
        >>> answers = pymtds.fit(driven, code=1, effort=0.02)
        >>> answers.transfer(driven, content="a", style="f").shape
        (30, 1)
        """
        family, _ = self._family(frame, columns)
        return self._core.transfer(
            family,
            id_of("content", content),
            id_of("style", style),
            seed=seed_number(seed),
            threads=_threads(threads),
        )

    def on(self, device: str) -> Model:
        """Give the same model on a device: `cpu`, `cuda`, `cuda:1`, or `auto`, a graphics card where there is one and the model gains by it.

        >>> model.on("cpu").device
        'cpu'
        """
        return Model._of(self._core.on(text("device", device)), self._kind)

    @property
    def device(self) -> str:
        """Where it computes: `cpu`, or number and name of a card."""
        return self._core.device

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as a directory, whole or not at all; the program reads it, too.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "decays")
        >>> model.save(path)
        >>> sorted(os.listdir(path))[:2]
        ['README.md', 'config.json']
        """
        self._core.save(fspath(path))

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._core.output_names

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs; categories as their indicators, such as `diet=oats`."""
        return self._core.input_names

    @property
    def attributes(self) -> dict[str, list[str]]:
        """Input columns that do not change within a sequence, with the levels of categories; numbers have none."""
        return dict(self._core.attributes)

    @property
    def d_code(self) -> int:
        """Length of a code."""
        return self._core.d_code

    @property
    def base(self) -> str:
        """Name of the base model."""
        return self._core.base

    @property
    def time_step(self) -> str | None:
        """Length of a step, as it was learned with."""
        return self._core.time_step

    @property
    def members(self) -> list[str]:
        """Ids of the members of the family."""
        return [id for id, _ in self._core.members]

    @property
    def labels(self) -> list[str | None]:
        """Labels of the members."""
        return [label for _, label in self._core.members]

    @property
    def codes(self) -> Array:
        """Codes of the members, their posterior means: members × length of the code."""
        return self._core.member_codes(False)

    def code_of(self, id: str | int) -> Array:
        """Find the code of a member."""
        id = id_of("id", id)
        try:
            code: Array = self.codes[self.members.index(id)]
            return code
        except ValueError:
            raise SettingError(f"unknown member `{id}`; known: {', '.join(self.members)}") from None

    @property
    def record(self) -> dict[str, Any] | None:
        """How it was learned: settings, reasons, scores; `None` for a model that was put together by hand."""
        return None if self._core.record is None else json.loads(self._core.record)

    def plot_codes(self, *, axes: Any = None) -> Any:
        """Draw the codes of the members on their two widest dimensions, coloured by label; needs matplotlib."""
        from pymtds._plot import codes

        return codes(self, axes)

    def _family(self, frame: Frame | Family, columns: ColumnNames) -> tuple[CoreFamily, Kind]:
        check_columns(frame, columns)
        if isinstance(frame, Family):
            return frame._core, frame._kind
        named = columns_of(
            columns.get("series"),
            columns.get("time"),
            columns.get("label"),
            columns.get("outputs", ()),
            columns.get("inputs", ()),
            columns.get("resample"),
            columns.get("resample_by"),
        )
        family = CoreFamily.from_frame(streams_of(frame), named, self._core)
        for note in family.notes:
            _LOG.info(note)
        return family, kind_of(frame, family.index_names)

    def _check_codes(self, codes: Array) -> None:
        if codes.ndim != 2 or codes.shape[1] != self.d_code:
            raise DataError(f"expected codes of length {self.d_code}, found an array of shape {codes.shape}")

    def _stacked(self, codes: list[Array], name: str) -> Array:
        if not codes:
            raise SettingError(f"setting `{name}`: expected codes, or ids of members, found none")
        for code in codes:
            self._check_codes(code[None])
        return np.ascontiguousarray(np.stack(codes))

    def _driven(self, inputs: npt.ArrayLike | None, n_time: int | None) -> tuple[Array | None, int]:
        if inputs is None:
            if n_time is None:
                raise SettingError("setting `n_time`: expected a number of steps, found nothing")
            return None, steps("n_time", n_time)
        driven = matrix(inputs, "inputs")
        return driven, steps("n_time", len(driven) if n_time is None else n_time)

    def __reduce__(self) -> tuple[Callable[..., Model], tuple[list[tuple[str, bytes]]]]:
        return _unpickled, (self._core.to_files(),)

    def __repr__(self) -> str:
        systems = f" and {self._core.n_systems - 1} companions" if self._core.n_systems > 1 else ""
        inputs = f", inputs {', '.join(self.input_names)}" if self.input_names else ""
        return (
            f"Model({self.base}{systems}, code of length {self.d_code}, outputs {', '.join(self.output_names)}{inputs}, "
            f"{len(self.members)} members)"
        )

    def _repr_html_(self) -> str:
        from pymtds._html import model

        return model(self)


def load(path: str | PathLike[str], *, device: str = "auto") -> Model:
    """Read the model in a directory, as `Model.save` or `mtds fit` wrote it; `device` as in `Model.on`.

    >>> import os, pymtds, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "decays")
    >>> model.save(path)
    >>> pymtds.load(path).members
    ['a', 'b', 'c', 'd', 'e', 'f']
    """
    return Model._of(CoreModel.load(fspath(path), text("device", device)))


def check_columns(frame: Any, columns: Mapping[str, Any]) -> None:
    """Refuse columns that nobody would look at: misspelt ones, and those of a family that was read."""
    known = list(ColumnNames.__annotations__)
    for name in columns:
        if name not in known:
            raise SettingError(f"no setting `{name}`; columns are named by {', '.join(known)}")
    given = [name for name in known if columns.get(name) is not None and len(each(columns[name])) > 0]
    if given and isinstance(frame, Family):
        raise SettingError(
            f"setting `{given[0]}`: expected none for a family, whose columns are known; name it in pymtds.Family(…)"
        )


def _threads(threads: int | None) -> int | None:
    return None if threads is None else whole("threads", threads)


def _warn(found: CoreForecast | CorePosterior) -> None:
    """Log which sequences are far outside of what the family does, in the words of the program."""
    _, note = found.far_outside()
    if note is not None:
        _LOG.warning(note)


def _unpickled(files: list[tuple[str, bytes]]) -> Model:
    return Model._of(CoreModel.from_files(files, "auto"))

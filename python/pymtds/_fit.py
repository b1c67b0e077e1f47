"""From a family to a model."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, Unpack

import numpy as np

from pymtds import _core
from pymtds._devices import say_trouble
from pymtds._errors import FitInterrupted, SettingError
from pymtds._family import Family
from pymtds._frames import Frame
from pymtds._model import Model, check_columns
from pymtds._numbers import each, seed_number, text, whole
from pymtds._progress import Heard, shown
from pymtds._settings import Settings

__all__ = ["Fitting", "fit"]

_LOG = logging.getLogger("pymtds")


def fit(
    frame: Frame | Family,
    *,
    series: str | None = None,
    time: str | None = None,
    label: str | None = None,
    outputs: Sequence[str] = (),
    inputs: Sequence[str] = (),
    resample: str | None = None,
    resample_by: str | None = None,
    seed: int = 1,
    select_code: Sequence[int] = (),
    threads: int | None = None,
    progress: bool | Heard | None = None,
    checkpoint: str | PathLike[str] | None = None,
    device: str = "auto",
    **settings: Unpack[Settings],
) -> Model:
    """Learn a model of a family; what is not asked for is chosen from the data.

    The columns are those of `Family`. The same frame, settings and seed give the same bits as `mtds fit`, on any number of
    `threads`. Settings are those of the program, with underscores: `code=3`, `effort=0.1`, `base="gru"`; `select_code`
    tries several lengths of the code. Ctrl-C raises `FitInterrupted`, from which the fit can go on; with `checkpoint`, the path
    of a file, it is left there as well, and the same call goes on from it. `device` is where to compute: `cpu`, `cuda`, `cuda:1`, or
    `auto`, a graphics card where there is one and the model gains by it.

    >>> import pymtds
    >>> model = pymtds.fit(family_frame, code=1, effort=0.02)
    >>> model.output_names
    ['y']
    """
    named = {"series": series, "time": time, "label": label, "resample": resample, "resample_by": resample_by}
    columns: Any = {name: value for name, value in named.items() if value is not None}
    columns |= {"outputs": outputs, "inputs": inputs}
    check_columns(frame, columns)
    family = frame if isinstance(frame, Family) else Family(frame, **columns)
    for note in family.notes:
        _LOG.info(note)
    kept = None if checkpoint is None else Path(checkpoint)
    earlier = kept.read_bytes() if kept is not None and kept.exists() else None
    fitting = Fitting(
        family, seed=seed, select_code=select_code, checkpoint=earlier, device=device, **settings
    )
    try:
        model = fitting.run(threads=threads, progress=progress)
    except FitInterrupted:
        if kept is not None:
            _write(kept, fitting.checkpoint())
        raise
    if kept is not None:
        kept.unlink(missing_ok=True)
    return model


class Fitting:
    """A fit in progress: begun, run, interrupted by Ctrl-C and gone on with, to the same bits.

    >>> import pymtds
    >>> fitting = pymtds.Fitting(pymtds.Family(family_frame), code=1, effort=0.02)
    >>> fitting.reasons["code"]
    (1, 'as asked')
    >>> fitting.so_far() is None
    True
    >>> model = fitting.run(threads=2)
    """

    def __init__(
        self,
        frame: Frame | Family,
        *,
        seed: int = 1,
        select_code: Sequence[int] = (),
        checkpoint: bytes | None = None,
        device: str = "auto",
        **settings: Unpack[Settings],
    ) -> None:
        """Choose what was not asked for; no step is taken yet. `checkpoint` is what `checkpoint()` of an earlier one gave, `device` as in `fit`."""
        family = frame if isinstance(frame, Family) else Family(frame)
        for name, value in settings.items():
            if isinstance(value, float | np.floating) and not isfinite(value):
                raise SettingError(f"setting `{name}`: expected a finite number, found {value}")
        if checkpoint is not None and not isinstance(checkpoint, bytes):
            raise SettingError(
                f"setting `checkpoint`: expected bytes, as `checkpoint()` gives them, found {checkpoint!r}"
            )
        asked = json.dumps(settings, default=_plain)
        lengths = [whole("select_code", length, 1) for length in each(select_code)]
        self._core = _core.Fitting(
            family._core, asked, lengths, seed_number(seed), text("device", device), checkpoint
        )
        self._kind = family._kind

    def run(self, *, threads: int | None = None, progress: bool | Heard | None = None) -> Model:
        """Go on until the model is there; Ctrl-C raises `FitInterrupted` within a second, and another call goes on."""
        try:
            with shown(progress) as heard:
                model = Model._of(
                    self._core.run(None if threads is None else whole("threads", threads), heard), self._kind
                )
        except KeyboardInterrupt as stopped:
            raise FitInterrupted(self) from stopped
        say_trouble(self._core)
        return model

    def so_far(self) -> Model | None:
        """Give the model as it stands, for a fit that was interrupted; `None` before learning has got past its start.

        It is the first system that was learned, or the one that is being learned, with the best parameters so far. It forecasts,
        infers, generates, is saved; codes of members, calibration and scores come last in a fit, and are not there before.
        """
        core = self._core.so_far()
        return None if core is None else Model._of(core, self._kind)

    def checkpoint(self) -> bytes:
        """All that is needed to go on from here, in another process, with the same family and settings."""
        return self._core.checkpoint()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a fit cannot be pickled; send `checkpoint()`, from which the same call goes on")

    @property
    def reasons(self) -> dict[str, tuple[Any, str]]:
        """Every setting with its value and the reason for it."""
        return {key: (json.loads(value), why) for key, value, why in self._core.reasons}


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise SettingError(f"expected a number, a name, or a list of them, found {value!r}")


def _write(path: Path, content: bytes) -> None:
    """A file that appears whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)

"""The conventions of Nixtla's packages: long frames of `unique_id`, `ds` and `y` in, columns `mtds`, `mtds-lo-80`, … out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Unpack

import narwhals as nw

from pymtds._errors import DataError, Error, SettingError
from pymtds._family import Family
from pymtds._fit import fit
from pymtds._frames import Frame, SameKind
from pymtds._model import ColumnNames, Model
from pymtds._settings import Settings

__all__ = ["MTDS"]


class MTDS:
    """A model with the methods `fit`, `predict`, `cross_validation` and `forecast` as Nixtla's packages have them.

    >>> from pymtds.nixtla import MTDS
    >>> frame = family_frame.rename(columns={"series": "unique_id", "t": "ds"})
    >>> model = MTDS(code=1, effort=0.02).fit(frame)
    >>> list(model.predict(h=3, level=[80]).columns)
    ['unique_id', 'ds', 'mtds', 'mtds-lo-80', 'mtds-hi-80']
    """

    def __init__(
        self,
        *,
        freq: str | int | None = None,
        alias: str = "mtds",
        seed: int = 1,
        threads: int | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        """Say how to learn; the settings are those of `pymtds.fit`.

        Frequencies are read from the times. `freq`, as Nixtla has it (`"D"`, `"1h"`, `"ME"`, `1`), is compared with what is read: data of
        another frequency are refused.
        """
        self.freq = freq
        self.alias = alias
        self.seed = seed
        self.threads = threads
        self.settings = settings
        self.model: Model | None = None
        """The model, after `fit`."""

    def fit(
        self,
        df: Frame,
        *,
        id_col: str = "unique_id",
        time_col: str = "ds",
        target_col: str = "y",
        X_cols: Sequence[str] | None = None,
    ) -> MTDS:
        """Learn from a frame; columns beside id, time and target are inputs, or those of `X_cols`."""
        self._names = (id_col, time_col, target_col)
        others = [name for name in _columns(df) if name not in self._names]
        self._inputs = others if X_cols is None else list(X_cols)
        self._df = df
        family = Family(df, **self._named(df))
        _check(self.freq, family.time_step)
        self.model = fit(family, seed=self.seed, threads=self.threads, **self.settings)
        return self

    def predict(
        self,
        h: int,
        new_df: Frame | None = None,
        X_df: Frame | None = None,
        level: Sequence[float] | None = None,
    ) -> SameKind:
        """Forecast `h` steps of the sequences that were learned from, or of new ones; `X_df` has the inputs of these steps."""
        model = self._learned()
        df = self._df if new_df is None else new_df
        if self._inputs and not (X_df is None and model._core.has_attributes_only):
            if X_df is None:
                raise DataError(
                    f"expected X_df with {', '.join(self._inputs)} of the next {h} steps, found nothing"
                )
            df = self._with_future(df, X_df)
        found = model.forecast(
            df,
            h,
            level=() if level is None else level,
            seed=self.seed,
            threads=self.threads,
            **self._named(df),
        )
        return self._renamed(found.frame)

    def forecast(
        self,
        df: Frame,
        h: int,
        X_df: Frame | None = None,
        level: Sequence[float] | None = None,
        *,
        id_col: str = "unique_id",
        time_col: str = "ds",
        target_col: str = "y",
    ) -> SameKind:
        """Learn from a frame and forecast it."""
        return self.fit(df, id_col=id_col, time_col=time_col, target_col=target_col).predict(
            h, X_df=X_df, level=level
        )

    def cross_validation(
        self,
        df: Frame,
        h: int,
        n_windows: int = 1,
        step_size: int | None = None,
        level: Sequence[float] | None = None,
        refit: bool = True,
        *,
        id_col: str = "unique_id",
        time_col: str = "ds",
        target_col: str = "y",
    ) -> SameKind:
        """Forecast the last steps from several cutoffs, each seeing only what came before it.

        With `refit=False` the model is learned once, before the first cutoff. The answer has a column `cutoff`, and the target beside
        the forecast.

        >>> frame = family_frame.rename(columns={"series": "unique_id", "t": "ds"})
        >>> found = MTDS(code=1, effort=0.02).cross_validation(frame, h=5, n_windows=2, refit=False)
        >>> list(found.columns), len(found)
        (['unique_id', 'ds', 'cutoff', 'y', 'mtds'], 60)
        """
        if n_windows < 1 or h < 1:
            raise SettingError("setting `n_windows`: expected 1 or more windows of 1 or more steps")
        step = h if step_size is None else step_size
        names = (id_col, time_col, target_col)
        frame = _eager(df).sort(id_col, time_col)
        place = frame.with_columns(nw.lit(1).alias("_one")).with_columns(
            (nw.col("_one").cum_sum().over(id_col, order_by=time_col)).alias("_place"),
            nw.col("_one").sum().over(id_col).alias("_size"),
        )
        parts = []
        for window in range(n_windows):
            ends = h + (n_windows - 1 - window) * step
            seen = place.filter(nw.col("_place") <= nw.col("_size") - ends)
            ahead = place.filter(
                nw.col("_place") > nw.col("_size") - ends, nw.col("_place") <= nw.col("_size") - ends + h
            )
            history = seen.drop("_one", "_place", "_size").to_native()
            if len(seen) == 0:
                raise DataError(f"expected more than {ends} steps in a sequence, found none that is as long")
            if refit or window == 0:
                self.fit(history, id_col=id_col, time_col=time_col, target_col=target_col)
            cutoff = seen.group_by(id_col).agg(nw.col(time_col).max().alias("cutoff"))
            future = ahead.drop("_one", "_place", "_size")
            inputs = future.drop(target_col).to_native() if self._inputs else None
            found = nw.from_native(self.predict(h, new_df=history, X_df=inputs, level=level), eager_only=True)
            joined = found.join(cutoff, on=id_col, how="left").join(
                future.select(*names), on=[id_col, time_col], how="left"
            )
            answers = [name for name in found.columns if name not in names]
            parts.append(joined.select(id_col, time_col, "cutoff", target_col, *answers))
        return nw.concat(parts).to_native()

    def __repr__(self) -> str:
        said = {"freq": self.freq, **self.settings}
        words = ", ".join(f"{name}={value!r}" for name, value in said.items() if value is not None)
        return f"MTDS({words})"

    def _learned(self) -> Model:
        if self.model is None:
            raise Error("nothing was learned yet; call fit first")
        return self.model

    def _named(self, df: Frame) -> ColumnNames:
        series, time, target = self._names
        missing = [name for name in (series, time, target) if name not in _columns(df)]
        if missing:
            raise DataError(f"frame: expected a column `{missing[0]}`, found {', '.join(_columns(df))}")
        return {"series": series, "time": time, "outputs": [target], "inputs": self._inputs}

    def _with_future(self, df: Frame, X_df: Frame) -> SameKind:
        series, time, target = self._names
        past, future = _eager(df), _eager(X_df)
        kept = [series, time, target, *self._inputs]
        missing = [name for name in (series, time, *self._inputs) if name not in future.columns]
        if missing:
            raise DataError(f"X_df: expected a column `{missing[0]}`, found {', '.join(future.columns)}")
        kind = past.schema[target]
        nothing = nw.lit(None, dtype=kind if kind.is_float() else nw.Float64()).alias(target)
        past = past.with_columns(nw.col(target).cast(kind if kind.is_float() else nw.Float64()))
        return nw.concat([past.select(*kept), future.with_columns(nothing).select(*kept)]).to_native()

    def _renamed(self, frame: SameKind) -> SameKind:
        found = nw.from_native(frame, eager_only=True).drop("output", "sd")
        names = {name: f"{self.alias}-{name}" for name in found.columns if name[:3] in ("lo-", "hi-")}
        return found.rename({**names, "mean": self.alias}).to_native()


_UNITS = {
    **dict.fromkeys(("ms", "L"), ("ms", 1)),
    **dict.fromkeys(("s", "S"), ("ms", 1000)),
    **dict.fromkeys(("m", "min", "T"), ("ms", 60_000)),
    **dict.fromkeys(("h", "H"), ("ms", 3_600_000)),
    **dict.fromkeys(("d", "D"), ("ms", 86_400_000)),
    **dict.fromkeys(("w", "W"), ("ms", 604_800_000)),
    **dict.fromkeys(("mo", "M", "ME", "MS"), ("months", 1)),
    **dict.fromkeys(("q", "Q", "QE", "QS"), ("months", 3)),
    **dict.fromkeys(("y", "Y", "YE", "YS", "A", "AS"), ("months", 12)),
}
"""Units of time as pandas, polars and this package write them."""


def _length(step: str | int) -> tuple[str, float] | None:
    """How long a step is, in a unit that can be compared; `None` for what is none of ours, such as days of business."""
    found = re.fullmatch(r"(\d*)([A-Za-z]*)(?:-[A-Z]{3})?", str(step))
    if found is None or (found[2] and found[2] not in _UNITS):
        return None
    unit, size = _UNITS.get(found[2], ("steps", 1))
    return unit, size * int(found[1] or 1)


def _check(freq: str | int | None, step: str | None) -> None:
    """Refuse data of another frequency than the one that was named."""
    expected, found = (None if one is None else _length(one) for one in (freq, step))
    if expected is not None and found is not None and expected != found:
        raise DataError(
            f"frame: expected steps of {freq}, as `freq` says, found steps of {step}; leave `freq` out"
        )


def _eager(df: Frame) -> Any:
    try:
        return nw.from_native(df, eager_only=True)
    except TypeError as error:
        raise DataError(
            f"expected a frame of pandas, polars or pyarrow, found {type(df).__name__}"
        ) from error


def _columns(df: Frame) -> list[str]:
    return list(_eager(df).columns)

"""Frames of any kind as Arrow streams, and tables of results as frames of the kind that came in."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pymtds._errors import DataError

if TYPE_CHECKING:
    from types import ModuleType

    from pymtds import _core

__all__ = ["Frame", "Kind", "SameKind", "kind_of", "streams_of"]


class SpeaksArrow(Protocol):
    """A frame of pandas or polars, a table of pyarrow, a relation of duckdb, anything that gives its rows as an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Give a capsule with the stream."""


class Lazy(Protocol):
    """A lazy frame of polars."""

    def collect(self) -> Any:
        """Give the rows."""


Frame: TypeAlias = SpeaksArrow | Lazy
"""What families are read from."""

SameKind: TypeAlias = Any
"""A frame of the kind that went in, which types cannot say."""


class Kind:
    """The kind of frame that results come out as."""

    def __init__(self, name: str, like: Any = None, index: tuple[str, str] = ("", "")) -> None:
        self.name = name
        self.is_wrapped = False
        """Whether frames are to be those of narwhals around this kind."""
        self._schema: dict[str, Any] = {}
        if like is not None and name in ("pandas", "polars"):
            import narwhals as nw

            frame = nw.from_native(like, eager_only=True)
            self._schema = {name: kind for name, kind in frame.schema.items() if name in index}

    def frame(self, table: _core.Table) -> SameKind:
        """A frame of this kind with the content of a table; ids and times have their type again."""
        import narwhals as nw

        return nw.from_native(self._native(table)) if self.is_wrapped else self._native(table)

    def _native(self, table: _core.Table) -> SameKind:
        import narwhals as nw

        if self.name == "arrow":
            return table
        if self.name == "duckdb":
            return _module("duckdb").from_arrow(_module("pyarrow").table(table))
        if self.name == "pandas" and not _has("pyarrow"):
            frame = nw.from_dict(dict(table.columns()), backend="pandas")
        else:
            backend = {"pyarrow": "pyarrow", "pandas": "pandas", "polars": "polars"}[self.name]
            frame = nw.from_arrow(table, backend=backend)  # type: ignore[arg-type]
        for name, found in frame.schema.items():
            wanted = self._schema.get(name, found)
            if wanted != found and _is_index(wanted):
                frame = frame.with_columns(_cast(frame[name], wanted))
        return frame.to_native()


def _cast(column: Any, wanted: Any) -> Any:
    """The column in this type, if it can hold all of it: times of the future may be too large for it."""
    import narwhals as nw

    try:
        found = column.cast(wanted)
        same = found.null_count() == column.null_count()
        if wanted.is_integer():
            same = same and bool((found.cast(nw.Int64) == column.cast(nw.Int64)).all())
    except Exception:  # Each library of frames has its own.
        return column
    return found if same else column


def _is_index(kind: Any) -> bool:
    """Whether ids or times may have this type, and can be brought to it."""
    import narwhals as nw

    return bool(
        kind.is_numeric()
        or kind.is_temporal()
        or kind in (nw.Categorical, nw.String)
        or kind == nw.Enum
        or kind == nw.Datetime
    )


def kind_of(frame: Frame, index: tuple[str, str]) -> Kind:
    """The kind of frame that this is: pandas, polars, pyarrow, duckdb, or anything else that speaks Arrow; `index` are its columns of ids and times."""
    root = type(frame).__module__.partition(".")[0].lstrip("_")
    if root == "narwhals":
        kind = kind_of(frame.to_native(), index)  # type: ignore[union-attr]
        kind.is_wrapped = kind.name != "arrow"
        return kind
    if root == "polars":
        # A lazy frame is collected where its rows are needed, and answers are not lazy.
        return Kind("polars", frame if hasattr(frame, "__arrow_c_stream__") else None, index)
    if root in ("pandas", "duckdb"):
        return Kind(root, frame, index)
    if root == "pyarrow":
        return Kind("pyarrow")
    return Kind("arrow")


def streams_of(frame: Frame) -> list[Any]:
    """The rows of the frame, in parts with `__arrow_c_stream__`."""
    root = type(frame).__module__.partition(".")[0]
    if type(frame).__name__ == "Series":
        raise DataError(
            f"expected a frame, found a Series of {root}; give the columns of ids and times as well, or arrays to "
            "pymtds.Family.from_arrays"
        )
    if root == "narwhals" and hasattr(frame, "to_native"):
        return streams_of(frame.to_native())
    if root == "pandas" and hasattr(frame, "index"):
        return [_of_pandas(frame)]
    if root == "polars" and (hasattr(frame, "collect") or hasattr(frame, "get_columns")):
        return _of_polars(frame.collect() if hasattr(frame, "collect") else frame)
    if hasattr(frame, "__arrow_c_stream__"):
        return [frame]
    raise DataError(
        f"expected a frame, found {type(frame).__name__}; give a frame of pandas or polars, a table of pyarrow, a relation "
        "of duckdb, anything with `__arrow_c_stream__`, or a pymtds.Family, which arrays make, too"
    )


def _of_polars(frame: Any) -> list[Any]:
    """The chunks of a frame, without copies: as one stream, polars would put them into one piece first."""
    polars = _module("polars")
    nothing = [name for name, kind in frame.schema.items() if kind == polars.Null]
    # Columns without a type, as polars makes them of nulls alone, come through its streams damaged.
    frame = frame.cast(dict.fromkeys(nothing, polars.String)) if nothing else frame
    columns = frame.get_columns()
    lengths = {tuple(column.chunk_lengths()) for column in columns}
    if len(lengths) != 1 or len(next(iter(lengths))) < 2:
        return [frame]
    return [
        type(frame)(list(chunks)) for chunks in zip(*(column.get_chunks() for column in columns), strict=True)
    ]


def _of_pandas(frame: Any) -> Any:
    """Columns and named index levels; through polars or pyarrow, whichever is there."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    # Arrow would have them as numbers of months or days; they begin at moments.
    periods = {
        name: frame[name].dt.to_timestamp() for name in frame.columns if _is_period(frame.dtypes, name)
    }
    frame = frame.assign(**periods) if periods else frame
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DataError(
            f"frame: expected column names that differ, found `{twice[0]}` twice; rename one of them"
        )
    if _has("pyarrow"):
        pyarrow = _module("pyarrow")
        try:
            return pyarrow.Table.from_pandas(frame, preserve_index=False)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, TypeError) as error:
            raise DataError(
                f"frame: a column holds values of several kinds, or of one that Arrow has not ({error}); give it one plain type"
            ) from error
    if _has("polars"):
        columns = {str(name): _plain(frame[name]) for name in frame.columns}
        return _module("polars").DataFrame(columns)
    raise DataError(
        "a frame of pandas is read through pyarrow or polars, and neither is installed; pip install pyarrow"
    )


def _is_period(types: Any, name: Any) -> bool:
    return type(types[name]).__name__ == "PeriodDtype"


def _plain(column: Any) -> Any:
    """A column of pandas as something that polars reads without pyarrow."""
    if getattr(column.dtype, "kind", "O") in "iufbM":
        return column.to_numpy()
    return [None if value is None or value != value else value for value in column.tolist()]


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DataError(f"this needs {name}, which is not installed; pip install {name}") from error

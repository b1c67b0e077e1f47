"""A bar that shows how far long work is: in a terminal, in a notebook, or nowhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

__all__ = ["Heard", "Progress", "shown"]

Heard = Callable[[str, int, int, int, int, float | None], Any]
"""Called with stage, done, all, part, parts and bound, about ten times a second."""

_PATIENCE = 2.0
_WIDTH = 24


class Progress:
    """Hears how far the work is and draws it once it takes more than two seconds."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._stage_began = (("", 0), self._began, 0)
        self._drawn = False
        self._display: Any = None

    def __call__(self, stage: str, done: int, all: int, part: int, parts: int, bound: float | None) -> None:
        now = time.monotonic()
        key = (stage, part)
        if self._stage_began[0] != key:
            self._stage_began = (key, now, done)
        if now - self._began < _PATIENCE:
            return
        _, since, before = self._stage_began
        rate = (done - before) / (now - since) if now > since else 0.0
        left = f", {_clock((all - done) / rate)} left" if rate > 0 and all > done else ""
        filled = _WIDTH * done // all if all else 0
        bar = "█" * filled + "·" * (_WIDTH - filled)
        of = f" {part + 1}/{parts}" if parts > 1 else ""
        reached = f", bound {bound:.3f}" if bound is not None else ""
        self._draw(f"{stage}{of} {bar} {done}/{all}{reached}{left}")

    def _draw(self, line: str) -> None:
        self._drawn = True
        if self._display is None and _in_notebook():
            from IPython.display import display

            self._display = display({"text/plain": line}, raw=True, display_id=True)
        elif self._display is not None:
            self._display.update({"text/plain": line}, raw=True)
        else:
            sys.stderr.write(f"\r\x1b[2K{line}")
            sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn and self._display is None:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


class _Heard:
    """Progress that somebody else listens to, or nobody."""

    def __init__(self, heard: Heard | None) -> None:
        self._heard = heard

    def __enter__(self) -> Heard | None:
        return self._heard

    def __exit__(self, *_: object) -> None:
        pass


def shown(progress: bool | Heard | None) -> Progress | _Heard:
    """The progress that was asked for; by itself a bar where somebody can see it."""
    if callable(progress):
        return _Heard(progress)
    if progress is None:
        progress = sys.stderr.isatty() or _in_notebook()
    return Progress() if progress else _Heard(None)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and "IPKernelApp" in getattr(found, "config", {})


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02d}" if minutes else f"{seconds} s"

"""What there is to compute with."""

from __future__ import annotations

import logging
from typing import NamedTuple

from pymtds import _core

__all__ = ["Device", "devices", "say_trouble"]

_LOG = logging.getLogger("pymtds")


class Device(NamedTuple):
    """Something to compute with: the processor or a graphics card."""

    device: str
    """What `device=` takes: `cpu`, `cuda:0`, …"""
    name: str
    """What the maker calls it."""
    memory: int | None
    """Bytes of memory of a card."""
    trouble: str | None
    """Why it cannot be used, if so."""


def devices() -> list[Device]:
    """List the processor and the graphics cards of this machine, as `mtds devices` does.

    >>> import pymtds
    >>> pymtds.devices()[0].device
    'cpu'
    """
    cards, none = _core.cards()
    found = [Device("cpu", "processor", None, None)]
    found += [Device(f"cuda:{number}", name, memory, trouble) for number, name, memory, _, trouble in cards]
    if none is not None:
        found.append(Device("cuda", "no card", None, none))
    return found


def say_trouble(of: _core.Model | _core.Fitting) -> None:
    """Log what went wrong with a card, in the words of the program."""
    if of.trouble is not None:
        _LOG.warning("%s; the processor did the rest", of.trouble)

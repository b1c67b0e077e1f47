"""A small family that is learned once, and the program beside the package."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pymtds

REPOSITORY = Path(__file__).parents[2]
SETTINGS = {"code": 1, "effort": 0.02}
# A shell without a terminal starts what it runs in the background with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)


def rows(n_seq: int = 6, n_time: int = 30, seed: int = 0) -> pl.DataFrame:
    """Decays with noise, a row per sequence and time."""
    random = np.random.default_rng(seed)
    time = np.arange(n_time)
    curves = [np.exp(-0.03 * (i + 1) * time) + 0.02 * random.standard_normal(n_time) for i in range(n_seq)]
    return pl.DataFrame(
        {
            "series": np.repeat(list("abcdefghijklmnopqrstuvwxyz"[:n_seq]), n_time),
            "t": np.tile(time, n_seq),
            "y": np.concatenate(curves),
        }
    )


@pytest.fixture(scope="session")
def frame() -> pl.DataFrame:
    return rows()


@pytest.fixture(scope="session")
def model(frame: pl.DataFrame) -> pymtds.Model:
    return pymtds.fit(frame, **SETTINGS)


@pytest.fixture(scope="session")
def program() -> str:
    """The program `mtds`, where it was built."""
    named = os.environ.get("MTDS_PROGRAM") or shutil.which("mtds")
    built = [REPOSITORY / "target" / profile / "mtds" for profile in ("debug", "release")]
    newest = max(
        (path for path in built if path.exists()), key=lambda path: path.stat().st_mtime, default=named
    )
    found = os.environ.get("MTDS_PROGRAM") or newest
    if found is None:
        pytest.skip("no program `mtds` to compare with; build it, or name it in MTDS_PROGRAM")
    return str(found)


@pytest.fixture
def run(program: str, tmp_path: Path):
    """Runs the program in a directory of its own."""

    def run(*words: str) -> str:
        done = subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run

"""What an installation brings, and what works beside it: the wheel in environments of its own. `MTDS_WHEELS` names its folder."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WHEELS = os.environ.get("MTDS_WHEELS")
pytestmark = pytest.mark.skipif(WHEELS is None, reason="MTDS_WHEELS names no folder with the wheel")

LEARN = """
import numpy as np, pymtds
time = np.arange(20)
family = pymtds.Family.from_arrays(np.stack([np.exp(-rate * time) for rate in (0.1, 0.2, 0.3, 0.4)]))
model = pymtds.fit(family, code=1, effort=0.02, progress=False)
"""

PLAIN = """
found = model.forecast(family, 3, level=80)
assert found.mean.shape == (4, 3, 1)
assert hasattr(found.frame, "__arrow_c_stream__")
model.save("model")
assert np.array_equal(pymtds.load("model").forecast(family, 3).mean, found.mean)
"""

ALONE = """
import pandas as pd, pymtds
frame = pd.DataFrame({"series": ["a", "a"], "t": [0, 1], "y": [0.5, 0.7]})
try:
    pymtds.Family(frame)
except pymtds.DataError as error:
    assert "pip install pyarrow" in str(error)
else:
    raise AssertionError("read without anything that speaks Arrow")
"""

ARVIZ = """
import arviz
tree = model.infer(family, draws=50).to_arviz()
assert type(tree).__name__ == KIND, type(tree)
assert tree.posterior["z"].dims == ("chain", "draw", "series", "code")
assert tree.sample_stats["log_weight"].shape == (1, 50, 4)
assert len(arviz.summary(tree, var_names=["z"])) == 4
"""


def newer_python() -> str | None:
    """A Python for ArviZ 1, which needs 3.12: this one, or one that is on the path or beside it, and that runs."""
    names = ("python3.12", "python3.13", "python3.14")
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = [*map(shutil.which, names), *sorted(map(str, versions.glob("3.1[2-9]*/bin/python")))]
    check = "import sys, venv; sys.exit(sys.version_info < (3, 12))"
    for python in [sys.executable, *filter(None, found)]:
        # A shim of pyenv is on the path for versions that are installed and not chosen, and only says so.
        if subprocess.run([python, "-c", check], capture_output=True, check=False).returncode == 0:
            return python
    return None


def built() -> Path:
    return next(Path(WHEELS).glob("*.whl"))


def environment(
    folder: Path, packages: list[str], python: str = sys.executable, wheel: Path | None = None
) -> Path:
    """An interpreter that knows the wheel, these packages, and what they need."""
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    own = folder / "bin" / "python"
    subprocess.run([*pip(own), "install", "--quiet", wheel or built(), *packages], check=True)
    return own


def pip(python: Path) -> list:
    """The pip of these tests, at work for another interpreter."""
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]


def runs(python: Path, code: str, folder: Path) -> None:
    done = subprocess.run([python, "-I", "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_wheel_is_small():
    assert built().stat().st_size <= 15e6


def test_an_installation_brings_numpy_and_narwhals_and_works_with_them(tmp_path):
    python = environment(tmp_path / "empty", [])
    listed = subprocess.run([*pip(python), "list", "--format", "json"], capture_output=True, check=True)
    found = {package["name"] for package in json.loads(listed.stdout)}
    assert found == {"pymtds", "numpy", "narwhals"}
    runs(python, LEARN + PLAIN, tmp_path)


@pytest.mark.skipif("MTDS_ALL" not in os.environ, reason="MTDS_ALL asks for the long tests")
def test_a_frame_of_pandas_alone_is_refused_with_advice(tmp_path):
    runs(environment(tmp_path / "pandas", ["pandas"]), ALONE, tmp_path)


@pytest.mark.skipif("MTDS_ALL" not in os.environ, reason="MTDS_ALL asks for the long tests")
@pytest.mark.parametrize(("versions", "kind"), [("<1", "InferenceData"), (">=1", "DataTree")])
def test_posteriors_go_to_arviz_of_both_kinds(tmp_path, versions, kind):
    chosen = sys.executable if versions == "<1" else newer_python()
    if chosen is None:
        pytest.skip("no Python 3.12 or later for ArviZ 1")
    python = environment(tmp_path / "arviz", [f"arviz{versions}"], chosen)
    runs(python, LEARN + ARVIZ.replace("KIND", repr(kind)), tmp_path)

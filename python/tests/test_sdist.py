"""The source distribution: what is in it, and that a wheel comes out of it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import REPOSITORY
from test_install import LEARN, PLAIN, environment, runs

CRATES = ["mtds", "mtds-cuda", "mtds-data", "mtds-py"]


def maturin() -> str:
    """The one of this environment, which need not be on the path."""
    beside = Path(sys.executable).with_name("maturin")
    found = str(beside) if beside.exists() else shutil.which("maturin")
    if found is None or shutil.which("cargo") is None:
        pytest.skip("no maturin and cargo to make a source distribution with")
    return found


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    words = [maturin(), "sdist", "--out", folder]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("pymtds-*.tar.gz"))


@pytest.fixture(scope="module")
def source(archive, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return next(folder.iterdir())


def files_of(folder: Path, pattern: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob(pattern)}


def test_all_that_is_compiled_is_there(source):
    for crate in CRATES:
        ours, theirs = (root / "crates" / crate / "src" for root in (REPOSITORY, source))
        assert files_of(theirs, "*.*") == files_of(ours, "*.*")
    package = files_of(REPOSITORY / "python" / "pymtds", "*.py*")
    package = {name: content for name, content in package.items() if not name.endswith(".pyc")}
    assert files_of(source / "python" / "pymtds", "*.py*") == package
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "Cargo.lock", "PKG-INFO", "docs/python.md"):
        assert (source / name).exists(), name
    # What crates take in as they are compiled.
    for path in source.rglob("*.rs"):
        compiled = re.sub(r"#\[cfg\(doctest\)\]\n.*\n", "", path.read_text(encoding="utf-8"))
        for name in re.findall(r'include(?:_str|_bytes)?!\("([^"]+)"\)', compiled):
            assert (path.parent / name).exists() or "tests" in path.stem or "tests" in path.parts, (
                path,
                name,
            )


def test_the_workspace_is_whole(source):
    manifest = (source / "Cargo.toml").read_text(encoding="utf-8")
    # Without the program there is nothing to build by default.
    assert "mtds-cli" not in manifest
    words = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    said = subprocess.run(words, cwd=source, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert sorted(package["name"] for package in json.loads(said.stdout)["packages"]) == CRATES


def test_it_is_no_larger_than_it_must_be(archive):
    assert archive.stat().st_size <= 2e6
    with tarfile.open(archive) as files:
        others = {name.split("/")[1] for name in files.getnames()}
    assert others <= {
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "PKG-INFO",
        "crates",
        "docs",
        "pyproject.toml",
        "python",
    }


@pytest.mark.skipif("MTDS_ALL" not in os.environ, reason="MTDS_ALL asks for the long tests")
def test_a_wheel_is_built_from_it_and_works(archive, tmp_path):
    words = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps", "--quiet"]
    done = subprocess.run(
        [*words, "--wheel-dir", tmp_path, archive], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    wheel = next(tmp_path.glob("pymtds-*.whl"))
    runs(environment(tmp_path / "empty", [], wheel=wheel), LEARN + PLAIN, tmp_path)

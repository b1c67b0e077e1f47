"""Examples in the documentation are run: a docstring that is wrong is worse than none."""

import doctest
import importlib
import json
import os
import pkgutil
import re
import tokenize
from pathlib import Path

import pytest
from conftest import REPOSITORY, rows

import pymtds

MODULES = ["pymtds", *(f"pymtds.{module.name}" for module in pkgutil.iter_modules(pymtds.__path__))]
OPTIONAL = {"pymtds.sktime": "sktime", "pymtds.nixtla": "pandas"}


@pytest.mark.parametrize("name", [name for name in MODULES if name != "pymtds._core"])
def test_examples_of_the_docstrings_say_what_comes_out(name, model):
    if name in OPTIONAL:
        pytest.importorskip(OPTIONAL[name])
    given = {"family_frame": rows().to_pandas(), "new_frame": rows(1, 8, seed=9).to_pandas(), "model": model}
    found = importlib.import_module(name)
    for example in doctest.DocTestFinder().find(found, extraglobs=given):
        failures = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed
        assert failures == 0, example.name


def test_the_tour_runs(tmp_path, monkeypatch):
    page = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/python.md", "exec"), {})
    assert (tmp_path / "decays-model" / "config.json").exists()


@pytest.mark.parametrize("name", ["patients", "styles"])
def test_the_notebooks_run(name):
    notebook = json.loads((REPOSITORY / "docs" / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    known: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{name}.ipynb {cell['id']}", "exec"), known)
    assert known["model"]._repr_html_()


def test_no_file_is_long():
    for path in Path(REPOSITORY, "python").rglob("*.py"):
        with tokenize.open(path) as text:
            assert len(text.readlines()) <= 600, path


def test_public_names_are_documented():
    for name in pymtds.__all__:
        found = getattr(pymtds, name)
        if callable(found):
            assert found.__doc__, name
    assert os.path.exists(Path(pymtds.__file__).parent / "py.typed")

"""The settings that `fit` takes are those of the library, with their meaning."""

import os
from pathlib import Path

from pymtds import _core

KINDS = {
    "usize": "int",
    "u64": "int",
    "f64": "float",
    "bool": "bool",
    "String": "str",
    "Vec<usize>": "Sequence[int]",
    "Vec<String>": "Sequence[str]",
}
WRITTEN = Path(__file__).parents[1] / "pymtds" / "_settings.py"


def text() -> str:
    lines = [
        '"""Settings of a fit, as the library has them.',
        "",
        "`MTDS_WRITE_API=1 pytest python/tests/test_settings.py` writes this file anew.",
        '"""',
        "",
        "from collections.abc import Sequence",
        "from typing import TypedDict",
        "",
        '__all__ = ["Settings"]',
        "",
        "",
        "class Settings(TypedDict, total=False):",
        '    """What may be asked of a fit; what is left out is chosen from the data."""',
        "",
    ]
    for name, kind, _topic, about in _core.settings():
        # Names of rules are text.
        lines += [f"    {name}: {KINDS.get(kind, 'str')}", f'    """{about}"""']
    return "\n".join(lines) + "\n"


def test_every_setting_of_the_library_has_a_type_and_its_meaning():
    if os.environ.get("MTDS_WRITE_API"):
        WRITTEN.write_text(text(), encoding="utf-8")
    assert WRITTEN.read_text(encoding="utf-8") == text()

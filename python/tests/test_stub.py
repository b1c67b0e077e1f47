"""The stub of the compiled half is what maturin reads out of it."""

import os
from pathlib import Path

import pytest

WRITTEN = Path(__file__).parents[1] / "pymtds" / "_core.pyi"


@pytest.mark.skipif("MTDS_STUBS" not in os.environ, reason="MTDS_STUBS names no folder of generated stubs")
def test_the_stub_is_the_one_that_is_generated():
    found = Path(os.environ["MTDS_STUBS"], "pymtds", "_core.pyi").read_text(encoding="utf-8")
    if os.environ.get("MTDS_WRITE_API"):
        WRITTEN.write_text(found, encoding="utf-8")
    assert WRITTEN.read_text(encoding="utf-8") == found

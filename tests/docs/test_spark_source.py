"""docs/spark.md: the examples of `format("odradek")` run as they stand, one after the other."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from odradek.compat.spark import connector_jars
from odradek.compat.spark.source.options import OPTIONS

from tests.docs.spark_page import AFTER, BEFORE, blocks, section

HEADING = 'format("odradek")'
PAGE = section(HEADING)


@pytest.mark.spark
@pytest.mark.slow
def test_every_example_runs(tmp_path: Path) -> None:
    connector_jars()
    before = BEFORE.format(directory=str(tmp_path / "data"), copy=str(tmp_path / "copy"))
    program = "\n".join([before, *blocks(HEADING, "python"), AFTER])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=500, cwd=tmp_path
    )
    assert done.returncode == 0, textwrap.shorten(done.stderr[-3000:], 3000)


def test_every_option_is_reported() -> None:
    documented = {name for name in OPTIONS if f"`{name}`" in PAGE or f'"{name}"' in PAGE}
    assert set(OPTIONS) - documented == {"path", "checkpointLocation"}, "these are Spark's own"

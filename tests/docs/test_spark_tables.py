"""docs/spark.md: the examples with Delta and Iceberg run as they stand, one after the other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from odradek.compat.java.jars import resolve
from odradek.compat.spark.connector import PROVIDED

from tests.docs.spark_page import AFTER, BEFORE, blocks

PACKAGES = '"spark.jars.packages": ",".join(packages)'
COORDINATES = r'"([\w.]+:[\w.-]+:[\w.-]+)"'


@pytest.mark.spark
@pytest.mark.slow
def test_every_example_runs(tmp_path: Path) -> None:
    """With archives of the cache, where Spark would ask Ivy for them."""
    text = "\n".join(blocks("Delta and Iceberg", "python"))
    archives = [
        str(path)
        for each in re.findall(COORDINATES, text)
        for path in resolve(each.split(":")[1], [each], exclude=PROVIDED).glob("*.jar")
    ]
    assert PACKAGES in text
    text = text.replace(PACKAGES, f'"spark.jars": {",".join(archives)!r}')
    before = BEFORE.format(directory=str(tmp_path / "data"), copy="")
    program = "\n".join([before, text, AFTER])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=500, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-3000:]

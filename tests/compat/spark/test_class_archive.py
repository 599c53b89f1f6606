"""The archive of Spark's classes is made once, and taken by the sessions that follow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from odradek.compat import Unavailable
from odradek.compat.java.jars import cache_dir
from odradek.compat.spark import __main__ as preparing
from odradek.compat.spark import class_archive
from odradek.compat.spark.class_archive import archive, java_options
from odradek.compat.spark.session import local_settings

OPTIONS = "spark.driver.extraJavaOptions"
# With -Xshare:on a JVM that cannot take its archive does not start.
JOB = f"""
import sys
from odradek.compat.spark import spark_session
from odradek.compat.spark.session import local_settings

options = local_settings()["{OPTIONS}"].replace(*sys.argv[1:3]) + " -Xshare:on"
print(spark_session("tests", **{{"{OPTIONS}": options}}).range(3).count())
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, with the archives that are resolved."""
    path = tmp_path / "cache"
    path.mkdir()
    for each in cache_dir().iterdir():
        if each.is_dir():
            (path / each.name).symlink_to(each)
    monkeypatch.setenv("ODRADEK_CACHE", str(path))
    return path


def session(*replaced: str) -> subprocess.CompletedProcess[str]:
    """Counts to three with Spark, after something was replaced in the options of its JVM."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_")}
    command = [sys.executable, "-c", JOB, *replaced]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_an_archive_that_is_made_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert java_options() == ""
    assert preparing.main() == 0
    output = capsys.readouterr().out
    assert f"classes:   {archive()} (" in output
    assert str(archive()) in local_settings()[OPTIONS]
    assert session("", "").stdout.split() == ["3"]
    assert "3" not in session(str(archive()), f"{archive()}.not-there").stdout.split()


def test_what_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(class_archive, "pyspark_version", lambda: "0.0.0")
    monkeypatch.setattr(preparing, "_PROGRAM", "raise SystemExit('no memory')")
    monkeypatch.setattr(preparing, "connector_jars", lambda: "here")
    assert preparing.main() == 1
    assert capsys.readouterr().err == "there is no archive of Spark's classes: no memory\n"
    with pytest.raises(Unavailable, match="no memory"):
        preparing.make_archive()

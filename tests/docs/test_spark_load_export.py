"""docs/spark.md, load and export: every example is run, in order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.commands import main

from tests.docs.spark_page import blocks, commands


def test_every_example_of_load_and_export_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (lines,) = blocks("load", "json")
    (tmp_path / "orders.jsonl").write_text(lines)
    with Emulator({"log.retention.ms": -1}) as kafka:
        for arguments, output in commands("load") + commands("export"):
            here = [each.replace("localhost:9092", kafka.bootstrap_servers) for each in arguments]
            assert main(here) == 0, arguments
            said = capsys.readouterr().out
            assert said.startswith(output.replace("localhost:9092", kafka.bootstrap_servers))
        for topic in ("orders", "copy"):
            values = {value or b"" for value in kafka.topic(topic).values()}
            assert values == set(lines.encode().splitlines())
    assert json.loads(said)["rows"] == 3
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 3
    folders = {
        path.parent.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.parquet")
    }
    assert Path("topic=orders/date=2026-01-31") in folders
    decoded = [json.loads(line) for line in (tmp_path / "decoded.jsonl").read_text().splitlines()]
    assert {line["value"]["id"] for line in decoded} == {1, 2, 3}

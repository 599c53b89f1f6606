"""docs/spark.md, diff, audit and profile: each example is run, in order, and says what is shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.commands import main

from tests.docs.spark_page import blocks, commands
from tests.storage.support.logs import flip


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the examples have: a directory `data`, its copy `copy`, and a file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (lines,) = blocks("load", "json")
    Path("orders.jsonl").write_text(lines)
    Path("changed.jsonl").write_text(lines.replace("3.0", "4.0"))
    for name, where in (("orders", "data"), ("changed", "copy")):
        load(f"{name}.jsonl", f"{where}/orders")
    assert main(["export", "data/orders", "orders.parquet"]) == 0


def load(source: str, target: str) -> None:
    columns = "--key", "customer", "--timestamp", "at"
    assert main(["load", source, target, "--create-topic", "3", *columns]) == 0


def runs(section: str, address: str, capsys: pytest.CaptureFixture[str]) -> list[int]:
    """Run the examples of a section, and compare what they say; return their statuses."""
    statuses = []
    capsys.readouterr()
    for arguments, output in commands(section):
        statuses.append(main([each.replace("localhost:9092", address) for each in arguments]))
        said = (
            capsys.readouterr()
            .out.replace(os.getcwd() + "/", "")
            .replace(address, "localhost:9092")
        )
        shown = output.rstrip("\n")
        assert said.startswith(shown), (arguments, said)
    return statuses


def test_diff(capsys: pytest.CaptureFixture[str]) -> None:
    with Emulator() as kafka:
        load("orders.jsonl", f"{kafka.bootstrap_servers}/orders")
        assert runs("diff", kafka.bootstrap_servers, capsys) == [1, 0, 1, 0, 1]


def test_audit(capsys: pytest.CaptureFixture[str]) -> None:
    with Emulator() as kafka:
        load("orders.jsonl", f"{kafka.bootstrap_servers}/orders")
        flip(next(path for path in Path("copy").rglob("*.log") if path.stat().st_size), 70)
        assert runs("audit", kafka.bootstrap_servers, capsys) == [0, 1, 0, 0]


def test_profile(capsys: pytest.CaptureFixture[str]) -> None:
    with Emulator() as kafka:
        load("orders.jsonl", f"{kafka.bootstrap_servers}/orders")
        assert runs("profile", kafka.bootstrap_servers, capsys) == [0, 0]
    assert "<svg" in Path("orders.html").read_text()

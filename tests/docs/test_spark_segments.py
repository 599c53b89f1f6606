"""docs/spark.md, segment files as Arrow: each example is run, in order, and says what is shown."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.spark.segments import SCHEMA, list_segments

from tests.docs.spark_page import blocks, section
from tests.storage.support.logs import flip
from tests.support.written import record, write_records

SECTION = "Segment files as Arrow"


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the examples have: a directory `data`, and a damaged copy of it."""
    monkeypatch.chdir(tmp_path)
    with Emulator(data_dir="data") as emulator:
        emulator.create_topic("orders", 1)
        for value in (b"first", b"second", b"third"):
            write_records(emulator.bootstrap_servers, "orders", 0, record(value))
    shutil.copytree("data", "damaged")
    path = Path("damaged/orders-0/00000000000000000000.log")
    flip(path, path.read_bytes().index(b"second"))


def test_the_examples() -> None:
    names: dict[str, Any] = {}
    shown = []
    for block in blocks(SECTION, "python"):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(block, names)
        shown.append(said.getvalue())
    assert shown == [*blocks(SECTION, "text"), ""]
    assert [each.partition for each in list_segments("made")] == [2]
    with Emulator(data_dir="made") as emulator:
        assert emulator.topic("orders").values() == [b"fourth", None]


def test_all_columns_are_named() -> None:
    text = section(SECTION)
    assert [name for name in SCHEMA.names if f"`{name}`" not in text] == []

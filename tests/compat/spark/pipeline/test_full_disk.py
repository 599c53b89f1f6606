"""What commands say when the disk is full: where it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from errno import EFBIG, EIO, ENOSPC
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.diff import buckets
from odradek.compat.spark.pipeline.diff.arrow import IDENTITY
from odradek.compat.spark.pipeline.diff.hashed import ROW, ROW_BYTES, Rows
from odradek.compat.spark.pipeline.errors import full_disk_names
from odradek.compat.spark.pipeline.writers import WRITERS

from tests.compat.spark.pipeline.compared import row, written
from tests.storage.support.logs import disk_full_at

SAID = {ENOSPC: "No space left on device", EFBIG: "File too large"}


def fill(format: str) -> None:
    """Write more than fits."""
    records = pa.RecordBatch.from_pydict({"topic": ["t" * 100] * 10_000})
    writer = WRITERS[format]("/dev/full", records.schema, "text")
    writer.write(records)
    writer.close()


@pytest.mark.parametrize("format", WRITERS)
def test_each_format_s_full_disk_is_named(format: str) -> None:
    with pytest.raises(OSError, match=SAID[ENOSPC]) as raised, full_disk_names("here"):
        fill(format)
    assert (raised.value.errno, raised.value.filename) == (ENOSPC, "here")


def test_other_errors_and_names_are_left() -> None:
    for error in (OSError(EIO, "I/O error"), OSError(ENOSPC, "full", "there")):
        with pytest.raises(OSError, match=str(error.strerror)) as raised, full_disk_names("here"):
            raise error
        assert raised.value is error


def test_rows_in_buckets_tell_of_a_disk_that_is_full_after_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of the index fits: numpy would say so, and not that the disk is full."""
    rows = np.frombuffer(np.random.default_rng(1).bytes(10_000 * ROW_BYTES), ROW)
    monkeypatch.setattr(buckets, "PIECE_ROWS", len(rows))
    with ExitStack() as until_end:

        def found() -> Iterator[Rows]:
            yield rows
            until_end.enter_context(disk_full_at(10_000))

        with pytest.raises(OSError, match=SAID[EFBIG]) as raised, full_disk_names("here"):
            buckets.write(str(tmp_path / "match.rows"), found(), IDENTITY, 4096)
    assert raised.value.filename == "here"


@pytest.mark.parametrize("format", WRITERS)
def test_export_names_the_directory(
    format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = written(tmp_path / "a.jsonl", [row(n, value=os.urandom(50).hex()) for n in range(2000)])
    out = tmp_path / f"out.{format}"
    with disk_full_at(20_000):
        assert main(["export", str(place), str(out), "--engine", "arrow"]) == 2
    parts = f"{out}.partial/parts"
    assert capsys.readouterr().err == f"odradek: {parts}: {SAID[EFBIG]}\n"
    assert os.listdir(parts) == []


@pytest.mark.parametrize("work", [True, False])
def test_diff_names_where_it_works(
    work: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "work"
    where.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path if work else where))
    place = str(written(tmp_path / "a.jsonl", [row(n) for n in range(2000)]))
    asked = ["--work", str(where)] if work else []
    with disk_full_at(20_000):
        assert main(["diff", place, place, "--engine", "arrow", *asked]) == 2
    assert capsys.readouterr().err == f"odradek: {where}: {SAID[EFBIG]}\n"
    assert os.listdir(where) == []

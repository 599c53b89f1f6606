"""The samples of `diff`: records that are read again, and no more than is needed of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from odradek.compat.spark.pipeline import rows
from odradek.compat.spark.pipeline.diff.classify import Tally, Where
from odradek.compat.spark.pipeline.diff.hashed import Comparison
from odradek.compat.spark.pipeline.diff.samples import fetch
from odradek.compat.spark.pipeline.files import Files, FileSplit

RECORDS = 1_000


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records each batch had that was read of a file."""
    monkeypatch.setattr(rows, "CHUNK_BYTES", 500)
    seen: list[int] = []
    read = FileSplit.records

    def counted(split: FileSplit) -> Iterator[pa.RecordBatch]:
        for batch in read(split):
            seen.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(FileSplit, "records", counted)
    return seen


@pytest.mark.parametrize("offsets", [True, False], ids=["with offsets", "without"])
def test_a_file_is_read_up_to_the_last_sample(
    offsets: bool, tmp_path: Path, batches: list[int]
) -> None:
    path = tmp_path / "a.jsonl"
    place = {"partition": 1, "offset": 0} if offsets else {}
    lines = [{"value": f"v{n}", **{k: v or n for k, v in place.items()}} for n in range(RECORDS)]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    tally = Tally(2)
    tally.samples["missing"] = [(Where(int(offsets), n, 0, 0), None) for n in (40, 3)]
    found = fetch(tally, (Files.at([str(path)]).splits(), []), Comparison("offset", (), False))
    assert [each.a["value"] for each in found["missing"] if each.a] == [b"v40", b"v3"]
    assert 40 < sum(batches) < 100

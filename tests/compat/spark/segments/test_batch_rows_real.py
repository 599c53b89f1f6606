"""Batches as rows are what Kafka's own dump tool prints of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.compat.real_kafka.dump_tool import dump
from odradek.compat.spark.segments import list_segments
from odradek.compat.spark.segments.batch_rows import read_batches

from tests.storage.support.mixed_log import BATCHES, write_mixed

pytestmark = [pytest.mark.real, pytest.mark.slow]

PRINTED = re.compile(r"^(baseOffset: .*)$", re.MULTILINE)
PAIR = re.compile(r"(\w+): (\S+)")
SAME = ["count", "baseOffset", "lastOffset", "baseSequence", "lastSequence", "producerId"]
SAME += ["producerEpoch", "position", "size", "magic", "crc"]
COLUMNS = {
    **dict(zip(SAME, SAME, strict=True)),
    "partitionLeaderEpoch": "leaderEpoch",
    "isTransactional": "transactional",
    "isControl": "control",
    "compresscodec": "codec",
    "isvalid": "crcOk",
}
"""What the tool prints, and the columns of the same."""


def test_they_say_the_same(tmp_path: Path) -> None:
    write_mixed(tmp_path)
    segments = list_segments(tmp_path)
    output = dump([Path(each.path) for each in segments]).output
    printed = [dict(PAIR.findall(line)) for line in PRINTED.findall(output)]
    rows = [row for each in segments for batch in read_batches(each) for row in batch.to_pylist()]
    assert len(printed) == len(rows) == BATCHES
    for line, row in zip(printed, rows, strict=True):
        found = {name: str(row[column]).lower() for name, column in COLUMNS.items()}
        assert found == {name: line[name].lower() for name in COLUMNS}
        assert int(row["maxTimestamp"].timestamp() * 1000) == int(line["CreateTime"])

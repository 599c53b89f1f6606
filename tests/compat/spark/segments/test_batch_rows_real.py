"""Batches as rows are what Kafka's own dump tool prints of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.compat.real_kafka.dump_tool import dump
from odradek.compat.spark.segments import list_segments
from odradek.compat.spark.segments.batch_rows import read_batches

from tests.storage.test_dump_tool import write

pytestmark = [pytest.mark.real, pytest.mark.slow]

PRINTED = re.compile(r"^(baseOffset: .*)$", re.MULTILINE)
PAIR = re.compile(r"(\w+): (\S+)")
COLUMNS = {
    **{"count": "count", "baseOffset": "baseOffset", "lastOffset": "lastOffset"},
    **{"baseSequence": "baseSequence", "lastSequence": "lastSequence", "position": "position"},
    **{"producerId": "producerId", "producerEpoch": "producerEpoch", "size": "size"},
    **{"partitionLeaderEpoch": "leaderEpoch", "isTransactional": "transactional"},
    **{"isControl": "control", "magic": "magic", "compresscodec": "codec", "crc": "crc"},
    **{"isvalid": "crcOk"},
}
"""What the tool prints, and the columns of the same."""


def test_they_say_the_same(tmp_path: Path) -> None:
    write(tmp_path)
    segments = list_segments(tmp_path)
    output = dump([Path(each.path) for each in segments]).output
    printed = [dict(PAIR.findall(line)) for line in PRINTED.findall(output)]
    rows = [row for each in segments for batch in read_batches(each) for row in batch.to_pylist()]
    assert len(printed) == len(rows) == 1500
    for line, row in zip(printed, rows, strict=True):
        found = {name: str(row[column]).lower() for name, column in COLUMNS.items()}
        assert found == {name: line[name].lower() for name in COLUMNS}
        assert int(row["maxTimestamp"].timestamp() * 1000) == int(line["CreateTime"])

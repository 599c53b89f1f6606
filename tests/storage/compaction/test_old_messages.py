"""Messages of magic 0 and 1 in a log that is compacted, by both maps and for both kinds of release.

What a real Kafka leaves of them: tests/clients/test_old_segments.py.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from odradek.storage.compaction import offset_map as compaction_map
from odradek.storage.compaction import run as compaction_run
from odradek.storage.compaction.offset_map import DictMap, TableMap
from odradek.storage.config import LogConfig
from odradek.wire.compression import Codec
from odradek.wire.errors import Error, Refused
from odradek.wire.legacy.as_batches import logged_batches, read_logged
from odradek.wire.legacy.message_sets import build_message, build_set

from tests.storage.support.logs import file, home, open_log, place
from tests.support.old_segments import Segments, T, batch, flipped, loose, wrapped

DAY_MS = 86_400_000
COMPACT = LogConfig(segment_bytes=1, cleanup_policy=frozenset({"compact"}))

_NEWER = [
    build_message((12, T, b"k1", None), 0),
    build_message((13, T, b"k3", b"new"), 1),
    build_set([(14, -1, b"k5", None), (15, -1, b"k8", b"new")], 0, codec=Codec.GZIP),
]
KEYED: Segments = {
    0: loose(0, [0, 1]) + wrapped(1, [2, 3, 4], Codec.LZ4) + wrapped(0, [5, 6], Codec.SNAPPY),
    7: wrapped(1, [7, 8], append_time=T + 90) + loose(1, [9]) + batch(10, 2),
    12: b"".join(_NEWER),
    16: batch(16, 1),
}
"""Keys 1, 3, 5 and 8 are there twice."""
MAPS = [
    DictMap,
    pytest.param(
        TableMap, marks=pytest.mark.skipif(not compaction_map.HAVE_C, reason="C is not built")
    ),
]


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("keeps", [True, False], ids=["up to 3.9", "since 4.0"])
def test_messages_are_compacted_as_records_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, keeps: bool
) -> None:
    monkeypatch.setattr(compaction_run, "offset_map", kind)
    place(tmp_path, KEYED)
    log = open_log(tmp_path, replace(COMPACT, keeps_old_formats=keeps))
    log.compactor.compact(T)
    data = b"".join(bytes(log.read(one.base_offset, 1 << 20)) for one in log.segments[:-1])
    found = [(header, read_logged(data, pos)) for pos, header in logged_batches(data)]
    assert [[r.offset for r in records] for _, records in found] == [
        *([0], [2, 4], [6], [7], [9], [10, 11], [12], [13], [14, 15]),
    ]
    magics = [0, 1, 0, 1, 1, 2, 0, 1, 0] if keeps else [2] * 9
    assert [header.magic for header, _ in found] == magics
    assert [header.codec for header, _ in found] == [0, 3, 2, 1, 0, 0, 0, 0, 1]
    assert [header.is_log_append_time for header, _ in found] == [n == 3 for n in range(9)]
    assert found[3][1][0].timestamp == found[3][0].max_timestamp == T + 90
    assert [found[1][0].base_offset, found[1][0].last_offset] == [2, 4]
    assert [r.timestamp for r in found[1][1]] == [T + 2, T + 4]
    horizons = [header.base_timestamp for header, _ in found if header.has_delete_horizon]
    assert horizons == ([] if keeps else [T + DAY_MS] * 2)
    log.close()


@pytest.mark.parametrize("keeps", [True, False], ids=["up to 3.9", "since 4.0"])
def test_old_tombstones_go_with_segments_written_long_before_the_last_clean_one(
    tmp_path: Path, keeps: bool
) -> None:
    place(tmp_path, KEYED)
    times = {0: T, 7: T + 5 * DAY_MS, 12: T, 16: T + 6 * DAY_MS}
    for base, time_ms in times.items():
        os.utime(file(tmp_path, base, ".log"), (time_ms / 1000,) * 2)
    log = open_log(tmp_path, replace(COMPACT, keeps_old_formats=keeps))
    log.compactor.cleaned_offset = 12
    log.compactor.compact(T)
    values = {
        r.key: r.value for _, buf, pos in log.reader.batches_from(0) for r in read_logged(buf, pos)
    }
    assert values[b"k8"] == b"new"
    assert b"k1" not in values
    assert b"k5" not in values
    log.close()


def test_the_last_message_that_may_be_cleaned_stays_even_without_a_key(tmp_path: Path) -> None:
    keyless = build_message((2, T, None, b"v"), 1)
    place(tmp_path, {0: loose(1, [0, 1]) + keyless, 3: batch(3, 1)})
    log = open_log(tmp_path, COMPACT)
    log.compactor.compact(T)
    assert [
        r.offset for _, buf, pos in log.reader.batches_from(0) for r in read_logged(buf, pos)
    ] == [*(0, 1, 2, 3)]
    log.close()


def test_a_damaged_message_is_not_compacted(tmp_path: Path) -> None:
    place(tmp_path, {**KEYED, 0: flipped(KEYED[0])})
    before = {path: path.read_bytes() for path in home(tmp_path).glob("*.log")}
    log = open_log(tmp_path, COMPACT, recovery_point=17)
    with pytest.raises(Refused) as refused:
        log.compactor.compact(T)
    assert refused.value.error == Error.CORRUPT_MESSAGE
    log.close()
    assert {path: path.read_bytes() for path in home(tmp_path).glob("*.log")} == before

"""`audit` on offsets: a log start past the end, and offsets that are missing inside a segment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.audit.batches import MAY_BE_COMPACTED
from odradek.compat.spark.pipeline.audit.findings import Finding
from odradek.compat.spark.segments.writer import SegmentWriter
from odradek.emulator.cluster import Cluster
from odradek.storage import LogDirectory
from odradek.storage.checkpoints import (
    CLEANED_OFFSETS,
    HIGH_WATERMARKS,
    LOG_STARTS,
    META_PROPERTIES,
    RECOVERY_POINTS,
)
from odradek.storage.config import LogConfig

from tests.compat.spark.pipeline.audited import NODE, audit
from tests.storage.support.logs import append

SIZE = 200
LOG = f"{0:020d}.log"
POLICIES = {"plain": "delete", "kept": "compact", "both": "compact,delete"}
END = 9
MISSING = "offsets 3 to 4 are missing"
DAMAGE = [
    Finding("plain-0", LOG, MISSING, 3 * SIZE, 3, 5),
    Finding("plain-0", LOG, "offset 7 is missing", 5 * SIZE, 7, 8),
]


def create(cluster: Cluster) -> dict[str, bytes]:
    """The topics' ids."""
    return {
        name: cluster.create_topic(name, 1, {"cleanup.policy": policy}).id
        for name, policy in POLICIES.items()
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Batches of a record and 200 bytes in each topic; those of offsets 3, 4 and 7 are cut out, and
    the indexes made again."""
    path = tmp_path_factory.mktemp("offsets") / "data"
    with Emulator(data_dir=path) as emulator:
        ids = emulator.run(create)
    directory = LogDirectory.open(path, node_id=NODE)
    for name in POLICIES:
        log = directory.open_log(name, 0, ids[name], LogConfig(), 0)
        for offset in range(END):
            if offset not in (3, 4, 7):
                assert append(log, bytes(SIZE - 70), offset=offset).size == SIZE
    directory.close()
    return path


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "data"))


def checkpoint(data: Path, name: str, offset: int, partition: str = "kept 0") -> None:
    (data / name).write_text(f"0\n1\n{partition} {offset}\n")


def test_missing_offsets_are_damage_where_nothing_compacts(data: Path) -> None:
    assert audit(data).findings == DAMAGE
    assert audit(data / "plain").findings == DAMAGE
    assert audit(data / "plain-0" / LOG).findings == DAMAGE


def test_what_was_compacted_has_gaps(data: Path) -> None:
    checkpoint(data, CLEANED_OFFSETS, END, "plain 0")
    assert audit(data).findings == []


def test_what_was_compacted_in_part_may_have_gaps(data: Path) -> None:
    checkpoint(data, CLEANED_OFFSETS, 1, "plain 0")
    assert audit(data).findings == []


def test_gaps_below_the_log_start_are_no_matter(data: Path) -> None:
    checkpoint(data, LOG_STARTS, 5, "plain 0")
    assert [each.what for each in audit(data / "plain").findings] == ["offset 7 is missing"]


def test_gaps_that_a_repair_has_recorded_are_known(data: Path) -> None:
    entries = [
        json.dumps({"bytes": 0, "first_offset": first, "next_offset": after}) + "\n\n"
        for first, after in ((3, 5), (7, 8))
    ]
    (data / "plain-0" / f"{LOG}.damaged").write_text("".join(entries))
    assert [each for each in audit(data / "plain").findings if each.is_damage] == []


def test_without_a_policy_a_gap_is_a_remark(data: Path) -> None:
    (data / META_PROPERTIES).unlink()
    what = f"{MISSING}, and 1 more gap: {MAY_BE_COMPACTED}"
    assert audit(data / "plain").findings == [
        Finding("plain-0", LOG, what, 3 * SIZE, 3, is_damage=False)
    ]


def test_the_first_batch_of_a_segment_is_missing(data: Path) -> None:
    log = data / "plain-0" / LOG
    log.write_bytes(log.read_bytes()[SIZE:])
    found = audit(data / "plain").findings
    assert Finding("plain-0", LOG, "offset 0 is missing", 0, 0, 1) in found


def test_kept_offsets_of_an_export_are_no_damage(tmp_path: Path) -> None:
    """Their batches have holes, as those that a compaction leaves."""
    rows = pa.RecordBatch.from_pydict({"value": [b"v"] * 4, "offset": [0, 2, 10, 30]})
    with SegmentWriter(str(tmp_path / "new"), "sparse", 0, keep_offsets=True) as writer:
        writer.write(rows.slice(0, 2))
        writer.write(rows.slice(2))
    found = audit(tmp_path / "new" / "sparse").findings
    assert [each for each in found if each.is_damage] == []


def test_a_log_start_past_the_end_is_damage(data: Path) -> None:
    checkpoint(data, LOG_STARTS, END)
    assert audit(data / "kept").findings == []
    checkpoint(data, LOG_STARTS, 99_999_999)
    what = "log start 99999999 is past the log's end 9: a real Kafka deletes the log"
    assert audit(data / "kept").findings == [Finding("kept-0", LOG_STARTS, what, None, 0, END)]


def test_a_recovery_point_past_the_end_is_damage(data: Path) -> None:
    checkpoint(data, RECOVERY_POINTS, 20)
    what = "the log ends before its recovery point, 20"
    assert audit(data / "kept").findings == [Finding("kept-0", "", what, None, END, 20)]


def test_a_high_watermark_past_the_end_is_remarked_on(data: Path) -> None:
    checkpoint(data, HIGH_WATERMARKS, 20)
    what = "high watermark 20 is past the log's end 9: the log was longer"
    assert audit(data / "kept").findings == [
        Finding("kept-0", HIGH_WATERMARKS, what, None, END, is_damage=False)
    ]


# A topic that is not compacted any more.


def test_a_policy_that_was_another_one_makes_gaps_a_remark(data: Path) -> None:
    """As long as the metadata log tells it; and not that of a deleted topic of the same name."""
    with Emulator(data_dir=data) as emulator:
        change = ("topic", "kept", "--set", "cleanup.policy=delete")
        assert main(["configs", emulator.bootstrap_servers, *change]) == 0
    assert [each.is_damage for each in audit(data / "kept").findings] == [False]
    assert audit(data / "kept").findings[0].what.endswith(MAY_BE_COMPACTED)
    with Emulator(data_dir=data) as emulator:
        emulator.run(lambda cluster: cluster.metadata_upkeep.take_snapshot())
    assert [each.is_damage for each in audit(data / "plain").findings] == [True, True]

"""What a data directory has lost is told by `export` and by `format("odradek")`, or left out where
that is asked for, and what a repair has set aside comes back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.commands import main
from odradek.compat.spark.segments.damaged import Damaged
from odradek.compat.spark.source.offsets import DataLoss
from odradek.compat.spark.source.options import OptionError, read_options
from odradek.compat.spark.source.reader import BatchReader

from tests.compat.spark.pipeline.audited import audit
from tests.compat.spark.pipeline.damaged_batches import (
    DAMAGED_BATCHES,
    END,
    SIZE,
    M,
    build_more,
    content,
)
from tests.compat.spark.pipeline.damages import log, remove
from tests.storage.support.logs import flip

BY_NAME = {each[0]: each[1] for each in DAMAGED_BATCHES}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_more(tmp_path_factory.mktemp("lost") / "data")


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "data"))


def export(place: Path, out: Path, *options: str) -> tuple[int, list[int]]:
    """The exit code, and the offsets that were exported."""
    status = main(["export", str(place), str(out), *options])
    lines = out.read_text().splitlines() if out.exists() else []
    return status, [json.loads(line)["offset"] for line in lines]


def lose_middle(data: Path) -> None:
    remove(*(data / M).glob(f"{12:020d}.*"))


def lose_newest(data: Path) -> None:
    remove(*(data / M).glob(f"{24:020d}.*"))


def lose_partition(data: Path) -> None:
    shutil.rmtree(data / M)


# What is done; the offsets that are lost; what is said.
LOST: list[tuple[Callable[[Path], object], set[int], str]] = [
    (lose_middle, set(range(12, 24)), "offsets 12 to 23 are missing"),
    (lose_newest, set(range(24, 36)), "offsets 24 to 35 are missing"),
    (lose_partition, set(range(36)), "the partition is missing: offsets 0 to 35"),
    (BY_NAME["batch cut out"], set(range(16, 20)), "offsets 16 to 19 are missing"),
    (BY_NAME["empty segment"], set(range(12, 24)), "offsets 12 to 23 are missing"),
    (lambda p: flip(log(p, 12, partition=M), 100), set(range(12, 16)), "wrong checksum"),
    (BY_NAME["log start past the end"], set(range(36)), "log start 50 is past the log's end 36"),
    (BY_NAME["gzip payload"], set(range(16, 20)), "damaged gzip"),
]


@pytest.mark.parametrize(("damage", "lost", "said"), LOST)
def test_an_export_says_what_is_lost(
    data: Path,
    tmp_path: Path,
    damage: Callable[[Path], object],
    lost: set[int],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damage(data)
    assert export(data / "m", tmp_path / "all.jsonl") == (2, [])
    assert said in capsys.readouterr().err
    status, offsets = export(
        data / "m", tmp_path / "all.jsonl", "--skip-damage", "--overwrite", "--json"
    )
    assert (status, offsets) == (1, [each for each in range(END) if each not in lost])
    left_out = json.loads(capsys.readouterr().out)["left_out"]
    assert any(said in each["what"] for each in left_out)


def test_offsets_that_are_not_asked_for_are_not_missed(data: Path, tmp_path: Path) -> None:
    lose_middle(data)
    asked = "--from-offset", "24"
    assert export(data / "m", tmp_path / "all.jsonl", *asked) == (0, list(range(24, 36)))


def test_what_a_repair_has_recorded_is_not_missed(data: Path, tmp_path: Path) -> None:
    lose_middle(data)
    assert main(["repair", str(data)]) == 0
    status, offsets = export(data / "m", tmp_path / "all.jsonl")
    assert (status, offsets) == (0, [each for each in range(END) if not 12 <= each < 24])


@pytest.mark.parametrize("name", ["abort marker cut out", "abort marker, a bit"])
def test_aborted_records_stay_aborted_without_their_marker(
    data: Path, tmp_path: Path, name: str
) -> None:
    before = export(data / "tx", tmp_path / "before.jsonl")
    BY_NAME[name](data)
    assert export(data / "tx", tmp_path / "all.jsonl", "--skip-damage") == (1, before[1])
    assert main(["repair", str(data)]) == 0
    assert export(data / "tx", tmp_path / "repaired.jsonl") == before


def test_records_that_the_index_calls_aborted_stay_so_where_their_marker_says_commit(
    data: Path, tmp_path: Path
) -> None:
    before = export(data / "tx", tmp_path / "before.jsonl")
    BY_NAME["abort marker that says commit"](data)
    assert export(data / "tx", tmp_path / "all.jsonl") == before


def test_an_interrupted_export_blocks_none_that_replaces_it(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    flip(log(data, 24, partition=M), 100)
    assert export(data / "m", out) == (2, [])
    assert (tmp_path / "all.jsonl.partial" / "state.jsonl").exists()
    flip(log(data, 24, partition=M), 100)
    assert export(data / "m", out) == (2, [])
    assert export(data / "m", out, "--overwrite") == (0, list(range(END)))
    assert not (tmp_path / "all.jsonl.partial").exists()


def read(data: Path, **options: str) -> list[Any]:
    """What format("odradek") reads of `m`, without a session."""
    reader = BatchReader(
        read_options({"path": str(data), "subscribe": "m", **options}, stream=False)
    )
    return [
        row
        for piece in reader.partitions()
        for batch in reader.read(piece)
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize(("damage", "lost", "said"), LOST)
def test_a_data_frame_fails_for_what_is_lost(
    data: Path, tmp_path: Path, damage: Callable[[Path], object], lost: set[int], said: str
) -> None:
    assert len(read(data)) == END
    damage(data)
    with pytest.raises((Damaged, DataLoss), match=r"12|16|24|35|36"):
        read(data)
    if "missing" in said or "past" in said:
        assert len(read(data, failOnDataLoss="false")) == END - len(lost)
    report = tmp_path / "report"
    options = {"skipDamage": "true", "damageReport": str(report), "failOnDataLoss": "false"}
    assert len(read(data, **options)) == END - len(lost)
    if damage not in (lose_partition, lose_newest, BY_NAME["log start past the end"]):
        body = [each for file in report.iterdir() for each in json.loads(file.read_text())]
        assert any(said in each["what"] for each in body)


def test_a_wrong_checksum_is_a_column_where_it_is_wanted(data: Path) -> None:
    flip(log(data, 12, partition=M), 100)
    found = read(data, skipDamage="true", columns="offset,crcOk")
    assert [row["offset"] for row in found if not row["crcOk"]] == [12, 13, 14, 15]
    assert len(found) == END


def test_offsets_without_partitions_are_a_sentence(data: Path) -> None:
    with pytest.raises(OptionError, match="offsets are given by partition: "):
        read(data, startingOffsets="5")


@pytest.mark.parametrize(
    "name",
    [
        "gzip payload",
        "record count 0",
        "junk between two batches",
        "a batch twice, at the same offsets",
    ],
)
def test_what_was_set_aside_is_brought_back(data: Path, name: str) -> None:
    BY_NAME[name](data)
    before = {file: file.read_bytes() for file in (data / M).glob("*.log")}
    assert main(["repair", str(data)]) == 0
    assert {file: file.read_bytes() for file in (data / M).glob("*.log")} != before
    assert main(["repair", str(data), "--put-back"]) == 0
    assert {file: file.read_bytes() for file in (data / M).glob("*.log")} == before
    assert main(["repair", str(data)]) == 0
    assert [each for each in audit(data).findings if each.is_damage] == []


def test_a_good_batch_that_was_set_aside_is_read_again(data: Path) -> None:
    file = log(data, 12, partition=M)
    good = file.read_bytes()
    flip(file, 100)
    assert main(["repair", str(data)]) == 0
    aside = file.with_name(file.name + ".damaged")
    aside.write_bytes(aside.read_bytes().replace(_flipped(good), good[:SIZE]))
    assert main(["repair", str(data), "--put-back", "--topic", "m"]) == 0
    assert len(content(data, M)) == END
    assert file.read_bytes() == good


def _flipped(good: bytes) -> bytes:
    found = bytearray(good[:SIZE])
    found[100] ^= 1
    return bytes(found)

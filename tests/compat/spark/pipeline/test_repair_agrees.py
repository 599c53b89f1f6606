"""Each kind of damage, and what `audit` and `repair` say and do of it: they agree.

`python -m tests.compat.spark.pipeline.damage_table` prints the same as a table, with what a real
Kafka does.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek.compat.cli.repair import repaired

from tests.compat.spark.pipeline.audited import audit
from tests.compat.spark.pipeline.damaged_batches import (
    DAMAGED_BATCHES,
    EXTRA,
    PARTITIONS,
    build_more,
    content,
    lost_in,
)
from tests.compat.spark.pipeline.damages import DAMAGE, Expected, matches

ALL = [*DAMAGED_BATCHES, *DAMAGE]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_more(tmp_path_factory.mktemp("damaged") / "data")


@pytest.fixture(scope="module")
def before(built: Path) -> dict[str, dict[int, bytes | None]]:
    return {name: content(built, name) for name in PARTITIONS}


@pytest.mark.parametrize(
    ("damage", "expected"), [r[1:] for r in DAMAGED_BATCHES], ids=[r[0] for r in DAMAGED_BATCHES]
)
def test_damage_of_batches_is_named(
    built: Path, tmp_path: Path, damage: Callable[[Path], object], expected: list[Expected]
) -> None:
    data = Path(shutil.copytree(built, tmp_path / "data"))
    damage(data)
    found = audit(data)
    for each in expected:
        assert any(matches(one, each) for one in found.findings), (each, found.findings)
    assert (found.damages > 0) == any(each.is_damage for each in expected)


@pytest.mark.parametrize(("name", "damage", "expected"), ALL, ids=[r[0] for r in ALL])
def test_after_a_repair_an_audit_is_clean_and_only_the_damaged_is_lost(
    built: Path,
    before: dict[str, dict[int, bytes | None]],
    tmp_path: Path,
    name: str,
    damage: Callable[[Path], object],
    expected: list[Expected],
) -> None:
    data = Path(shutil.copytree(built, tmp_path / "data"))
    damage(data)
    unchanged = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    dry = repaired(str(data), True, None)
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == unchanged
    report = repaired(str(data), False, None)
    assert [each[:5] for each in report.findings] == [each[:5] for each in dry.findings]
    left = [each for each in audit(data).findings if each.is_damage]
    assert not left or report.status == 1, (left, report.findings)
    for partition in PARTITIONS:
        found = content(data, partition) if (data / partition).exists() else {}
        lost = {offset for offset in before[partition] if offset not in found}
        assert lost == lost_in(partition, expected) & set(before[partition])
        more = {offset for offset in found if offset not in before[partition]}
        assert more == EXTRA.get((name, partition), set())
        both = set(found) & set(before[partition])
        assert all(found[offset] == before[partition][offset] for offset in both)
    again = repaired(str(data), False, None)
    ours = [each for each in again.findings if not each.action.startswith("the next start")]
    assert [each for each in ours if not each.is_left] == []

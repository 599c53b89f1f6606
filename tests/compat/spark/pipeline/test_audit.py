"""`audit` on directories of our broker: clean as they are, each kind of damage found and named."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.audit.findings import Finding, shared
from odradek.compat.spark.pipeline.audit.joining import plan_audit
from odradek.compat.spark.pipeline.audit.segment_check import check_segment
from odradek.storage.checkpoints import read_meta_properties
from odradek.wire.records import build_batch, end_transaction_batch

from tests.compat.spark.pipeline.audited import NOW, audit, build, stored
from tests.compat.spark.pipeline.damages import DAMAGE, TX, Expected, T, killed, log, matches
from tests.storage.support.known_log import END
from tests.storage.support.logs import flip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("audited") / "data")


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "data"))


def test_a_sound_directory_is_clean(data: Path) -> None:
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    found = audit(data)
    assert found.findings == [
        Finding(TX, "", "an unfinished transaction of producer 2", None, 32, is_damage=False)
    ]
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before
    [t] = [each for each in found.partitions if each.topic == "t"]
    assert (t.segments, t.batches, t.records) == (3, END, END)
    assert (t.first_offset, t.next_offset) == (0, END)


def test_a_partition_is_not_listed_for_each_of_its_segments(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_audit(str(data / T), 0)
    assert plan is not None
    (tasks,) = plan.tasks.values()
    listed = []
    for name in ("listdir", "scandir"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda path, real=real: listed.append(path) or real(path))
    for task in tasks:
        check_segment(task)
    assert {str(data / T)}.isdisjoint(map(str, listed))


def test_after_a_kill_it_is_clean_too(data: Path) -> None:
    killed(data)
    (data / ".lock").touch()
    assert audit(data).damages == 0


@pytest.mark.parametrize(
    ("damage", "expected"), [r[1:] for r in DAMAGE], ids=[r[0] for r in DAMAGE]
)
def test_each_kind_of_damage_is_named(
    data: Path, damage: Callable[[Path], object], expected: list[Expected]
) -> None:
    damage(data)
    found = audit(data)
    for each in expected:
        assert any(matches(one, each) for one in found.findings), (each, found.findings)
    assert (found.damages > 0) == any(each.is_damage for each in expected)


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["audit", *arguments])
    return status, capsys.readouterr().out


def test_the_command_says_what_is_where(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = command(capsys, str(data / "t"))
    assert (status, text) == (
        0,
        f"{data}: 1 topic, 1 partition, 3 segments, 13 batches, 13 records, 2.6 kB: clean\n",
    )
    flip(log(data, 0), 290)
    status, text = command(capsys, str(data / "t-0"))
    assert status == 1
    assert text.splitlines()[1].split(maxsplit=5) == [
        *("damage", T, f"{0:020d}.log", "200", "1"),
        "the batch at byte 200 has a wrong checksum (200 bytes)",
    ]
    status, text = command(capsys, str(log(data, 0)), "--json")
    [finding] = json.loads(text)["findings"]
    assert (finding["kind"], finding["byte"], finding["offset"]) == ("damage", 200, 1)
    assert command(capsys, str(log(data, 5)))[0] == 0


def test_remarks_count_if_asked(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(capsys, str(data))[0] == 0
    status, text = command(capsys, str(data), "--strict", "--json")
    assert (status, json.loads(text)["remarks"]) == (1, 1)


def test_what_is_no_place_is_said(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").touch()
    for place, said in (
        (tmp_path / "nothing" / "there", "there: no such file or directory"),
        (tmp_path, "is no data directory: there is no meta.properties and no partition in it"),
        (tmp_path / "a.txt", "a.txt is no segment: audit takes a data directory, or a part"),
        (data / "missing", f"{data} has no topic missing"),
    ):
        assert main(["audit", str(place)]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["x", "-1", "inf", "nan"])
def test_minutes_are_a_number(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["audit", "data", "--jump", wrong])
    assert f"not a number of minutes from 0 to 1e9: '{wrong}'" in capsys.readouterr().err


def test_a_marker_has_the_time_at_which_it_was_written(tmp_path: Path) -> None:
    """Times of records are their producer's: only these are compared."""
    late = end_transaction_batch(
        True,
        base_offset=1,
        timestamp=NOW + 10**9,
        producer_id=1,
        producer_epoch=0,
        coordinator_epoch=0,
        leader_epoch=0,
    )
    home = stored(
        tmp_path,
        [
            build_batch([(NOW, None, b"x", ())], leader_epoch=0),
            late,
            build_batch([(NOW, None, b"y", ())], base_offset=2, leader_epoch=0),
        ],
    )
    assert [each.what for each in audit(home).findings if "times" in each.what] == []


def test_each_kind_of_remark_has_its_share_of_the_list() -> None:
    many = [
        Finding("t-0", "", f"times go back by {number} h", number, is_damage=False)
        for number in range(2, 800)
    ]
    few = [Finding("t-0", "", f"an unfinished transaction of producer {n}", n) for n in (1, 2)]
    few = [each._replace(is_damage=False) for each in few]
    damage = Finding("t-0", "a.log", "no batch at byte 7 (8 bytes)", 7)
    shown, more = shared([*many, *few, damage], 10)
    assert shown[0] == damage
    assert sorted(shown[1:], key=lambda each: each.what)[:2] == few
    assert len(shown) == 10
    assert more == {"times go back by 2 h": 791}
    assert shared([*many, *few, damage], 0)[0] == []


@pytest.mark.parametrize(("cluster", "status"), [("{}", 0), ("x" * 21 + "Q", 1)])
def test_a_directory_of_another_cluster_is_damage_where_one_is_named(
    data: Path, cluster: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    own = read_meta_properties((data / "meta.properties").read_bytes()).cluster_id
    found, text = command(capsys, str(data), "--cluster-id", cluster.format(own))
    assert found == status
    assert (f"cluster id {own}, not {cluster}" in text) == bool(status)

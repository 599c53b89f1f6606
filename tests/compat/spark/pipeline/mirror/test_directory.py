"""odradek mirror into a directory: which ours and a real Kafka open."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.broker import Cluster, Place, create_topic, topic_configs
from odradek.compat.spark.pipeline.broker.coordinator import commit_offsets, committed_offsets
from odradek.compat.spark.pipeline.broker.offsets import delete_records
from odradek.compat.spark.pipeline.mirror.directory import DirectoryTarget
from odradek.fixtures.kafka.disk import Disk

from tests.compat.spark.pipeline.clusters import (
    CONFIG,
    Writer,
    bounds,
    fill,
    mirror,
    options,
    seen,
)

Printed = pytest.CaptureFixture[str]


def test_the_bytes_are_the_sources(
    ours: Emulator, writer: Writer, tmp_path: Path, capsys: Printed
) -> None:
    fill(writer, "orders")
    found = mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("orders"))
    assert (found["created"], found["filled"], found["lag"]) == (["orders"], 0, 0)
    for partition in (0, 1):
        name = f"orders-{partition}/00000000000000000000.log"
        theirs = (ours.data_dir / name).read_bytes()
        assert (tmp_path / name).read_bytes() == theirs
    writer.write(("orders", 0), b"more")
    assert mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("orders"))["records"] == 1


def test_topics_without_records_are_there(
    ours: Emulator, writer: Writer, tmp_path: Path, capsys: Printed
) -> None:
    create_topic(writer.cluster, "empty", 3, configs={"retention.ms": "7000"})
    mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("empty"))
    assert sorted(path.name for path in tmp_path.glob("empty-*")) == [
        "empty-0",
        "empty-1",
        "empty-2",
    ]
    assert main(["audit", str(tmp_path), "--strict"]) == 0
    assert main(["export", f"{tmp_path}/empty", str(tmp_path / "out.parquet")]) == 0
    with (
        Emulator(CONFIG, data_dir=tmp_path) as opened,
        Cluster(opened.bootstrap_servers) as cluster,
    ):
        assert topic_configs(cluster, ["empty"]) == {"empty": {"retention.ms": "7000"}}
        assert bounds(opened.bootstrap_servers, "empty") == [(0, 0)] * 3


def test_gaps_that_the_source_has_are_no_damage(
    ours: Emulator, writer: Writer, tmp_path: Path, capsys: Printed
) -> None:
    """Of a topic that was compacted, and is not any more; also when a copy was killed."""
    create_topic(writer.cluster, "orders", 1, configs={"cleanup.policy": "compact"})
    for number in range(6):
        writer.write(("orders", 0), b"%d" % number, key=b"k%d" % (number % 2))
    assert ours.compact() == 1
    change = ("topic", "orders", "--set", "cleanup.policy=delete")
    assert main(["configs", ours.bootstrap_servers, *change]) == 0
    writer.write(("orders", 0), b"last")
    capsys.readouterr()
    assert mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("orders"))["lag"] == 0
    assert main(["audit", str(tmp_path), "--strict"]) == 0
    with Emulator(CONFIG, data_dir=tmp_path) as opened:
        opened.kill()
        opened.restart(clean=False)
        assert opened.notices == []
        found = seen(opened.bootstrap_servers, "orders")
    assert found == seen(ours.bootstrap_servers, "orders")
    assert [each.offset for each in found[0]] == [4, 5, 6]


def test_what_is_refused_leaves_no_directory(
    ours: Emulator, writer: Writer, tmp_path: Path, capsys: Printed
) -> None:
    create_topic(writer.cluster, "orders", 1)
    target = tmp_path / "copy"
    report = mirror(capsys, ours.bootstrap_servers, str(target), *options("order"), status=2)
    assert "there is no topic order at" in report["error"]
    assert not target.exists()
    report = mirror(capsys, str(tmp_path), ours.bootstrap_servers, *options("orders"), status=2)
    assert "is a directory: a mirror reads from a broker" in report["error"]


@pytest.mark.real
@pytest.mark.slow
def test_a_real_kafka_opens_it(
    real_clusters: tuple[str, str], tmp_path: Path, capsys: Printed
) -> None:
    """From a real one, too: with a log that begins later, and a group."""
    source = real_clusters[0]
    writer = Writer(source)
    fill(writer, "exported")
    create_topic(writer.cluster, "late", 1)
    for number in range(5):
        writer.write(("late", 0), b"%d" % number, b"next")
    delete_records(writer.cluster, ("late", 0), 5)
    commit_offsets(writer.cluster, "moving", {("exported", 0): 11})
    more = ("--groups", "moving")
    mirror(capsys, source, str(tmp_path), *options("exported", "late", *more))
    with RealKafka(config=CONFIG, data_dir=tmp_path) as kafka:
        opened = kafka.bootstrap_servers
        for topic in ("exported", "late"):
            assert seen(opened, topic) == seen(source, topic)
            assert bounds(opened, topic) == bounds(source, topic)
        assert bounds(opened, "late") == [(5, 10)]
        with Cluster(opened) as cluster:
            assert committed_offsets(cluster, "moving") == {("exported", 0): 11}
            assert topic_configs(cluster, ["exported"])["exported"] == {
                "max.message.bytes": "2000000"
            }
    writer.close()


def test_a_compacted_log_keeps_its_gaps(
    ours: Emulator, writer: Writer, tmp_path: Path, capsys: Printed
) -> None:
    create_topic(writer.cluster, "orders", 1, configs={"cleanup.policy": "compact"})
    for number in range(30):
        writer.write(("orders", 0), b"%d" % number, b"next", key=b"k%d" % (number % 3))
    while len(seen(ours.bootstrap_servers, "orders")[0]) > 3:
        ours.compact()
    mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("orders"))
    assert main(["audit", str(tmp_path / "orders")]) == 0
    with Emulator(CONFIG, data_dir=tmp_path) as opened:
        assert seen(opened.bootstrap_servers, "orders") == seen(ours.bootstrap_servers, "orders")


def test_a_log_begins_where_the_sources_does(
    ours: Emulator, writer: Writer, tmp_path: Path, capsys: Printed
) -> None:
    create_topic(writer.cluster, "orders", 1)
    for number in range(3):
        writer.write(("orders", 0), b"%d" % number, b"a", b"b")
    delete_records(writer.cluster, ("orders", 0), 4)
    mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("orders"))
    mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("orders"))
    assert (tmp_path / "orders-0/00000000000000000003.log").exists()
    assert main(["audit", str(tmp_path / "orders")]) == 0
    with Emulator(CONFIG, data_dir=tmp_path) as opened:
        assert bounds(opened.bootstrap_servers, "orders") == [(4, 9)]
        assert seen(opened.bootstrap_servers, "orders") == seen(ours.bootstrap_servers, "orders")


def test_a_directory_that_is_in_use(
    ours: Emulator, writer: Writer, tmp_path: Path, capsys: Printed
) -> None:
    fill(writer, "orders")
    with Emulator(CONFIG, data_dir=tmp_path):
        found = mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("orders"), status=2)
    assert f"the directory cannot be used: {tmp_path} is in use by another" in found["error"]


def test_a_full_disk_is_said_in_one_line(
    ours: Emulator,
    writer: Writer,
    tmp_path: Path,
    capsys: Printed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(writer, "orders")
    opened = DirectoryTarget.open

    def open_and_fill(target: DirectoryTarget, places: list[Place]) -> dict[Place, int | None]:
        found = opened(target, places)
        Disk(target._emulator._disk_rules).full()
        return found

    monkeypatch.setattr(DirectoryTarget, "open", open_and_fill)
    error = mirror(capsys, ours.bootstrap_servers, str(tmp_path), *options("orders"), status=2)
    assert error["error"].startswith("odradek: KAFKA_STORAGE_ERROR: ")
    assert error["error"].count("\n") == 1

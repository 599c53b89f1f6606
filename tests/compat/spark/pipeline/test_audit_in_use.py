"""`audit` of a directory that a broker has open: it says so, and takes no write for damage."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import confluent_kafka
import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.java.jars import jars
from odradek.compat.real_kafka import VERSION, RealKafka
from odradek.compat.spark.pipeline.audit.joining import audit_directory, plan_audit
from odradek.storage.checkpoints import CLEAN_SHUTDOWN, LOCK
from odradek.storage.disk.directory import Directory

from tests.compat.spark.pipeline.audited import audit, build, run
from tests.storage.support.logs import cut, flip

AUDITS = 8


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("audited") / "data")


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    """What a broker that writes leaves to be seen, but for its lock."""
    path = Path(shutil.copytree(built, tmp_path / "data"))
    (path / CLEAN_SHUTDOWN).unlink()
    return path


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    lock = Directory(path).lock(LOCK)
    try:
        yield
    finally:
        lock.release()


def newest(path: Path) -> Path:
    return path / "t-0" / f"{10:020d}.log"


def test_a_batch_that_is_being_written_is_no_damage(data: Path) -> None:
    cut(newest(data), 30)
    assert audit(data).damages == 1
    with in_use(data):
        found = audit(data)
    assert (found.damages, found.is_in_use) == (0, True)
    [torn] = [each for each in found.findings if each.file == newest(data).name]
    assert torn.what == "the batch at byte 400 is cut short (170 bytes), or is being written"
    assert (torn.byte, torn.offset, torn.is_damage) == (400, 12, False)


def test_other_damage_is_damage_also_while_it_is_in_use(data: Path) -> None:
    flip(newest(data), 290)
    cut(data / "t-0" / f"{0:020d}.log", 250)
    with in_use(data):
        damages = [each for each in audit(data).findings if each.is_damage]
    assert [each.file for each in damages] == [f"{0:020d}.log", newest(data).name]


def test_it_is_said_first(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut(newest(data), 30)
    with in_use(data):
        assert main(["audit", str(data)]) == 0
        first, _, row, *_ = capsys.readouterr().out.splitlines()
        assert first.startswith(f"{data} is in use by a broker: a batch that is cut short")
        assert row.split()[0] == "remark"
        assert main(["audit", str(data / "t"), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["in_use"] is True
    assert main(["audit", str(data / "t"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["in_use"] is False


def test_what_its_broker_removes_meanwhile_is_no_damage(data: Path) -> None:
    with in_use(data):
        plan = plan_audit(str(data), 3_600_000)
        assert plan is not None
        for suffix in (".log", ".index", ".timeindex"):
            (data / "t-0" / f"{0:020d}{suffix}").unlink()
        shutil.rmtree(data / "tx-0")
        assert [each.what for each in audit_directory(plan, run).findings if each.is_damage] == []


def test_an_index_that_is_cut_to_its_entries_while_it_is_read_is_no_damage(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = data / "t-0" / f"{10:020d}.timeindex"
    entries = index.read_bytes()
    index.write_bytes(entries.ljust(4096, b"\0"))
    read_bytes = Directory.read_bytes

    def read_meanwhile(directory: Directory, name: str) -> bytes:
        read = read_bytes(directory, name)
        if name == index.name and len(read) > len(entries):
            index.write_bytes(entries)
            return read[:1024]
        return read

    monkeypatch.setattr(Directory, "read_bytes", read_meanwhile)
    with in_use(data):
        assert [each.what for each in audit(data).findings if each.is_damage] == []
    assert index.read_bytes() == entries


def write_until(address: str, done: Event) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": address, "linger.ms": 1})
    while not done.wait(0.002):  # about 1 MB a second
        for _ in range(3):
            producer.produce("orders", bytes(700))
        producer.poll(0)
    assert producer.flush(30) == 0


@contextmanager
def written_to(address: str) -> Iterator[None]:
    done = Event()
    writer = Thread(target=write_until, args=(address, done))
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()


def assert_clean_while_written_to(data: Path) -> None:
    for _ in range(AUDITS):
        found = audit(data)
        assert found.is_in_use
        assert [each for each in found.findings if each.is_damage] == []
        time.sleep(0.1)


SMALL = {"log.segment.bytes": 20_000, "log.index.interval.bytes": 500}


def test_ours_is_clean_while_it_is_written_to(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Emulator(SMALL, data_dir=data, topics={"orders": 2}, version="3.9") as kafka:
        kafka.create_topic("gone").produce("x")
        kafka.delete_topic("gone")
        with written_to(kafka.bootstrap_servers):
            assert_clean_while_written_to(data)
    assert audit(data).is_in_use is False


@pytest.mark.real
@pytest.mark.slow
def test_a_real_kafkas_is_clean_while_it_is_written_to(tmp_path: Path) -> None:
    jars(VERSION)
    data = tmp_path / "data"
    config = {"log.segment.bytes": "1048576", "log.index.interval.bytes": "500"}
    with RealKafka(data_dir=data, config=config) as kafka, written_to(kafka.bootstrap_servers):
        time.sleep(1)
        assert_clean_while_written_to(data)
    assert audit(data).is_in_use is False

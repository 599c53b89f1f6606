"""The oracle itself: a real Apache Kafka that starts, restarts, survives a crash and cleans up."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek.compat import NewRecord, RealKafka, Unavailable, client
from odradek.compat.clients import Client, wait_until
from odradek.compat.java import jars
from odradek.compat.real_kafka import JVM, VERSION, class_archive
from odradek.compat.real_kafka.__main__ import main

CRASH = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "200"}


@pytest.fixture
def reader() -> Client:
    return client("confluent-kafka")


@pytest.fixture
def _archives() -> None:
    jars.java()
    jars.jars(VERSION)


@pytest.fixture
def start(request: pytest.FixtureRequest, _archives: None) -> Callable[..., RealKafka]:
    """Start a node that is closed at the end of the test."""

    def started(*args: object, **options: object) -> RealKafka:
        node = RealKafka(*args, **options)  # type: ignore[arg-type]
        request.addfinalizer(node.close)
        return node.start()

    return started


def test_an_archive_of_classes_is_taken_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kafka.jsa"
    monkeypatch.setattr(class_archive, "archive", lambda version: path)
    assert class_archive.java_options(VERSION) == []
    path.touch()
    assert f"-XX:SharedArchiveFile={path}" in class_archive.java_options(VERSION)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.long
def test_an_archive_of_classes_that_is_made_is_taken(
    start: Callable[..., RealKafka], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With -Xshare:on a JVM that cannot take its archive does not start."""
    (tmp_path / jars.jars(VERSION).name).symlink_to(jars.jars(VERSION))
    monkeypatch.setenv("ODRADEK_CACHE", str(tmp_path))
    assert main([VERSION]) == 0
    only_with_it = [*JVM, "-Xshare:on"]
    assert start(jvm=only_with_it).bootstrap_servers
    path = class_archive.archive(VERSION)
    path.unlink()
    path.write_bytes(b"no archive")
    with pytest.raises(RuntimeError, match="ended with 1"):
        start(jvm=only_with_it)


@pytest.mark.real
def test_records_survive_a_restart_and_a_crash(
    start: Callable[..., RealKafka], reader: Client
) -> None:
    node = start(config=CRASH)
    address = node.bootstrap_servers
    reader.create_topic(address, "kept")
    reader.produce(address, "kept", [NewRecord(b"before")])

    node.restart()
    assert node.bootstrap_servers == address
    reader.produce(address, "kept", [NewRecord(b"between")])

    node.kill()
    node.start()
    reader.produce(address, "kept", [NewRecord(b"after")])
    records = reader.consume(address, "kept", count=3)
    assert [record.value for record in records] == [b"before", b"between", b"after"]


@pytest.mark.real
def test_a_directory_outlives_the_node_that_wrote_it(
    start: Callable[..., RealKafka],
    reader: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also one that is named from the working directory, which is not that of the node."""
    monkeypatch.chdir(tmp_path)
    first = start(data_dir="data", config={"num.partitions": "3"})
    assert first.data_dir == tmp_path / "data"
    reader.produce(first.bootstrap_servers, "auto", [NewRecord(b"x")], partition=2)
    assert reader.partitions(first.bootstrap_servers, "auto") == [0, 1, 2]
    first.close()

    dumped = first.tool(
        "org.apache.kafka.tools.DumpLogSegments",
        "--files",
        str(tmp_path / "data" / "auto-2" / "00000000000000000000.log"),
        "--print-data-log",
    )
    assert dumped.returncode == 0
    assert "payload: x" in dumped.stdout

    second = start(data_dir=tmp_path / "data")
    [record] = reader.consume(second.bootstrap_servers, "auto")
    assert (record.partition, record.offset, record.value) == (2, 0, b"x")


@pytest.mark.real
def test_a_node_that_cannot_start_says_why_and_leaves_nothing(
    start: Callable[..., RealKafka], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"log\.segment\.bytes"):
        start(config={"log.segment.bytes": "nonsense"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real
def test_an_older_version_starts_as_well_and_closing_leaves_nothing(
    start: Callable[..., RealKafka],
    reader: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    node = start("3.9.2")
    host, port = node.bootstrap_servers.split(":")
    assert reader.produce(f"{host}:{port}", "auto", [NewRecord(b"x")]) == [(0, 0)]
    node.close()
    node.close()

    assert list(tmp_path.iterdir()) == []
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect((host, int(port)))


@pytest.mark.real
@pytest.mark.usefixtures("_archives")
def test_a_node_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = """
import os, signal
from odradek.compat import RealKafka
node = RealKafka().start()
print(node.bootstrap_servers, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    host, port = done.stdout.strip().split(":")

    def nothing_is_left() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) != 0 and not list(tmp_path.iterdir())

    wait_until(nothing_is_left, "the port is free and the directory gone")


def test_without_java_it_is_unavailable_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("ODRADEK_CACHE", str(tmp_path / "cache"))
    with pytest.raises(Unavailable, match=r"^there is no `java` command in PATH"):
        RealKafka().start()
    assert not (tmp_path / "cache").exists()


def fake_command(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def fake_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for commands that stand before all others, and an empty cache."""
    tools = tmp_path / "bin"
    fake_command(tools, "java", "exit 0")
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("ODRADEK_CACHE", str(tmp_path / "cache"))
    return tools


def test_archives_are_resolved_once_and_appear_whole(fake_tools: Path, tmp_path: Path) -> None:
    script = f"""echo called >> {tmp_path}/calls
for word; do case "$word" in -DoutputDirectory=*) out="${{word#*=}}";; esac; done
mkdir -p "$out" && touch "$out/a.jar" """
    fake_command(fake_tools, "mvn", script)

    directory = jars.resolve("some", ["group:artifact:1"])

    assert jars.resolve("some", ["group:artifact:1"]) == directory
    assert jars.resolve("some", ["group:artifact:2"]) != directory
    assert [path.name for path in directory.iterdir()] == ["a.jar"]
    assert (tmp_path / "calls").read_text().split() == ["called", "called"]


def test_a_failed_resolution_gives_mavens_reason_and_leaves_nothing(
    fake_tools: Path, tmp_path: Path
) -> None:
    fake_command(fake_tools, "mvn", 'echo "[ERROR] no such artifact"; echo "[ERROR] hint"; exit 1')

    with pytest.raises(Unavailable, match=r"^Maven could not resolve some: \[ERROR\] no such"):
        jars.resolve("some", ["group:artifact:1"])

    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]

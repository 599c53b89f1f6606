"""odradek mirror --follow: what comes and goes in the source while it runs."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.spark.pipeline.broker import Cluster, create_topic
from odradek.compat.spark.pipeline.broker.coordinator import commit_offsets, committed_offsets
from odradek.compat.spark.pipeline.broker.topics import add_partitions
from odradek.compat.spark.pipeline.mirror import copying
from odradek.compat.spark.pipeline.mirror.copying import Done, Mirror, MirrorSettings
from odradek.compat.spark.pipeline.mirror.kept_offsets import KeptOffsets
from odradek.compat.spark.pipeline.progress_line import ProgressLine
from odradek.compat.spark.pipeline.stopping import Stop
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.primitives import NO_ID

from tests.compat.spark.pipeline.clusters import CONFIG, Writer, bounds, seen, until

COMMAND = [sys.executable, "-m", "odradek.compat.commands", "mirror"]


@contextmanager
def following(
    source: str, target: str, *topics: str, groups: tuple[str, ...] = ()
) -> Iterator[Done]:
    """A mirror that follows until the end of the block; what it has done by then."""
    settings = MirrorSettings(topics, groups, follow=True, refresh_s=0.2)
    stop, errors = Stop(), []
    with Cluster(source) as one, Cluster(target) as other:
        written = KeptOffsets(other, committed=True, fill_limit=100)
        mirror = Mirror(one, written, settings, stop, ProgressLine(quiet=True))

        def run() -> None:
            try:
                mirror.run()
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield mirror.done
        finally:
            stop.asked.set()
            thread.join(60)
    assert not thread.is_alive()
    assert errors == []


def same(source: str, target: str, topic: str) -> bool:
    """Whether the target has what the source has; False, too, while the topic is not there."""
    with Cluster(target) as cluster:
        (found,) = cluster.brokers.topics([topic])
        if found.error_code or any(part.leader_id < 0 for part in found.partitions):
            return False
    return bounds(target, topic) == bounds(source, topic) and seen(target, topic) == seen(
        source, topic
    )


def delete(cluster: Cluster, topic: str) -> None:
    request = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name=topic, topic_id=NO_ID)],
        topic_names=[topic],
        timeout_ms=10_000,
    )
    cluster.brokers.ask_controller(request, most=5)


def test_new_topics_partitions_and_offsets_are_taken_up(pair: tuple[str, str]) -> None:
    source, target = pair
    name = f"f-{uuid.uuid4().hex[:8]}"
    writer = Writer(source)
    with following(source, target, f"{name}*", groups=(name,)):
        create_topic(writer.cluster, name, 1)
        writer.write((name, 0), b"a", b"b")
        until(lambda: same(source, target, name))
        add_partitions(writer.cluster, name, 3)
        writer.write((name, 2), b"c")
        commit_offsets(writer.cluster, name, {(name, 0): 1, (name, 2): 1})
        until(lambda: same(source, target, name))
        with Cluster(target) as cluster:
            until(lambda: committed_offsets(cluster, name) == {(name, 0): 1, (name, 2): 1})
    writer.close()


def test_a_topic_that_is_deleted_in_the_source_ends_nothing(pair: tuple[str, str]) -> None:
    source, target = pair
    name = f"f-{uuid.uuid4().hex[:8]}"
    writer = Writer(source)
    for topic in (f"{name}.goes", f"{name}.stays"):
        create_topic(writer.cluster, topic, 1)
        writer.write((topic, 0), b"a")
    with following(source, target, f"{name}*") as done:
        until(lambda: same(source, target, f"{name}.goes"))
        delete(writer.cluster, f"{name}.goes")
        until(lambda: bool(done.deleted))
        writer.write((f"{name}.stays", 0), b"b")
        until(lambda: same(source, target, f"{name}.stays"))
    assert done.deleted == {f"{name}.goes"}
    assert [record.value for record in seen(target, f"{name}.goes")[0]] == [b"a"]
    writer.close()


def test_it_waits_without_being_busy(
    ours: Emulator, our_target: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nothing matches there is nothing to fetch, which is what it waits in otherwise."""
    steps: list[float] = []
    whole = copying.Mirror._pending

    def pending(mirror: Mirror) -> object:
        steps.append(time.monotonic())
        return whole(mirror)

    monkeypatch.setattr(copying.Mirror, "_pending", pending)
    with following(ours.bootstrap_servers, our_target.bootstrap_servers, "none*"):
        until(lambda: len(steps) > 3)
    assert steps[3] - steps[0] > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cluster", "directory"])
def test_killed_and_started_again(
    kind: str, ours: Emulator, our_target: Emulator, writer: Writer, tmp_path: Path
) -> None:
    source = ours.bootstrap_servers
    target = our_target.bootstrap_servers if kind == "cluster" else str(tmp_path / "copy")
    command = [*COMMAND, source, target, "--topics", "*", "--groups", "*", "--follow"]
    create_topic(writer.cluster, "orders", 2)
    for run in range(2):
        writer.write(("orders", run % 2), b"%d" % run)
        create_topic(writer.cluster, f"new{run}", 1)
        commit_offsets(writer.cluster, "billing", {("orders", 0): 1})
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(1.5)  # at any moment
        writer.write((f"new{run}", 0), b"a")
        process.send_signal(signal.SIGKILL)
        _, output = process.communicate()
        assert process.returncode == -signal.SIGKILL, output
    assert subprocess.run([*command[:-1]], capture_output=True, check=False).returncode == 0
    topics = ("orders", "new0", "new1")
    if kind == "cluster":
        assert all(same(source, target, topic) for topic in topics)
        return
    with Emulator(CONFIG, data_dir=target) as opened, Cluster(opened.bootstrap_servers) as cluster:
        assert all(same(source, opened.bootstrap_servers, topic) for topic in topics)
        assert committed_offsets(cluster, "billing") == {("orders", 0): 1}

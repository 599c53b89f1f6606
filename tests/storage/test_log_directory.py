"""A log directory: whose it is, what it remembers, and what it does with what it cannot read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from odradek.storage.config import LogConfig
from odradek.storage.log import Log
from odradek.storage.log_directory import LogDirectory, LogDirectoryError
from odradek.wire.errors import Refused

from tests.storage.support.logs import append, cut, disk_full_at, flip, read_all

A, B = bytes([1] * 16), bytes([2] * 16)
CONFIG = LogConfig(segment_bytes=200)
CLUSTER = "FFFFFFFFFFFFFFFFFFFFFQ"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kafka-logs"


def ids() -> Callable[[], bytes]:
    numbers = count(1)
    return lambda: next(numbers).to_bytes(16, "big")


def open_directory(path: Path, *, node_id: int = 1, cluster_id: str | None = None) -> LogDirectory:
    return LogDirectory.open(path, node_id=node_id, cluster_id=cluster_id, new_id=ids())


def open_logs(directory: LogDirectory, *partitions: int) -> list[Log]:
    return [directory.open_log("t", number, A, CONFIG, now_ms=0) for number in partitions]


@pytest.fixture
def closed(path: Path) -> Path:
    """Partitions 0 to 2 with 10, 11 and 12 records, in several segments, cleanly stopped."""
    directory = open_directory(path)
    for log in open_logs(directory, 0, 1, 2):
        for _ in range(10 + log.partition):
            append(log, b"x")
    directory.close()
    return path


@pytest.fixture
def reopened(closed: Path) -> Iterator[LogDirectory]:
    directory = open_directory(closed)
    yield directory
    directory.close()


# Whose it is.


def test_a_new_directory_belongs_to_whoever_opens_it(path: Path) -> None:
    directory = open_directory(path, node_id=7)
    assert (path / "meta.properties").read_text() == (
        "version=1\n"
        "cluster.id=AAAAAAAAAAAAAAAAAAAAAQ\n"
        "node.id=7\n"
        "directory.id=AAAAAAAAAAAAAAAAAAAAAg\n"
    )
    assert directory.properties[:3] == ("AAAAAAAAAAAAAAAAAAAAAQ", 7, bytes(15) + b"\2")
    assert (directory.clean, directory.partitions, directory.notices) == (False, {}, [])
    directory.close()


def test_a_cluster_id_that_is_given_is_taken(path: Path) -> None:
    open_directory(path, cluster_id=CLUSTER).close()
    directory = open_directory(path)
    assert directory.properties.cluster_id == CLUSTER
    directory.close()


def test_a_directory_id_is_made_up_if_it_is_missing(path: Path) -> None:
    path.mkdir()
    (path / "meta.properties").write_text(
        f"# by hand\nnode.id=1\nversion=1\ncluster.id={CLUSTER}\n"
    )
    directory = open_directory(path)
    made_up = directory.properties.directory_id
    assert made_up is not None
    directory.close()
    directory = LogDirectory.open(path, node_id=1)
    assert directory.properties.directory_id == made_up
    directory.close()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (f"version=1\nnode.id=2\ncluster.id={CLUSTER}\n", "belongs to node 2, not to node 1"),
        ("version=1\nnode.id=1\ncluster.id=other\n", f"cluster other, not to {CLUSTER}"),
        (f"node.id=1\ncluster.id={CLUSTER}\n", "meta.properties: version is missing"),
        (f"version=2\nnode.id=1\ncluster.id={CLUSTER}\n", "meta.properties, line 1: version '2'"),
        ("version=0\nbroker.id=1\n", "is of a broker with ZooKeeper"),
        ("version=1\nnode.id=1\n", "cluster.id is missing"),
    ],
)
def test_a_foreign_directory_is_refused_with_the_reason(
    path: Path, content: str, reason: str
) -> None:
    path.mkdir()
    (path / "meta.properties").write_text(content)
    for _ in range(2):  # the refusal unlocks it again
        with pytest.raises(LogDirectoryError, match=f"{path}.*{reason}"):
            open_directory(path, cluster_id=CLUSTER)
    assert (path / "meta.properties").read_text() == content


def test_a_directory_is_open_once(path: Path) -> None:
    directory = open_directory(path)
    with pytest.raises(LogDirectoryError, match=f"^{path} is in use by another broker$"):
        open_directory(path)
    directory.close()
    open_directory(path).close()


def test_a_directory_is_open_in_one_process(path: Path) -> None:
    program = (
        "import sys; from odradek.storage.log_directory import LogDirectory\n"
        "LogDirectory.open(sys.argv[1], node_id=1)"
    )
    directory = open_directory(path)
    other = [sys.executable, "-c", program, str(path)]
    failed = subprocess.run(other, capture_output=True, text=True, check=False)
    assert f"LogDirectoryError: {path} is in use by another broker" in failed.stderr
    directory.close()
    assert subprocess.run(other, check=False).returncode == 0


def test_what_is_no_directory_cannot_be_opened(path: Path) -> None:
    path.write_text("")
    with pytest.raises(LogDirectoryError, match="cannot be opened"):
        open_directory(path)


# What it remembers.


def test_a_clean_stop_leaves_marker_and_checkpoints_and_no_lock(closed: Path) -> None:
    assert (closed / ".kafka_cleanshutdown").read_text() == '{"version":0,"brokerEpoch":-1}'
    assert not (closed / ".lock").exists()
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        assert (closed / name).read_text() == "0\n3\nt 0 10\nt 1 11\nt 2 12\n"
    assert (closed / "log-start-offset-checkpoint").read_text() == "0\n0\n"


def test_a_directory_closed_cleanly_says_so_once(closed: Path) -> None:
    directory = open_directory(closed)
    assert directory.clean
    assert not (closed / ".kafka_cleanshutdown").exists()
    assert (closed / ".lock").exists()
    directory.close(clean=False)

    directory = open_directory(closed)
    assert not directory.clean
    directory.close()


def test_partitions_on_disk_are_listed_with_their_topics(reopened: LogDirectory) -> None:
    assert reopened.partitions == {("t", 0): A, ("t", 1): A, ("t", 2): A}
    assert reopened.high_watermarks == {("t", 0): 10, ("t", 1): 11, ("t", 2): 12}
    assert [log.log_end_offset for log in open_logs(reopened, 0, 1, 2)] == [10, 11, 12]
    assert reopened.notices == []


def test_partitions_that_stay_closed_keep_their_lines(closed: Path) -> None:
    directory = open_directory(closed)
    (log,) = open_logs(directory, 1)
    append(log, b"y")
    directory.close(high_watermarks={("t", 1): 5}, broker_epoch=9)
    assert (closed / "recovery-point-offset-checkpoint").read_text() == (
        "0\n3\nt 0 10\nt 1 12\nt 2 12\n"
    )
    assert (closed / "replication-offset-checkpoint").read_text() == (
        "0\n3\nt 0 10\nt 1 5\nt 2 12\n"
    )
    assert (closed / ".kafka_cleanshutdown").read_text() == '{"version":0,"brokerEpoch":9}'


def test_a_log_start_is_remembered_if_it_lies_inside_a_segment(closed: Path) -> None:
    directory = open_directory(closed)
    first, second, _ = open_logs(directory, 0, 1, 2)
    first.delete_records(3)
    second.delete_records(4)
    directory.checkpoint()
    assert (closed / "log-start-offset-checkpoint").read_text() == "0\n2\nt 0 3\nt 1 4\n"
    second.delete_old_segments(0)
    assert [log.segments[0].base_offset for log in (first, second)] == [0, 4]
    directory.checkpoint()
    assert (closed / "log-start-offset-checkpoint").read_text() == "0\n1\nt 0 3\n"
    directory.close()

    directory = open_directory(closed)
    assert [log.log_start_offset for log in open_logs(directory, 0, 1, 2)] == [3, 4, 0]
    directory.close()


def test_a_log_without_a_batch_is_in_no_checkpoint(path: Path) -> None:
    directory = open_directory(path)
    open_logs(directory, 0)
    directory.close()
    assert (path / "recovery-point-offset-checkpoint").read_text() == "0\n0\n"
    assert not (path / "t-0").exists()
    assert (path / ".kafka_cleanshutdown").exists()


def test_the_metadata_log_is_in_no_checkpoint_and_always_checked(path: Path) -> None:
    directory = open_directory(path)
    log = directory.open_log("__cluster_metadata", 0, A, CONFIG, now_ms=0)
    append(log, b"x"), append(log, b"y"), append(log, b"z")
    directory.close()
    assert "__cluster_metadata" not in (path / "recovery-point-offset-checkpoint").read_text()
    assert "__cluster_metadata" not in (path / "replication-offset-checkpoint").read_text()

    flip(path / "__cluster_metadata-0" / f"{0:020d}.log", 65)
    directory = open_directory(path)
    assert directory.clean
    log = directory.open_log("__cluster_metadata", 0, A, CONFIG, now_ms=0)
    assert log.log_end_offset == 3
    assert [(one.first_offset, one.next_offset) for one in log.reader.damages] == [(0, 1)]
    assert log.reader.after_damage(0) == 1
    assert "wrong checksum" in directory.notices[0]
    append(log, b"more")
    directory.close(clean=False)

    cut(max((path / "__cluster_metadata-0").glob("*.log")), 1)
    directory = open_directory(path)
    log = directory.open_log("__cluster_metadata", 0, A, CONFIG, now_ms=0)
    assert log.log_end_offset == 3
    assert "truncated" in directory.notices[1]
    directory.close()


def test_after_a_kill_every_log_is_recovered(closed: Path) -> None:
    directory = open_directory(closed)
    logs = open_logs(directory, 0, 1, 2)
    for log in logs:
        append(log, b"y")
    directory.checkpoint()
    append(logs[0], b"z")
    directory.close(clean=False)
    assert (closed / ".lock").exists()
    assert not (closed / ".kafka_cleanshutdown").exists()
    cut(max((closed / "t-1").glob("*.log")), 1)

    directory = open_directory(closed)
    logs = open_logs(directory, 0, 1, 2)
    assert [log.log_end_offset for log in logs] == [12, 11, 13]
    (notice,) = directory.notices
    assert notice.startswith("t-1/000000000000000000")
    assert "truncated" in notice
    directory.close()


def test_a_log_start_behind_what_was_lost_does_not_hide_what_comes_in_its_place(
    path: Path,
) -> None:
    directory = open_directory(path)
    (log,) = open_logs(directory, 0)
    append(log, b"a"), append(log, b"lost", b"lost"), log.delete_records(2)
    directory.checkpoint()
    directory.close(clean=False)
    (file,) = (path / "t-0").glob("*.log")
    cut(file, 1)
    (path / "recovery-point-offset-checkpoint").write_text("0\n0\n")
    (path / "t-0" / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")

    directory = open_directory(path)
    (log,) = open_logs(directory, 0)
    assert log.log_end_offset == 1
    append(log, b"b"), append(log, b"c")
    directory.close(clean=False)

    directory = open_directory(path)
    (log,) = open_logs(directory, 0)
    assert [value for _, value in read_all(log)][-2:] == [b"b", b"c"]
    directory.close()


def test_an_unclean_directory_stays_so_until_every_log_was_opened(closed: Path) -> None:
    directory = open_directory(closed)
    directory.close(clean=False)
    directory = open_directory(closed)
    open_logs(directory, 0, 2)
    directory.close()
    assert not (closed / ".kafka_cleanshutdown").exists()

    directory = open_directory(closed)
    assert not directory.clean
    open_logs(directory, 0, 1, 2)
    directory.close()
    assert (closed / ".kafka_cleanshutdown").exists()


def test_a_stop_on_a_full_disk_is_not_clean(closed: Path) -> None:
    directory = open_directory(closed)
    for log in open_logs(directory, 0, 1, 2):
        append(log, b"y", timestamps=[99])
    with (
        disk_full_at(11),
        pytest.raises(LogDirectoryError, match=f"{closed} was not closed cleanly.*too large"),
    ):
        directory.close()
    assert not (closed / ".kafka_cleanshutdown").exists()

    directory = open_directory(closed)
    assert not directory.clean
    assert [log.log_end_offset for log in open_logs(directory, 0, 1, 2)] == [11, 12, 13]
    directory.close()


def test_a_second_close_does_nothing(path: Path) -> None:
    directory = open_directory(path)
    directory.close()
    other = open_directory(path)
    directory.close()
    assert (path / ".lock").exists()
    other.close()


# Logs.


def test_a_log_is_open_once(reopened: LogDirectory) -> None:
    open_logs(reopened, 0)
    with pytest.raises(ValueError, match="t-0 is open"):
        open_logs(reopened, 0)


def test_a_deleted_log_can_be_made_anew(closed: Path) -> None:
    directory = open_directory(closed)
    open_logs(directory, 0)
    directory.delete_log("t", 0)
    assert not (closed / "t-0").exists()
    log = directory.open_log("t", 0, B, CONFIG, now_ms=0)
    assert log.log_end_offset == 0
    append(log, b"new")
    directory.close()

    directory = open_directory(closed)
    assert directory.partitions["t", 0] == B
    directory.close()
    with pytest.raises(KeyError):
        directory.delete_log("t", 5)


def test_a_topic_that_was_made_anew_elsewhere_does_not_take_over_old_data(closed: Path) -> None:
    directory = open_directory(closed)
    log = directory.open_log("t", 0, B, CONFIG, now_ms=0)
    assert log.log_end_offset == 0
    stray = "t-0." + "0" * 31 + "1-stray"
    assert directory.notices == [
        f"t-0: of another topic of that name; renamed to {stray}",
    ]
    assert (closed / stray / "partition.metadata").exists()
    append(log, b"new")
    directory.close()

    directory = open_directory(closed)
    assert directory.notices == []
    assert directory.partitions["t", 0] == B
    directory.close()
    assert (closed / stray).exists()


def test_a_half_removed_directory_is_removed(closed: Path) -> None:
    half = closed / ("t-0." + "a" * 32 + "-delete")
    (closed / "t-0").rename(half)
    directory = open_directory(closed)
    assert not half.exists()
    assert ("t", 0) not in directory.partitions
    (log,) = open_logs(directory, 0)
    assert log.log_end_offset == 0
    directory.close()
    assert "t 0 " not in (closed / "recovery-point-offset-checkpoint").read_text()


def test_a_directory_of_nobody_is_left_alone_and_named(closed: Path) -> None:
    (closed / "lost+found").mkdir()
    (closed / "notes.txt").write_text("x")
    directory = open_directory(closed)
    assert directory.notices == ["lost+found: not a partition's directory; left alone"]
    directory.close()
    assert (closed / "lost+found").exists()


def test_many_partitions_share_few_descriptors(path: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    directory = open_directory(path)
    logs = open_logs(directory, *range(200))
    for _ in range(2):
        for log in logs:
            append(log, b"x")
    assert len(list(Path("/dev/fd").iterdir())) - before < 150
    assert all(len(read_all(log)) == 2 for log in logs)
    directory.close()


# What it cannot read.


def test_without_readable_recovery_points_nothing_is_cut_after_a_clean_stop(closed: Path) -> None:
    (closed / "recovery-point-offset-checkpoint").write_text("0\n3\nt 0 10\n")
    flip(closed / "t-1" / f"{0:020d}.log", 65)
    directory = open_directory(closed)
    assert directory.clean
    assert directory.notices == [
        "recovery-point-offset-checkpoint, line 2: 3 entries announced, 1 found; "
        "kept as recovery-point-offset-checkpoint.malformed"
    ]
    assert [log.log_end_offset for log in open_logs(directory, 0, 1, 2)] == [10, 11, 12]
    directory.close()
    kept = closed / "recovery-point-offset-checkpoint.malformed"
    assert kept.read_text() == "0\n3\nt 0 10\n"


def test_without_recovery_points_every_log_is_checked_whole_after_a_kill(closed: Path) -> None:
    (closed / "recovery-point-offset-checkpoint").unlink()
    (closed / ".kafka_cleanshutdown").unlink()
    flip(closed / "t-1" / f"{0:020d}.log", 65)
    directory = open_directory(closed)
    assert [log.log_end_offset for log in open_logs(directory, 0, 1, 2)] == [10, 0, 12]
    directory.close()


@pytest.mark.parametrize("content", ["nonsense", None])
@pytest.mark.parametrize("epochs", [[0], [0, 4, 6]])
def test_a_log_start_that_is_lost_is_found_in_the_leader_epochs(
    path: Path, content: str | None, epochs: list[int]
) -> None:
    directory = open_directory(path)
    (log,) = open_logs(directory, 0)
    for number in range(8):
        append(log, b"x", epoch=sum(number >= start for start in epochs))
    log.delete_records(5)
    directory.close()
    lost = path / "log-start-offset-checkpoint"
    lost.unlink() if content is None else lost.write_text(content)

    directory = open_directory(path)
    (log,) = open_logs(directory, 0)
    assert log.log_start_offset == 5
    assert "log-start-offset-checkpoint" in directory.notices[0]
    assert directory.notices[1] == "t-0/starts at 5, according to its leader epochs"
    directory.close()


def test_a_lost_history_of_epochs_is_not_taken_for_a_log_start(path: Path) -> None:
    directory = open_directory(path)
    (log,) = open_logs(directory, 0)
    for _ in range(4):
        append(log, b"x", epoch=0)
    directory.close()
    (path / "log-start-offset-checkpoint").unlink()
    (path / "t-0" / "leader-epoch-checkpoint").write_text("0\n1\n3 4\n")  # as Kafka begins anew
    directory = open_directory(path)
    (log,) = open_logs(directory, 0)
    assert log.log_start_offset == 0
    directory.close()


@pytest.mark.parametrize("content", [None, "", "version: 0\ntopic_id: x"])
def test_a_directory_that_does_not_say_its_topic_is_taken_for_the_one_asked_for(
    closed: Path, content: str | None
) -> None:
    metadata = closed / "t-0" / "partition.metadata"
    metadata.unlink() if content is None else metadata.write_text(content)
    directory = open_directory(closed)
    assert directory.partitions["t", 0] is None
    (log,) = open_logs(directory, 0)
    assert log.log_end_offset == 10
    assert directory.notices[-1] == "t-0/partition.metadata: missing, written again"
    assert (closed / "t-0" / "partition.metadata.malformed").exists() == (content is not None)
    directory.close()
    assert open_directory(closed).partitions["t", 0] == A


def test_a_marker_counts_whatever_is_in_it(closed: Path) -> None:
    (closed / ".kafka_cleanshutdown").write_text("")
    directory = open_directory(closed)
    assert directory.clean
    directory.close()


def test_a_failing_disk_is_reported_by_the_log_that_meets_it(reopened: LogDirectory) -> None:
    (log,) = open_logs(reopened, 0)
    with disk_full_at(5), pytest.raises(Refused):
        append(log, b"x")
    assert log.log_end_offset == 10


def test_a_checkpoint_that_says_the_same_is_not_written_again(tmp_path: Path) -> None:
    directory = open_directory(tmp_path)
    (log,) = open_logs(directory, 0)
    append(log, b"x")
    directory.checkpoint()
    names = ("recovery-point-offset-checkpoint", "replication-offset-checkpoint")
    before = [(tmp_path / name).stat().st_ino for name in names]
    directory.checkpoint()
    assert [(tmp_path / name).stat().st_ino for name in names] == before
    append(log, b"y")
    directory.checkpoint()
    assert (tmp_path / names[0]).stat().st_ino == before[0]
    assert (tmp_path / names[1]).read_text() == "0\n1\nt 0 2\n"
    directory.close()

"""Damaged data directories, seen by clients: what can be read is served, the rest is an error."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main
from odradek.emulator.cluster import Cluster
from odradek.storage import LogDirectoryError
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from tests.requests.committed_offsets import commit
from tests.requests.fetch import fetch, values
from tests.requests.offsets import look_up
from tests.requests.produce import batch, produce
from tests.support.clock import NOW
from tests.support.cluster import client_of, open_cluster

ONE = len(batch(b"0"))
END = 13
CONFIGS = {"internal.segment.bytes": str(5 * ONE), "retention.ms": "-1"}


def log_file(path: Path, base: int, topic: str = "t") -> Path:
    return path / f"{topic}-0" / f"{base:020d}.log"


def flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


def fill(cluster: Cluster, topic: str, count: int = END) -> None:
    for number in range(count):
        records = batch(b"%x" % number, time=NOW + number)
        assert produce(client_of(cluster), records, topic=topic).error_code == 0


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """Topic `t` with segments at 0, 5 and 10 and a batch for each offset up to 12; `u` is alike."""
    cluster = open_cluster(tmp_path)
    for name in ("t", "u"):
        cluster.create_topic(name, 1, CONFIGS)
        fill(cluster, name)
    cluster.close()
    return tmp_path


def read(cluster: Cluster) -> list[bytes | None]:
    """What a consumer gets that steps over each offset that is an error: None stands for that."""
    found: list[bytes | None] = []
    while len(found) < END:
        answer = fetch(client_of(cluster), len(found))
        if answer.error_code == Error.NONE:
            found += values(answer)
        else:
            assert answer.error_code == Error.KAFKA_STORAGE_ERROR
            assert not answer.records
            found.append(None)
    return found


def all_but(*lost: int) -> list[bytes | None]:
    return [None if number in lost else b"%x" % number for number in range(END)]


def notices(cluster: Cluster) -> str:
    return "\n".join(cluster.log_dir.notices)


# Rows of the table in storage/damage.py: what is done; the offsets that are lost; what is said.
ROWS: list[tuple[str, Callable[[Path], object], list[int], str]] = [
    ("nothing", lambda path: None, [], ""),
    ("newest torn", lambda path: cut(log_file(path, 10), 9), [12], "offset 12"),
    ("bit, newest", lambda path: flip(log_file(path, 10), ONE + 65), [11], "wrong checksum"),
    ("bit, older", lambda path: flip(log_file(path, 5), ONE + 65), [6], "wrong checksum"),
    ("older torn", lambda path: cut(log_file(path, 0), 9), [4], "offset 4"),
    ("zeros behind", lambda path: extend(log_file(path, 10), bytes(500)), [], "truncated 500"),
    ("log lost", lambda path: log_file(path, 5).unlink(), [5, 6, 7, 8, 9], "offsets 5 to 9"),
    ("segment lost", lambda path: remove(path, "t-0/*05.*"), [5, 6, 7, 8, 9], "offsets 5 to 9"),
    ("indexes lost", lambda path: remove(path, "t-0/*.*index"), [], "missing"),
    ("time index lost", lambda path: remove(path, "t-0/*.timeindex"), [], "missing"),
    ("indexes empty", lambda path: empty(path, "*index"), [], "empty"),
    (
        "indexes odd",
        lambda path: extend(log_file(path, 0).with_suffix(".index"), b"x"),
        [],
        "rebuilt",
    ),
    ("snapshots lost", lambda path: remove(path, "t-0/*.snapshot"), [], ""),
    ("epochs lost", lambda path: remove(path, "t-0/leader*"), [], "missing"),
    (
        "epochs bad",
        lambda path: (path / "t-0/leader-epoch-checkpoint").write_text("?"),
        [],
        "epoch",
    ),
    (
        "no metadata",
        lambda path: remove(path, "t-0/partition.metadata"),
        [],
        "missing, written again",
    ),
    ("metadata bad", lambda path: (path / "t-0/partition.metadata").write_text(""), [], "kept as"),
    ("recovery points bad", lambda path: spoil(path, "recovery-point"), [], "kept as"),
    ("log starts bad", lambda path: spoil(path, "log-start"), [], "kept as"),
    ("high watermarks bad", lambda path: spoil(path, "replication"), [], "kept as"),
    ("cleaner bad", lambda path: spoil(path, "cleaner"), [], "kept as"),
    ("no recovery points", lambda path: remove(path, "recovery*"), [], "missing"),
    ("foreign directory", lambda path: (path / "lost+found").mkdir(), [], "left alone"),
    ("foreign file", lambda path: (path / "notes").write_text(""), [], ""),
    ("marker empty", lambda path: (path / ".kafka_cleanshutdown").write_text(""), [], ""),
    ("no quorum state", lambda path: remove(path, "__cluster*/quorum-state"), [], ""),
]


def cut(path: Path, count: int) -> None:
    path.write_bytes(path.read_bytes()[:-count])


def extend(path: Path, data: bytes) -> None:
    path.write_bytes(path.read_bytes() + data)


def remove(path: Path, pattern: str) -> None:
    for one in list(path.glob(pattern)):
        one.unlink()


def empty(path: Path, pattern: str) -> None:
    for one in (path / "t-0").glob(pattern):
        one.write_bytes(b"")


def spoil(path: Path, name: str) -> None:
    (path / f"{name}-offset-checkpoint").write_text("0\n1\nt 0")


@pytest.mark.parametrize(
    ("damage", "lost", "said"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS]
)
def test_nothing_readable_is_lost_and_what_is_wrong_is_said(
    closed: Path, damage: Callable[[Path], object], lost: list[int], said: str
) -> None:
    damage(closed)
    cluster = open_cluster(closed)
    assert read(cluster) == all_but(*lost)
    assert said in notices(cluster)
    answer = produce(client_of(cluster), batch(b"more"))
    assert (answer.error_code, answer.base_offset) == (0, END)
    assert values(fetch(client_of(cluster), END)) == [b"more"]
    cluster.close()

    again = open_cluster(closed)
    assert read(again)[:END] == all_but(*lost)
    assert values(fetch(client_of(again), END)) == [b"more"]
    again.close()


def test_a_search_by_time_over_damage_is_a_storage_error(closed: Path) -> None:
    flip(log_file(closed, 5), ONE + 65)
    cluster = open_cluster(closed)

    def search(time: int) -> tuple[int, int]:
        found = look_up(client_of(cluster), NOW + time)
        return found.error_code, found.offset

    assert search(5) == (0, 5)
    assert search(6)[0] == Error.KAFKA_STORAGE_ERROR
    assert search(10) == (0, 10)
    cluster.close()


def test_damage_is_logged_when_a_fetch_meets_it(
    closed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    flip(log_file(closed, 5), ONE + 65)
    cluster = open_cluster(closed)
    with caplog.at_level(logging.WARNING, "odradek"):
        for _ in range(2):
            read(cluster)
    (record,) = caplog.records
    name = log_file(closed, 5).name
    assert record.getMessage() == (
        f"t-0/{name}: damaged at byte {ONE} ({ONE} bytes, offset 6): "
        f"the batch at byte {ONE} has a wrong checksum"
    )
    cluster.close()


def test_deleted_records_stay_deleted_if_every_checkpoint_is_lost(closed: Path) -> None:
    cluster = open_cluster(closed)
    cluster.partition("t", 0).delete_records(7)
    cluster.close()
    for name in closed.glob("*-checkpoint"):
        name.unlink()
    cluster = open_cluster(closed)
    assert cluster.partition("t", 0).log_start_offset == 7
    assert "t-0/starts at 7" in notices(cluster)
    cluster.close()


def test_a_partition_whose_directory_is_gone_is_empty_and_named(closed: Path) -> None:
    shutil.rmtree(closed / "t-0")
    cluster = open_cluster(closed)
    assert cluster.partition("t", 0).log_end_offset == 0
    assert notices(cluster) == "t-0/the directory is gone; it was flushed up to 13"
    cluster.close()


def test_groups_are_loaded_around_damage(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path, offsets_topic_num_partitions="1")
    cluster.create_topic("t", 1, {})
    client = client_of(cluster)
    cluster.groups.ensure_topic()
    for group in ("a", "b", "c"):
        assert commit(client, 5, group=group) is Error.NONE
    cluster.close()
    (stored,) = (tmp_path / "__consumer_offsets-0").glob("*.log")
    data = stored.read_bytes()
    flip(stored, len(data) // 2)

    cluster = open_cluster(tmp_path, offsets_topic_num_partitions="1")
    assert "__consumer_offsets-0/" in notices(cluster)
    Group = OffsetFetchRequest.Group
    wanted = [Group(group_id=name, topics=None) for name in ("a", "b", "c")]
    answer = client_of(cluster).ask(OffsetFetchRequest(groups=wanted), 8)
    assert [len(group.topics) for group in answer.groups] == [1, 0, 1]
    cluster.close()


# The metadata log.


def metadata_log(path: Path) -> Path:
    (found,) = (path / "__cluster_metadata-0").glob("*.log")
    return found


def spoil_creation(path: Path, topic: str = "t") -> None:
    data = metadata_log(path).read_bytes()
    flip(metadata_log(path), data.index(b"\x02" + topic.encode()) + 1)


def test_a_flip_in_the_metadata_log_costs_no_other_topic(closed: Path) -> None:
    spoil_creation(closed)
    cluster = open_cluster(closed)
    assert [topic.name for topic in cluster.topics] == ["u"]
    assert "__cluster_metadata-0/" in notices(cluster)
    assert "t-0: of a topic that the cluster does not know; left alone" in notices(cluster)
    cluster.create_topic("v", 1, {})
    cluster.close()
    assert log_file(closed, 0).exists()

    cluster = open_cluster(closed)
    assert [topic.name for topic in cluster.topics] == ["u", "v"]
    cluster.close()


class Repaired(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def repair(path: Path, *options: str) -> Repaired:
    """`odradek repair`, as its main function is called by the command."""
    with redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()) as errors:
        status = main(["repair", str(path), *options])
    return Repaired(status, output.getvalue(), errors.getvalue())


def test_a_topic_that_the_metadata_log_lost_is_brought_back(closed: Path) -> None:
    spoil_creation(closed)
    dry = repair(closed, "--dry-run")
    assert dry.returncode == 1
    assert "  would be entered again, without its configs\n" in dry.stdout
    done = repair(closed)
    assert (done.returncode, done.stderr) == (0, "")
    assert "of a topic that the metadata log does not know" in done.stdout

    cluster = open_cluster(closed)
    assert notices(cluster) == ""
    assert read(cluster) == all_but()
    assert produce(client_of(cluster), batch(b"more")).base_offset == END
    cluster.close()
    assert repair(closed).stdout.endswith("no findings\n")


def test_a_torn_metadata_log_is_cut_and_says_so(closed: Path) -> None:
    cut(metadata_log(closed), 5)
    cluster = open_cluster(closed)
    assert "truncated" in notices(cluster)
    assert read(cluster) == all_but()
    cluster.close()


# The commands.


def test_repair_lets_a_consumer_go_on(closed: Path) -> None:
    flip(log_file(closed, 5), ONE + 65)
    dry = repair(closed, "--dry-run", "--topic", "t")
    assert dry.returncode == 1
    assert [line.split()[:4] for line in dry.stdout.splitlines()[:2]] == [
        ["PARTITION", "FILE", "BYTE", "OFFSETS"],
        ["t-0", log_file(closed, 5).name, str(ONE), "6"],
    ]
    assert repair(closed).returncode == 0
    with Emulator(data_dir=closed) as kafka:
        assert kafka.notices == []
        expected = [value for value in all_but(6) if value is not None]
        assert kafka.topic("t")[0].values() == expected


@pytest.mark.parametrize("topic", ["t", "__cluster_metadata", "__consumer_offsets"])
def test_repair_of_a_torn_tail_keeps_nobody_reading_for_ever(closed: Path, topic: str) -> None:
    with closing(open_cluster(closed, **{"offsets.topic.num.partitions": "1"})) as cluster:
        client_of(cluster).ask(FindCoordinatorRequest(key="g"), 2)
        for _ in range(2):
            assert commit(client_of(cluster), 3) is Error.NONE
        if topic == "__cluster_metadata":
            cluster.create_topic("last", 1, {})
        newest = max((closed / f"{topic}-0").glob("*.log"))
        torn = newest.read_bytes()[:-5]  # what a stop adds is behind the tear
    newest.write_bytes(torn)
    assert repair(closed).returncode == 0
    with Emulator(data_dir=closed) as kafka:
        assert kafka.notices == []
        assert len(kafka.topic("t")[0].records()) == END - (topic == "t")
        assert "last" not in kafka.topics()


def test_a_directory_in_use_is_not_repaired(closed: Path) -> None:
    with Emulator(data_dir=closed):
        done = repair(closed)
    assert done.returncode == 2
    assert done.stderr == f"odradek: {closed} is in use by another broker\n"
    assert repair(closed / "nowhere").returncode == 2


def test_serve_shows_at_the_start_what_is_wrong(closed: Path) -> None:
    cut(log_file(closed, 10), 9)
    serve = [sys.executable, "-m", "odradek.compat.cli", "serve", "--port", "0", "--data-dir"]
    process = subprocess.Popen(
        [*serve, str(closed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert f"t-0/{log_file(closed, 10).name}: damaged at byte {2 * ONE}" in errors


# Naming.


def test_the_documented_naming_from_the_emulator_down_to_the_files(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path, naming="documented", topics={"a_1": 2, "a": 2}) as kafka:
        kafka.run(lambda cluster: produced(cluster, "a_1", b"x"))
        kafka.run(lambda cluster: produced(cluster, "a", b"y"))
    assert {one.name for one in tmp_path.iterdir() if one.is_dir()} == {
        "__cluster_metadata_0",
        "a_1_0",
        "a_0",
    }
    names = {one.name for one in (tmp_path / "a_1_0").iterdir()}
    assert {"00000000000.kafka", "00000000000.index", "00000000000.timeindex"} < names
    shutil.rmtree(tmp_path / "a_0")
    (tmp_path / ".kafka_cleanshutdown").unlink()  # as after a kill
    with Emulator(data_dir=tmp_path, naming="documented") as kafka:
        assert kafka.topic("a_1")[0].values() == [b"x"]
        kafka.run(lambda cluster: produced(cluster, "a_1", b"z"))
        assert kafka.topic("a_1")[0].values() == [b"x", b"z"]
    assert repair(tmp_path).stdout.endswith("no findings\n")


def produced(cluster: Cluster, topic: str, value: bytes) -> None:
    assert produce(client_of(cluster), batch(value), topic=topic).error_code == 0


@pytest.mark.parametrize(("naming", "other"), [("kafka", "documented"), ("documented", "kafka")])
def test_a_directory_of_the_other_naming_is_refused_by_name(
    tmp_path: Path, naming: str, other: str
) -> None:
    with Emulator(data_dir=tmp_path, naming=naming):
        pass
    with pytest.raises(LogDirectoryError, match=f"{tmp_path} .*is named as '{naming}'"):
        Emulator(data_dir=tmp_path, naming=other).start()
    with Emulator(data_dir=tmp_path, naming=naming):
        pass
    with pytest.raises(ValueError, match="'Kafka', but kafka and documented"):
        Emulator(naming="Kafka")


def test_repair_of_a_topic_that_is_not_there_is_refused(closed: Path) -> None:
    done = repair(closed, "--topic", "t", "--topic", "typo")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"odradek: {closed} has no partition of a topic typo\n"


@pytest.mark.parametrize("path", ["", "nowhere", "a file"])
def test_repair_of_what_is_no_directory_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "a file").touch()
    done = repair(tmp_path / path if path else Path("\0"), "--topic", "t")
    assert done.returncode == 2
    assert done.stderr.startswith("odradek: ")

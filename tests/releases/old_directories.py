"""`python -m tests.releases.old_directories [RELEASE ...]`: record the directories of real brokers.

A broker of each release, with its ZooKeeper, is given topics, records in every format that it
takes, groups and transactions. What it answers is kept as `answers.json` beside its log directory
and ZooKeeper's, in `directories/RELEASE.tar.xz`. Needs Java and Kafka's archives.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from odradek.compat.real_kafka import RealKafka
from odradek.emulator.base.release import release_named
from odradek.emulator.releases.tables import numbers
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.sync_group import SyncGroupRequest
from odradek.wire.batch import OVERHEAD
from odradek.wire.compression import Codec
from odradek.wire.legacy.as_batches import header_of
from odradek.wire.legacy.message_sets import build_set
from odradek.wire.records import build_batch

from tests.differential.ask.records import fetch, produce
from tests.differential.engine.asker import Asker

from .brokers import VERSIONS

FOLDER = Path(__file__).with_name("directories")
OLD = ("0.10.2", "0.11.0", "1.1", "2.7")
LOGS, ZOOKEEPER, ANSWERS = "logs", "logs.zookeeper", "answers.json"
T = 1_600_000_000_000
TOPICS: dict[str, dict[str, str]] = {
    "plain": {"retention.ms": "-1"},
    "packed": {"retention.ms": "-1", "compression.type": "producer"},
    "oldest": {"retention.ms": "-1", "message.format.version": "0.9.0"},
    "table": {
        "retention.ms": "-1",
        "cleanup.policy": "compact",
        "segment.bytes": "400",
        "min.cleanable.dirty.ratio": "0.01",
    },
    "transactions": {"retention.ms": "-1"},
}
PARTITIONS = 2
GROUP, MEMBERS, TRANSACTION = "readers", "members", "payments"
SMALL = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "log.cleaner.backoff.ms": "200",
}
_KEPT_MS = 1 << 45
_WITH_NAMES = 12
_CODECS = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4)


class Old:
    """A broker of a release, asked in the newest versions that it serves."""

    def __init__(self, address: str, release: str) -> None:
        host, _, port = address.partition(":")
        self.release = release_named(release)
        self._asker = Asker((host, int(port)))

    def serves(self, kind: type[Any], version: int = 0) -> bool:
        return self.release.serves(kind.api_key, version)

    def ask(self, request: Any, version: int | None = None) -> Any:
        """The answer; in the newest version that knows topics by their names, if none is given."""
        last = min(self.release.advertised[request.api_key][1], _WITH_NAMES)
        return self._asker.ask(request, last if version is None else version)

    def close(self) -> None:
        self._asker.close()


def fill(old: Old) -> None:
    """Write what the directory is to have."""
    made = [
        CreateTopicsRequest.Topic(
            name=name,
            num_partitions=PARTITIONS,
            replication_factor=1,
            assignments=[],
            configs=[CreateTopicsRequest.Topic.Config(name=k, value=v) for k, v in sets.items()],
        )
        for name, sets in TOPICS.items()
    ]
    answer = old.ask(CreateTopicsRequest(topics=made, timeout_ms=30_000), 0)
    assert not any(each.error_code for each in answer.topics), answer
    for topic, partition, records, version in _produced(old):
        retried(lambda r=records, t=topic, p=partition, v=version: _put(old, r, t, p, v))
    if old.serves(InitProducerIdRequest):
        retried(lambda: _transactions(old))
    retried(lambda: _commit(old))


def _produced(old: Old) -> Iterator[tuple[str, int, bytes, int]]:
    """Topic, partition, records, and the version of Produce that takes them."""
    loose = [(n, T + n, b"k%d" % n, b"v%d" % n) for n in range(4)]
    for magic in (0, 1):
        yield "plain", 0, build_set(loose, magic), 2 * magic
        yield "oldest", 0, build_set(loose, magic), 2 * magic
        for codec in _CODECS[: 2 + magic]:
            yield "packed", 0, build_set(loose, magic, codec=codec), 2 * magic
    yield "oldest", 1, build_set(loose, 1, codec=Codec.GZIP), 2
    for round_ in range(6):
        changes = [(n, T + n, b"k%d" % n, b"v%d-%d" % (n, round_) * 5) for n in range(3)]
        yield "table", 1, build_set(changes, 1), 2
    if not old.serves(InitProducerIdRequest):
        return
    records = [(T + n, b"k%d" % n, b"w%d" % n, [("h", b"x")]) for n in range(4)]
    for codec in (Codec.NONE, *_CODECS):
        yield "packed", 1, bytes(build_batch(records, codec=codec)), 3
        yield "plain", 1, bytes(build_batch(records, codec=codec)), 3


def _put(old: Old, records: bytes, topic: str, partition: int, version: int) -> None:
    request: ProduceRequest = produce(records, topic, partition)
    error = old.ask(request, version).responses[0].partition_responses[0].error_code
    assert not error, (topic, error)


def _transactions(old: Old) -> None:
    """A plain idempotent producer; one transaction committed, one aborted, one left open."""
    plain = old.ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000), 0)
    sequence = {"producer_id": plain.producer_id, "producer_epoch": 0, "base_sequence": 0}
    records = [(T + n, None, b"idempotent", []) for n in range(2)]
    _put(old, bytes(build_batch(records, **sequence)), "plain", 1, 3)
    coordinator = FindCoordinatorRequest(key=TRANSACTION, key_type=1)
    retried(lambda: _good(old.ask(coordinator, 1).error_code))
    start = InitProducerIdRequest(transactional_id=TRANSACTION, transaction_timeout_ms=60_000)
    for committed in (True, False):
        mine = retried(lambda: _started(old.ask(start, 0)))
        who = {"producer_id": mine.producer_id, "producer_epoch": mine.producer_epoch}
        for partition in range(PARTITIONS):
            add = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=TRANSACTION,
                v3_and_below_producer_id=mine.producer_id,
                v3_and_below_producer_epoch=mine.producer_epoch,
                v3_and_below_topics=[
                    AddPartitionsToTxnRequest.Topic(name="transactions", partitions=[partition])
                ],
            )
            retried(lambda add=add: _added(old.ask(add, 0)))
            made = [(T, b"committed" if committed else b"aborted", b"v", [])]
            batch = build_batch(made, base_sequence=0, transactional=True, **who)
            request: ProduceRequest = produce(
                bytes(batch), "transactions", partition, transactional_id=TRANSACTION
            )
            answer = old.ask(request, 3).responses[0].partition_responses[0]
            assert not answer.error_code, answer
        end = EndTxnRequest(transactional_id=TRANSACTION, committed=committed, **who)
        retried(lambda end=end: _good(old.ask(end, 0).error_code))


def idempotent(old: Old, topic: str) -> int:
    """The error of an idempotent producer's batch."""
    mine = old.ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000), 0)
    who = {"producer_id": mine.producer_id, "producer_epoch": mine.producer_epoch}
    batch = build_batch([(T, b"k", b"v", [])], base_sequence=0, **who)
    request: ProduceRequest = produce(bytes(batch), topic, 0)
    return int(old.ask(request, 3).responses[0].partition_responses[0].error_code)


def _commit(old: Old) -> None:
    """Offsets: in ZooKeeper, of a group without members, and of one that had a member."""
    retried(lambda: _good(old.ask(FindCoordinatorRequest(key=GROUP), 0).error_code))
    _committed(old, 0, GROUP, 1)
    _committed(old, 2, GROUP, 3)
    join = JoinGroupRequest(
        group_id=MEMBERS,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequest.Protocol(name="range", metadata=b"\0\0\0\0\0\0\0\0\0\0")],
    )
    joined = retried(lambda: _started(old.ask(join, 0)))
    member = {"member_id": joined.member_id, "generation_id": joined.generation_id}
    assigned = [SyncGroupRequest.Assignment(member_id=joined.member_id, assignment=b"mine")]
    sync = SyncGroupRequest(group_id=MEMBERS, assignments=assigned, **member)
    assert not old.ask(sync, 0).error_code
    _committed(old, 2, MEMBERS, 4, joined.member_id, joined.generation_id)
    leave = LeaveGroupRequest(group_id=MEMBERS, member_id=joined.member_id)
    assert not old.ask(leave, 0).error_code


def _committed(
    old: Old, version: int, group: str, offset: int, member: str = "", generation: int = -1
) -> None:
    partition = OffsetCommitRequest.Topic.Partition(
        partition_index=0, committed_offset=offset, committed_metadata="m"
    )
    request = OffsetCommitRequest(
        group_id=group,
        member_id=member,
        generation_id_or_member_epoch=generation,
        retention_time_ms=_KEPT_MS,
        topics=[OffsetCommitRequest.Topic(name="plain", partitions=[partition])],
    )
    error = old.ask(request, version).topics[0].partitions[0].error_code
    assert not error, (group, version, error)


def answers(old: Old) -> dict[str, Any]:
    """What a broker answers of it; each answer is as it stands in JSON."""
    found: dict[str, Any] = {}
    for name in TOPICS:
        for partition in range(PARTITIONS):
            found[f"{name}-{partition}"] = _partition(old, name, partition)
        found[f"configs of {name}"] = _configs(old, name)
    in_zookeeper = [(GROUP, 0)] if not old.release.has_kraft else []
    for group, version in (*in_zookeeper, (GROUP, 1), (MEMBERS, 1)):
        found[f"offset of {group}, v{version}"] = _offset(old, group, version)
    described = old.ask(DescribeGroupsRequest(groups=[GROUP, MEMBERS]), 0)
    found["groups"] = [[g.group_id, g.group_state, g.protocol_type] for g in described.groups]
    listed = old.ask(MetadataRequest(topics=None), 1)
    found["topics"] = {t.name: len(t.partitions) for t in sorted(listed.topics, key=_name)}
    if old.release.name != "0.10.2":
        found["cluster"] = old.ask(MetadataRequest(topics=[]), 2).cluster_id
    return found


def _name(topic: Any) -> str:
    return str(topic.name)


def fetched(old: Old, name: str, partition: int) -> tuple[bytes, list[list[int]], Any]:
    """All that a partition has: records, aborted transactions, and the last answer."""
    records, part = b"", None
    aborted: list[list[int]] = []
    while part is None or (part.records and _next(records) < part.high_watermark):
        read: FetchRequest = fetch(_next(records), name, partition, isolation_level=1)
        part = old.ask(read).responses[0].partitions[0]
        records += bytes(part.records or b"")
        aborted += [[a.producer_id, a.first_offset] for a in part.aborted_transactions or ()]
    return records, aborted, part


def _partition(old: Old, name: str, partition: int) -> dict[str, Any]:
    records, aborted, part = fetched(old, name, partition)
    found: dict[str, Any] = {
        "error": part.error_code,
        "high watermark": part.high_watermark,
        "records": records.hex(),
        "aborted": aborted,
    }
    # Indexes by time of compacted segments may be anything.
    for timestamp in (-2, -1) if name == "table" else (-2, -1, T + 2):
        wanted = ListOffsetsRequest.Topic.Partition(partition_index=partition, timestamp=timestamp)
        topic = ListOffsetsRequest.Topic(name=name, partitions=[wanted])
        asked = ListOffsetsRequest(replica_id=-1, topics=[topic])
        listed = old.ask(asked, 1).topics[0].partitions[0]
        found[f"offset of {timestamp}"] = [listed.error_code, listed.offset]
    return found


def _next(records: bytes) -> int:
    """The offset after the last of these records, of whatever format."""
    offset = at = 0
    while at < len(records):
        offset = header_of(records, at).last_offset + 1
        at += OVERHEAD + int.from_bytes(records[at + 8 : at + OVERHEAD], "big")
    return offset


def _configs(old: Old, name: str) -> dict[str, str | None]:
    if DescribeConfigsRequest.api_key not in old.release.advertised:
        return {}
    resource = DescribeConfigsRequest.Resource(
        resource_type=2, resource_name=name, configuration_keys=[*TOPICS[name]]
    )
    version = 0 if old.serves(DescribeConfigsRequest) else 1
    result = old.ask(DescribeConfigsRequest(resources=[resource]), version).results[0]
    return {each.name: each.value for each in sorted(result.configs, key=_name)}


def _offset(old: Old, group: str, version: int) -> list[Any]:
    topic = OffsetFetchRequest.Topic(name="plain", partition_indexes=[0])
    request = OffsetFetchRequest(group_id=group, topics=[topic])
    part = old.ask(request, version).topics[0].partitions[0]
    return [part.error_code, part.committed_offset, part.metadata]


def _good(error: int) -> None:
    assert not error, error


def _added(answer: Any) -> None:
    _good(answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)


def _started(answer: Any) -> Any:
    _good(answer.error_code)
    return answer


def retried(work: Any) -> Any:
    """What is not ready yet is asked again, for half a minute."""
    end = time.monotonic() + 30
    while True:
        try:
            return work()
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def record(release: str, work: Path) -> None:
    logs = work / LOGS
    with RealKafka(VERSIONS[release], SMALL, data_dir=logs) as kafka:
        old = Old(kafka.bootstrap_servers, release)
        fill(old)
        seen, end = answers(old), time.monotonic() + 20
        while time.monotonic() < end:  # until the cleaner has done
            time.sleep(4)
            before, seen = seen, answers(old)
            if before == seen:
                break
        old.close()
    (work / ANSWERS).write_text(json.dumps(seen, indent=1))
    pack(work, FOLDER / f"{release}.tar.xz")


def pack(work: Path, target: Path) -> None:
    """Pack directories, without the zeros with which ZooKeeper makes its files longer."""
    target.parent.mkdir(exist_ok=True)
    with tarfile.open(target, "w:xz") as packed:
        for path in sorted(work.rglob("*")):
            if path.is_file() and path.name != ".lock":
                data = path.read_bytes()
                if path.parent.name == "version-2" and path.name.startswith("log."):
                    data = data.rstrip(b"\0")
                entry = tarfile.TarInfo(str(path.relative_to(work)))
                entry.size, entry.mtime = len(data), int(path.stat().st_mtime)
                packed.addfile(entry, io.BytesIO(data))


def unpack(release: str, work: Path) -> dict[str, Any]:
    """Unpack the directory of a release, and return what its broker answered."""
    with tarfile.open(FOLDER / f"{release}.tar.xz") as packed:
        packed.extractall(work, filter="data")
    found: dict[str, Any] = json.loads((work / ANSWERS).read_text())
    return found


def main(releases: list[str]) -> int:
    import tempfile

    for release in sorted(releases or OLD, key=numbers):
        with tempfile.TemporaryDirectory() as work:
            record(release, Path(work))
        size = (FOLDER / f"{release}.tar.xz").stat().st_size
        print(f"{release}: {size} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

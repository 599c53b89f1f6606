"""Section L: the other lowest versions, which releases up to 3.9 still serve.

These run only where both brokers convert: `--kafka-version 3.9`.
"""

from __future__ import annotations

from typing import Any

from odradek.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from odradek.wire.api.write_txn_markers import WriteTxnMarkersRequest

from ..ask.batches import TIME
from ..ask.cluster import features
from ..ask.configs import alter
from ..ask.groups import beat, commit, join, leave, offsets_of, sync
from ..ask.records import list_offsets, put
from ..ask.topics import create, topic
from ..ask.transactions import epoch, init, pid
from ..engine.steps import Ask, Raw, Steps, now, seen
from . import case

HOUR_MS = 3_600_000


def offsets_before(
    when: Any, most: int = 10, name: str = "~t", partition: int = 0
) -> ListOffsetsRequest:
    """The offsets of segments, as v0 asks."""
    part = ListOffsetsRequest.Topic.Partition
    asked = part(partition_index=partition, timestamp=when, max_num_offsets=most)
    return ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsRequest.Topic(name=name, partitions=[asked])]
    )


def named(*names: str) -> list[MetadataRequest.Topic]:
    return [MetadataRequest.Topic(name=name) for name in names]


@case("L24")
def offsets_at_which_segments_begin() -> Steps:
    times: list[Any] = [-1, -2, -3, -7, 0, 1, TIME, now(-HOUR_MS), now(HOUR_MS), 2**63 - 1]
    counts = (10, 1, 2, 0, -1)

    def all_of_them() -> Steps:
        return [Ask(offsets_before(when, most), 0) for when in times for most in counts]

    twice = offsets_before(-1)
    twice.topics[0].partitions *= 2
    steps: Steps = [create(segment_bytes="150"), *all_of_them(), put(b"a"), *all_of_them()]
    steps += [put(b"x" * 50), put(b"y" * 50), put(b"z" * 50), *all_of_them()]
    return [
        *steps,
        Ask(offsets_before(-1, name="~none"), 0),
        Ask(offsets_before(-1, partition=5), 0),
        Ask(offsets_before(-1, name=""), 0),
        Ask(twice, 0),
        Ask(list_offsets(-1, -2, 0, TIME, -3, -4, -5, -6), 9),
        *(Ask(list_offsets(-4), version) for version in (1, 7, 8, 9)),
    ]


@case("L25")
def offsets_of_groups() -> Steps:
    def old(when: Any, **more: Any) -> OffsetCommitRequest:
        request = commit(("~t", 0, 5), **more)
        request.topics[0].partitions[0].commit_timestamp = when
        return request

    return [
        create(),
        Ask(commit(("~t", 0, 5), ("~t", 7, 5), ("~none", 0, 5)), 0),
        Ask(offsets_of(topics=[("~t", [0, 7]), ("~none", [0])]), 0),
        Ask(offsets_of(topics=[("~t", [0, 0])], group=""), 0),
        Ask(old(-1), 1),
        Ask(old(TIME), 1),
        Ask(offsets_of(topics=[("~t", [0, 7]), ("~none", [0])]), 1),
        Ask(old(TIME, member="stranger"), 1),
        Ask(old(TIME, generation=3), 1),
        Ask(old(TIME, generation=3, member="stranger"), 1),
        Ask(old(TIME, metadata="x" * 5000), 1),
        Ask(old(TIME, metadata=None), 1),
        Ask(old(TIME, group=""), 1),
        Ask(offsets_of(topics=[("~t", [0])]), 1),
        Ask(offsets_of(topics=[("~t", [0])]), 9),
        *(Ask(commit(("~t", 0, 6)), version) for version in (2, 3, 5, 9)),
    ]


@case("L26")
def groups_in_their_lowest_versions() -> Steps:
    kept = {"m": "member_id"}
    coordinator = FindCoordinatorRequest
    return [
        Ask(join(), 0, keep=kept),
        Ask(sync(seen("m"), assignments=[(seen("m"), b"x")]), 0),
        Ask(beat(seen("m")), 0),
        Ask(beat("stranger"), 0),
        Ask(join(seen("m")), 0),
        Ask(join(session_ms=1), 0),
        Ask(join(session_ms=10**8), 0),
        Ask(join("stranger"), 0),
        Ask(join(group=""), 0),
        Ask(join(protocols=(("other", b""),)), 0),
        Ask(LeaveGroupRequest(group_id="~g", member_id=seen("m")), 0),
        Ask(leave((seen("m"), None)), 0),
        Ask(leave(("", None), group="~none"), 0),
        *(Ask(coordinator(key=key), 0) for key in ("~g", "")),
        *(Ask(coordinator(key="~g", key_type=t), v) for t in (0, 1, 2, -1) for v in (1, 2, 3)),
        *(Ask(coordinator(coordinator_keys=["~g"], key_type=t), 4) for t in (0, 1, 2, -1)),
        *(Ask(coordinator(coordinator_keys=["~g", ""], key_type=2), v) for v in (5, 6)),
    ]


@case("L27")
def topics_in_their_lowest_versions() -> Steps:
    def made(name: str, version: int, partitions: int = 1, replication: int = 1) -> Ask:
        asked = topic(name, partitions, replication)
        return Ask(CreateTopicsRequest(topics=[asked], timeout_ms=5000), version)

    steps: Steps = [create()]
    steps += [Ask(MetadataRequest(topics=named(*names)), v) for v in (0, 1) for names in METADATA]
    steps += [Ask(MetadataRequest(topics=[]), v) for v in (0, 1, 2, 12)]
    steps += [made(f"~v{v}", v, count, count) for v in range(8) for count in (-1, 0)]
    steps += [made("~two", v, replication=2) for v in (1, 7)]
    steps += [made("~t", v) for v in range(8)]
    steps += [made("a b", v) for v in (0, 1, 7)]
    for version in range(6):
        for names in (["~none"], ["~t", "~t"], [f"~v{version}"], [""]):
            steps.append(Ask(DeleteTopicsRequest(topic_names=names, timeout_ms=5000), version))
    return steps


METADATA: tuple[tuple[str, ...], ...] = (
    ("~t",),
    ("~t", "~t"),
    ("~new",),
    ("~new",),
    ("a b", ""),
    ("~t", "~other", "a b"),
)


@case("L27")
def configs_in_their_lowest_version() -> Steps:
    def asked(kind: int, name: str, *keys: str, every: bool = False) -> Any:
        return DescribeConfigsRequest.Resource(
            resource_type=kind,
            resource_name=name,
            configuration_keys=None if every else list(keys),
        )

    groups = [
        [asked(2, "~t", every=True)],
        [asked(2, "~t")],
        [asked(2, "~t", "retention.ms", "nonsense")],
        [asked(2, "~none")],
        [asked(2, "a b")],
        [asked(4, "1", "log.retention.ms", "num.partitions")],
        [asked(4, "9")],
        [asked(4, "", every=True)],
        [asked(16, "~m")],
        [asked(16, "~none")],
        [asked(32, "~g")],
        [asked(2, "~t"), asked(3, "x")],
    ]
    steps: Steps = [create("~t", retention_ms="5", message_format_version="2.0")]
    steps.append(alter((16, "~m", [("interval.ms", "5000")])))
    return [
        *steps,
        *(Ask(DescribeConfigsRequest(resources=each), v) for each in groups for v in (0, 1, 4)),
    ]


@case("L27")
def configs_of_the_old_broker() -> Steps:
    every = DescribeConfigsRequest.Resource(
        resource_type=4, resource_name="1", configuration_keys=None
    )
    return [
        Ask(DescribeConfigsRequest(resources=[every], include_synonyms=True), v) for v in (0, 1, 4)
    ]


@case("L28")
def transactions_in_their_lowest_versions() -> Steps:
    def added(producer_id: Any, producer_epoch: Any, *topics: tuple[str, list[int]]) -> Ask:
        entry = AddPartitionsToTxnRequest.Topic
        return Ask(
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id="~x",
                v3_and_below_producer_id=producer_id,
                v3_and_below_producer_epoch=producer_epoch,
                v3_and_below_topics=[entry(name=n, partitions=p) for n, p in topics],
            ),
            0,
        )

    def ended(producer_id: Any, producer_epoch: Any) -> Ask:
        return Ask(
            EndTxnRequest(
                transactional_id="~x",
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                committed=True,
            ),
            0,
        )

    def grouped(producer_id: Any, producer_epoch: Any) -> Ask:
        return Ask(
            AddOffsetsToTxnRequest(
                transactional_id="~x",
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                group_id="~g",
            ),
            0,
        )

    steps: Steps = [create(), init(version=0)]
    for who in ((pid(), epoch()), (pid(), 5), (77_000_077, 0)):
        steps += [added(*who, ("~t", [0])), grouped(*who), added(*who, ("~t", [0, 7]))]
    steps += [ended(pid(), 5), ended(77_000_077, 0), ended(pid(), epoch()), ended(pid(), epoch())]
    marker = WriteTxnMarkersRequest.Marker
    marked = marker(
        producer_id=4711,
        producer_epoch=0,
        transaction_result=True,
        coordinator_epoch=0,
        topics=[marker.Topic(name="~t", partition_indexes=[0])],
    )
    return [*steps, *(Ask(WriteTxnMarkersRequest(markers=[marked]), v) for v in (0, 1))]


@case("L28")
def epochs_and_acls_in_their_lowest_versions() -> Steps:
    part = OffsetForLeaderEpochRequest.Topic.Partition
    ends = OffsetForLeaderEpochRequest(
        topics=[
            OffsetForLeaderEpochRequest.Topic(
                topic=name,
                partitions=[part(partition=0, leader_epoch=e) for e in (-1, 0, 5)],
            )
            for name in ("~t", "~none")
        ]
    )

    def acls(kind: int) -> DescribeAclsRequest:
        return DescribeAclsRequest(
            resource_type_filter=kind,
            resource_name_filter=None,
            pattern_type_filter=3,
            principal_filter=None,
            host_filter=None,
            operation=1,
            permission_type=1,
        )

    return [
        create(),
        put(b"v"),
        *(Ask(ends, version) for version in range(5)),
        *(Ask(acls(1), version) for version in range(4)),
        Ask(acls(0), 0, on="other"),
        *(Raw(bytes((0, 0, 0, 10, 0, key, 0, 0, 0, 0, 0, 1, 255, 255)), f"k{key}") for key in KEYS),
    ]


KEYS = (4, 5, 6, 7)
"""Of the APIs between ZooKeeper's brokers: LeaderAndIsr, StopReplica, UpdateMetadata,
ControlledShutdown."""


@case("L29")
def what_is_served() -> Steps:
    named_client = {"client_software_name": "n", "client_software_version": "1"}
    steps: Steps = [Ask(ApiVersionsRequest(**named_client), v) for v in (0, 1, 2, 3, 4)]
    steps.append(Ask(ApiVersionsRequest(**named_client), 4, claim=5))
    level = ("metadata.version", 21, 1)
    for asked in (level, ("metadata.version", 22, 1)):
        for version in (0, 1):
            steps.append(Ask(features(asked, validate_only=version > 0), version))
    others = [("group.version", 1, 1), ("kraft.version", 1, 1), ("nonsense", 0, 1)]
    others += [("metadata.version", level, 2) for level in (0, 1, 14, 20)]
    others += [("metadata.version", 20, 3), ("metadata.version", 40, 1)]
    steps += [Ask(features(each, validate_only=True), 1) for each in others]
    return steps

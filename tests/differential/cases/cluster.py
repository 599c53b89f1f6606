"""Sections A10, H11, I7, I9-I12, I17, J: the cluster's own administration."""

from __future__ import annotations

from typing import Any

from odradek.wire import NO_ID, Request
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_quorum import DescribeQuorumRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.push_telemetry import PushTelemetryRequest
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest

from ..ask import cluster as ask
from ..ask.batches import batch
from ..ask.records import fetch, list_offsets, new_producer, produce, put
from ..ask.topics import create
from ..engine.steps import Ask, Restart, Steps, asks, seen
from . import case
from .cluster_features import FEATURES, SAFE, UP

QUORUM = "__cluster_metadata"


# Moves, elections and directories


@case("I7", each=ElectLeadersRequest)
def elections() -> Steps:
    odd = (("~t", [0, 7, -1]), ("~none", [0]), ("", [1]), ("a b", [1]), (QUORUM, [0]))
    return [
        create(partitions=3),
        create("~s"),
        *asks(
            ask.elect(("~t", [0, 1, 2]), ("~s", [0])),
            *(ask.elect(*odd, kind=kind) for kind in (0, 1, 7, -1)),
            *(ElectLeadersRequest(election_type=kind, topic_partitions=None) for kind in (0, 1, 7)),
            ask.elect(),
            ask.elect(kind=7),
            ask.elect(timeout_ms=0),
            ask.elect(("~t", [])),
            ask.elect(("~t", [0, 0]), ("~t", [1])),
            ask.elect(("~t", [0]), timeout_ms=0),
            ask.elect(("~t", [0]), timeout_ms=-1),
            ask.elect(("~t", [0]), kind=7, timeout_ms=0),
        ),
    ]


@case("I7", each=AlterPartitionReassignmentsRequest)
def moves() -> Steps:
    every = [
        *((0, brokers) for brokers in ([1], [2], [1, 1], [1, 2], [2, 2], [3, 2], [-1], [], None)),
        *((index, brokers) for index in (7, -1) for brokers in ([1], [], None)),
    ]
    return [
        create(partitions=3),
        *asks(
            *(
                ask.move(("~t", every), ("~none", every), allow_replication_factor_change=allowed)
                for allowed in (True, False)
            ),
            ask.move(("", [(0, [1])]), ("a b", [(0, None)])),
            ask.move(),
            ask.move(allow_replication_factor_change=False),
            ask.move(("~t", []), ("~none", [])),
            ask.move(("~t", [(0, [1])]), ("~t", [(0, [1]), (0, [1])])),
            ask.move(("~t", [(0, [1])]), timeout_ms=0),
            ask.move(("~t", [(0, [1])]), timeout_ms=-1, allow_replication_factor_change=False),
            ask.move(timeout_ms=0),
        ),
    ]


@case("I7")
def moves_that_go_on() -> Steps:
    made = ListPartitionReassignmentsRequest
    named = [made.Topic(name=name, partition_indexes=[0, 9]) for name in ("~t", "~none", "")]
    return [
        create(),
        *asks(
            made(topics=None),
            made(topics=[]),
            made(topics=named),
            made(topics=named, timeout_ms=0),
            made(topics=None, timeout_ms=-1),
        ),
    ]


@case("I12", each=DescribeLogDirsRequest)
def log_directories() -> Steps:
    return [
        create(partitions=3),
        create("~s"),
        put(b"some", b"thing"),
        put(b"else", partition=1),
        *asks(
            DescribeLogDirsRequest(topics=None),
            ask.log_dirs(),
            ask.log_dirs(("~t", [2, 1, 9, 1, -1]), ("~none", [0]), ("~s", [])),
            ask.log_dirs(("~t", [0]), ("~t", [1]), ("~s", [0])),
            ask.log_dirs((QUORUM, [0]), ("", [0]), ("a b", [0])),
        ),
    ]


@case("I17", each=AlterReplicaLogDirsRequest)
def moves_between_directories() -> Steps:
    return [
        create(partitions=3),
        *asks(
            ask.to_log_dirs(("/nowhere", [("~t", [0, 7]), ("~none", [0])]), ("no", [("~t", [1])])),
            ask.to_log_dirs(("", [("~t", [2])]), ("/nowhere", [("", [0]), ("a b", [-1])])),
            ask.to_log_dirs(("/a", [("~t", [0, 0])]), ("/b", [("~t", [0])])),
            ask.to_log_dirs(),
            ask.to_log_dirs(("/nowhere", [])),
            ask.to_log_dirs(("/nowhere", [("~t", [])])),
        ),
    ]


@case("I17")
def moves_to_where_it_is() -> Steps:
    """The path is the one in the answer of DescribeLogDirs."""
    own = seen("path")
    return [
        create(partitions=2),
        Ask(ask.log_dirs(), keep={"path": "results.0.log_dir"}),
        Ask(ask.to_log_dirs((own, [("~t", [0, 1, 7, -1]), ("~none", [0]), (QUORUM, [0])]))),
        Ask(ask.to_log_dirs(("/nowhere", [("~t", [0])]), (own, [("~t", [0])]))),
    ]


# Producers, quorum, brokers


@case("H11")
def producers_of_partitions() -> Steps:
    def written(sequence: int, epoch: int = 0) -> Ask:
        records = batch(
            b"x", b"y", producer_id=seen("pid"), producer_epoch=epoch, base_sequence=sequence
        )
        return Ask(produce(records))

    look = Ask(ask.producers(("~t", [0, 1, 5, -1, 0]), ("~none", [0])))
    return [
        create(partitions=2),
        new_producer(),
        look,
        put(b"of nobody"),
        look,
        written(0),
        look,
        written(2),
        written(9),
        look,
        written(0, epoch=1),
        look,
        Ask(ask.producers(("", [0]), ("a b", [0]), ("..", [1]), ("x" * 250, [0]))),
        Ask(ask.producers()),
        Ask(ask.producers(("~t", []), ("~t", [0]), (QUORUM, [0]))),
    ]


@case("I17", each=DescribeQuorumRequest)
def the_quorum() -> Steps:
    return [
        create(),
        *asks(
            ask.quorum((QUORUM, [0])),
            ask.quorum((QUORUM, [1])),
            ask.quorum((QUORUM, [0, 1])),
            ask.quorum((QUORUM, [0, 0])),
            ask.quorum((QUORUM, [0]), (QUORUM, [0])),
            ask.quorum((QUORUM, [0]), ("~t", [0])),
            ask.quorum((QUORUM, [])),
            ask.quorum(),
            ask.quorum(("~t", [0])),
            ask.quorum(("~none", [0, 5])),
            ask.quorum(("", [-1])),
        ),
    ]


@case("I12")
def unknown_brokers() -> Steps:
    return asks(*(UnregisterBrokerRequest(broker_id=broker_id) for broker_id in (2, 0, -1, 99)))


@case("J")
def the_metadata_log_is_no_topic() -> Steps:
    """Neither its name nor its id means anything to a client."""
    own_id = bytes(15) + b"\1"
    made = MetadataRequest.Topic
    return [
        Ask(MetadataRequest(topics=[made(name=QUORUM)], allow_auto_topic_creation=True)),
        Ask(MetadataRequest(topics=[made(name=None, topic_id=own_id)])),
        Ask(
            DescribeTopicPartitionsRequest(
                topics=[DescribeTopicPartitionsRequest.Topic(name=QUORUM)], cursor=None
            )
        ),
        Ask(list_offsets(-1, name=QUORUM)),
        *(Ask(fetch(name=QUORUM), version) for version in (4, 11, 12)),
        Ask(produce(batch(b"x"), QUORUM), 9),
        create(QUORUM),
    ]


# Telemetry, which no broker without a metrics reporter collects


@case("J")
def telemetry_is_answered_without_being_advertised() -> Steps:
    """Each line is one client on a connection of its own: g asks, p pushes, t for the last time."""
    plans: tuple[tuple[str, dict[str, Any]], ...] = (
        ("pgp", {}),
        ("gppg", {}),
        ("gg", {}),
        ("pp", {}),
        ("gpgp", {"subscription_id": 5}),
        ("gpgp", {"compression_type": 9}),
        ("gpgp", {"compression_type": 4, "metrics": b"junk"}),
        ("gpgp", {"compression_type": 1, "metrics": b"junk"}),
        ("gpg", {"metrics": b"x" * ((1 << 20) + 1)}),
        ("gp", {"compression_type": 9, "metrics": b"x" * ((1 << 20) + 1)}),
        ("gp", {"subscription_id": 5, "compression_type": 9}),
        ("gpttpg", {}),
        ("gttg", {}),
        ("tp", {"subscription_id": 5}),
    )
    steps: Steps = []
    for number, (plan, pushed) in enumerate(plans, 1):
        client = bytes([number]) * 8 + bytes(8)
        for what in plan:
            steps.append(Ask(_telemetry(what, client, pushed), 0, f"client {number}"))
    return [*steps, Ask(_telemetry("p", NO_ID, {}), 0), Ask(_telemetry("p", NO_ID, {}), 0)]


_NOTHING_WANTED = -725132322
"""The subscription of a client whose id has two halves with no difference but zeros."""


def _telemetry(what: str, client: bytes, pushed: dict[str, Any]) -> Request:
    if what == "g":
        return GetTelemetrySubscriptionsRequest(client_instance_id=client)
    request = PushTelemetryRequest(
        client_instance_id=client,
        subscription_id=_NOTHING_WANTED,
        terminating=what == "t",
        compression_type=0,
        metrics=b"",
    )
    for name, value in pushed.items():
        setattr(request, name, value)
    return request


# Over a restart


@case("I10, I11, I12")
def what_was_set_survives_a_restart() -> Steps:
    look = [
        Ask(ask.quotas()),
        Ask(DescribeUserScramCredentialsRequest(users=None)),
        FEATURES,
    ]
    entity = [("user", "~u"), ("client-id", None)]
    return [
        Ask(ask.alter_quotas(ask.quota(entity, (ask.PRODUCED, 5e8), (ask.PERCENTAGE, 99.5)))),
        Ask(ask.alter_users(ask.set_user("~u"), ask.set_user("~v", 2, 16384))),
        Ask(ask.features(("transaction.version", 1, SAFE), ("streams.version", 0, SAFE))),
        *look,
        Restart(),
        *look,
        Ask(ask.features(("transaction.version", 2, UP), ("streams.version", 1, UP))),
        Ask(ask.alter_users(ask.drop_user("~u"))),
        *look,
    ]

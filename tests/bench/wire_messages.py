"""The messages that bench_wire.py measures, filled as clients and brokers fill them."""

from __future__ import annotations

from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from odradek.wire.api.metadata import MetadataResponse
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.schema import Message

TOPICS = [(f"topic-{n:03}", bytes([n + 1]) * 16) for n in range(100)]
SUBSCRIPTION = bytes(60)


def metadata_response() -> MetadataResponse:
    """100 topics of 3 partitions, each on 3 brokers."""
    response = MetadataResponse
    partitions = [
        response.Topic.Partition(
            partition_index=index,
            leader_id=index,
            leader_epoch=5,
            replica_nodes=[0, 1, 2],
            isr_nodes=[0, 1, 2],
            offline_replicas=[],
        )
        for index in range(3)
    ]
    return response(
        brokers=[
            response.Broker(node_id=n, host=f"broker-{n}.example", port=9092, rack="a")
            for n in range(3)
        ],
        cluster_id="x" * 22,
        controller_id=1,
        topics=[
            response.Topic(name=name, topic_id=topic_id, partitions=partitions)
            for name, topic_id in TOPICS
        ],
    )


def fetch_request() -> FetchRequest:
    """100 partitions of 10 topics."""
    partition = FetchRequest.Topic.Partition
    return FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        topics=[
            FetchRequest.Topic(
                topic=name,
                topic_id=topic_id,
                partitions=[
                    partition(
                        partition=n,
                        fetch_offset=1000 * n,
                        current_leader_epoch=3,
                        partition_max_bytes=1 << 20,
                    )
                    for n in range(10)
                ],
            )
            for name, topic_id in TOPICS[:10]
        ],
    )


def produce_request() -> ProduceRequest:
    """20 partitions, a batch of 1,000 bytes for each."""
    name, topic_id = TOPICS[0]
    partition = ProduceRequest.Topic.Partition
    return ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[
            ProduceRequest.Topic(
                name=name,
                topic_id=topic_id,
                partition_data=[partition(index=n, records=bytes(1000)) for n in range(20)],
            )
        ],
    )


def join_group_request() -> JoinGroupRequest:
    """A consumer with two assignors."""
    return JoinGroupRequest(
        group_id="group",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        member_id=_member(1),
        protocol_type="consumer",
        protocols=[
            JoinGroupRequest.Protocol(name=name, metadata=SUBSCRIPTION)
            for name in ("range", "cooperative-sticky")
        ],
    )


def join_group_response() -> JoinGroupResponse:
    """To the leader of ten members."""
    return JoinGroupResponse(
        generation_id=3,
        protocol_type="consumer",
        protocol_name="range",
        leader=_member(0),
        member_id=_member(0),
        members=[
            JoinGroupResponse.Member(member_id=_member(n), metadata=SUBSCRIPTION) for n in range(10)
        ],
    )


def _member(number: int) -> str:
    return f"consumer-{number}-" + "a1b2c3d4-" * 4


MESSAGES: list[Message] = [
    metadata_response(),
    fetch_request(),
    produce_request(),
    join_group_request(),
    join_group_response(),
]

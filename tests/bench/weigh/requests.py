"""What is asked of a broker: ten requests that clients send all the time, as frames.

The versions are those that a Java client of 4.x sends. Of a broker that has just been started:
`prepared` creates the topics, fills one, and has one consumer join a group.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import TypeVar

from odradek.wire import Request, Response
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.sync_group import SyncGroupRequest, SyncGroupResponse
from odradek.wire.headers import RequestHeader, write_request_header
from odradek.wire.records import NewRecord, build_batch

from ..frames import ask

R = TypeVar("R", bound=Response)
FETCH_1_MB = "Fetch of 1 MB"
GROUP, TOPIC, FULL, EMPTY = "group", "topic", "full", "empty"
CLIENT_ID = "consumer-group-1"
MEGABYTE = 1 << 20
BATCHES, RECORDS_OF_BATCH, VALUE = 20, 100, b"v" * 1000
SESSION_MS = 300_000


def frame(request: Request, version: int) -> bytes:
    """With its length."""
    header = RequestHeader(request.api_key, version, 1, CLIENT_ID)
    body = write_request_header(header) + request.encode(version)
    return struct.pack(">i", len(body)) + body


def prepared(connection: socket.socket) -> dict[str, bytes]:
    """The frame of each kind, for the broker behind this connection."""
    ids = _create_topics(connection)
    values = [NewRecord(_now(), None, VALUE) for _ in range(RECORDS_OF_BATCH)]
    filling = frame(_produce(ids[FULL], bytes(build_batch(values))), 13)
    for _ in range(BATCHES):
        ask(connection, filling[4:])
    finding = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
    ask(connection, frame(finding, 6)[4:])  # creates __consumer_offsets
    generation, member = _join(connection)
    one = bytes(build_batch([NewRecord(_now(), b"k", b"v" * 100)]))
    committed = OffsetCommitRequest.Topic.Partition(
        partition_index=0, committed_offset=1, committed_metadata=""
    )
    commit = OffsetCommitRequest(
        group_id=GROUP,
        generation_id_or_member_epoch=generation,
        member_id=member,
        topics=[OffsetCommitRequest.Topic(topic_id=ids[TOPIC], partitions=[committed])],
    )
    asked = OffsetFetchRequest.Group.Topic(topic_id=ids[TOPIC], partition_indexes=[0])
    heartbeat = HeartbeatRequest(group_id=GROUP, generation_id=generation, member_id=member)
    latest = ListOffsetsRequest.Topic.Partition(partition_index=0, timestamp=-1)
    listed = ListOffsetsRequest.Topic(name=TOPIC, partitions=[latest])
    requests: dict[str, tuple[Request, int]] = {
        "ApiVersions": (
            ApiVersionsRequest(
                client_software_name="apache-kafka-java", client_software_version="4.3.0"
            ),
            4,
        ),
        "Metadata": (MetadataRequest(topics=[MetadataRequest.Topic(name=TOPIC)]), 13),
        "FindCoordinator": (finding, 6),
        "Heartbeat": (heartbeat, 4),
        "Produce of one record": (_produce(ids[TOPIC], one), 13),
        "Fetch, empty": (_fetch(ids[EMPTY]), 18),
        FETCH_1_MB: (_fetch(ids[FULL]), 18),
        "ListOffsets": (ListOffsetsRequest(replica_id=-1, topics=[listed]), 11),
        "OffsetCommit": (commit, 10),
        "OffsetFetch": (
            OffsetFetchRequest(groups=[OffsetFetchRequest.Group(group_id=GROUP, topics=[asked])]),
            10,
        ),
    }
    return {kind: frame(request, version) for kind, (request, version) in requests.items()}


def _create_topics(connection: socket.socket) -> dict[str, bytes]:
    wanted = [
        CreateTopicsRequest.Topic(
            name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
        )
        for name in (TOPIC, FULL, EMPTY)
    ]
    answer = _answer(connection, CreateTopicsRequest(topics=wanted), 7, CreateTopicsResponse)
    return {topic.name: topic.topic_id for topic in answer.topics}


def _join(connection: socket.socket) -> tuple[int, str]:
    """Generation and member id of a group's only member."""
    protocols = [JoinGroupRequest.Protocol(name="range", metadata=b"")]
    joining = JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=SESSION_MS,
        member_id="",
        protocol_type="consumer",
        protocols=protocols,
    )
    joined = _answer(connection, joining, 3, JoinGroupResponse)  # answered at once, as yet
    member = SyncGroupRequest.Assignment(member_id=joined.member_id, assignment=b"")
    syncing = SyncGroupRequest(
        group_id=GROUP,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        assignments=[member],
    )
    synced = _answer(connection, syncing, 2, SyncGroupResponse)
    if joined.error_code or synced.error_code:
        raise ValueError(f"no member of a group: {joined}, {synced}")
    return joined.generation_id, joined.member_id


def _answer(connection: socket.socket, request: Request, version: int, response: type[R]) -> R:
    """Decoded, of a version whose header of an answer is known here: 4 bytes, from 5 on 5."""
    answer = ask(connection, frame(request, version)[4:])
    return response.decode(answer[4 + (version > 4) :], version)


def _produce(topic: bytes, batch: bytes) -> ProduceRequest:
    partition = ProduceRequest.Topic.Partition(index=0, records=batch)
    topics = [ProduceRequest.Topic(topic_id=topic, partition_data=[partition])]
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=topics)


def _fetch(topic: bytes) -> FetchRequest:
    """From the beginning, at once, without a session."""
    partition = FetchRequest.Topic.Partition(
        partition=0, fetch_offset=0, partition_max_bytes=MEGABYTE
    )
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=50 * MEGABYTE,
        session_epoch=-1,
        topics=[FetchRequest.Topic(topic_id=topic, partitions=[partition])],
        forgotten_topics_data=[],
    )


def _now() -> int:
    return time.time_ns() // 1_000_000

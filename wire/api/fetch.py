"""Fetch (1): read batches from partitions, waiting for them if asked to; up to v3, message sets."""

from __future__ import annotations

from ..primitives import NO_ID
from ..schema import EMPTY, UUID, Records, Request, Response, Struct, i8, i16, i32, i64, tag, v


class FetchRequest(Request, api=1, versions="0-18", flexible="12+"):
    """Ask for batches; wait until there are min_bytes or max_wait_ms have passed."""

    cluster_id: str | None = tag(0, "12+", default=None)
    replica_id: i32 = v("0-14", default=-1)
    replica_state: ReplicaState = tag(1, "15+", default=EMPTY)
    max_wait_ms: i32
    min_bytes: i32
    max_bytes: i32 = v("3+", default=2**31 - 1)
    isolation_level: i8 = v("4+", default=0)
    session_id: i32 = v("7+", default=0)
    session_epoch: i32 = v("7+", default=-1)
    topics: list[Topic] = v(default=[])
    forgotten_topics_data: list[ForgottenTopic] = v("7+", default=[])
    rack_id: str = v("11+", default="")

    class ReplicaState(Struct):
        replica_id: i32 = -1
        replica_epoch: i64 = -1

    class Topic(Struct):
        topic: str = v("0-12", default="")
        topic_id: UUID = v("13+", default=NO_ID)
        partitions: list[Partition]

        class Partition(Struct):
            partition: i32
            current_leader_epoch: i32 = v("9+", default=-1)
            fetch_offset: i64
            last_fetched_epoch: i32 = v("12+", default=-1)
            log_start_offset: i64 = v("5+", default=-1)
            partition_max_bytes: i32
            replica_directory_id: UUID = tag(0, "17+", default=NO_ID)
            high_watermark: i64 = tag(1, "18+", default=2**63 - 1)

    class ForgottenTopic(Struct):
        topic: str = v("7-12", default="")
        topic_id: UUID = v("13+", default=NO_ID)
        partitions: list[i32]


class FetchResponse(Response, api=1, versions="0-18", flexible="12+"):
    """The batches, and for each partition up to where a consumer may read."""

    throttle_time_ms: i32 = v("1+", default=0)
    error_code: i16 = v("7+", default=0)
    session_id: i32 = v("7+", default=0)
    responses: list[Topic]
    node_endpoints: list[NodeEndpoint] = tag(0, "16+", default=[])

    class Topic(Struct):
        topic: str = v("0-12", default="")
        topic_id: UUID = v("13+", default=NO_ID)
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
            high_watermark: i64
            last_stable_offset: i64 = v("4+", default=-1)
            log_start_offset: i64 = v("5+", default=-1)
            diverging_epoch: EpochEndOffset = tag(0, "12+", default=EMPTY)
            current_leader: LeaderIdAndEpoch = tag(1, "12+", default=EMPTY)
            snapshot_id: SnapshotId = tag(2, "12+", default=EMPTY)
            aborted_transactions: list[AbortedTransaction] | None = v("4+", default=[])
            preferred_read_replica: i32 = v("11+", default=-1)
            records: Records | None

            class EpochEndOffset(Struct):
                epoch: i32 = -1
                end_offset: i64 = -1

            class LeaderIdAndEpoch(Struct):
                leader_id: i32 = -1
                leader_epoch: i32 = -1

            class SnapshotId(Struct):
                end_offset: i64 = -1
                epoch: i32 = -1

            class AbortedTransaction(Struct):
                producer_id: i64
                first_offset: i64

    class NodeEndpoint(Struct):
        node_id: i32
        host: str
        port: i32
        rack: str | None = None

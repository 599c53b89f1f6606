"""ShareFetch (78): acquire records for a share group's member, and acknowledge others."""

from __future__ import annotations

from ..schema import UUID, Records, Request, Response, Struct, i8, i16, i32, i64, v


class ShareFetchRequest(Request, api=78, versions="0-2", flexible="0+", unstable="0"):
    """Acknowledge records and ask for more."""

    group_id: str | None = None
    member_id: str | None
    share_session_epoch: i32
    max_wait_ms: i32
    min_bytes: i32
    max_bytes: i32 = 2**31 - 1
    max_records: i32 = v("1+", default=0)
    batch_size: i32 = v("1+", default=0)
    share_acquire_mode: i8 = v("2+", default=0)
    is_renew_ack: bool = v("2+", default=False)
    topics: list[Topic]
    forgotten_topics_data: list[ForgottenTopic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            partition_max_bytes: i32 = v("0", default=0)
            acknowledgement_batches: list[AcknowledgementBatch]

            class AcknowledgementBatch(Struct):
                first_offset: i64
                last_offset: i64
                acknowledge_types: list[i8]

    class ForgottenTopic(Struct):
        topic_id: UUID
        partitions: list[i32]


class ShareFetchResponse(Response, api=78, versions="0-2", flexible="0+"):
    """Records, and which of them were acquired."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None = None
    acquisition_lock_timeout_ms: i32 = v("1+", default=0)
    responses: list[Topic]
    node_endpoints: list[NodeEndpoint]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
            error_message: str | None = None
            acknowledge_error_code: i16
            acknowledge_error_message: str | None = None
            current_leader: LeaderIdAndEpoch
            records: Records | None = v(nullable="0")
            acquired_records: list[AcquiredRecords]

            class LeaderIdAndEpoch(Struct):
                leader_id: i32
                leader_epoch: i32

            class AcquiredRecords(Struct):
                first_offset: i64
                last_offset: i64
                delivery_count: i16

    class NodeEndpoint(Struct):
        node_id: i32
        host: str
        port: i32
        rack: str | None = None

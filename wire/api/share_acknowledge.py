"""ShareAcknowledge (79): acknowledge records of a share group."""

from __future__ import annotations

from ..schema import UUID, Request, Response, Struct, i8, i16, i32, i64, v


class ShareAcknowledgeRequest(Request, api=79, versions="0-2", flexible="0+", unstable="0"):
    """Accept (1), release (2), reject (3) or renew (4) acquired records; 0 is a gap."""

    group_id: str | None = None
    member_id: str | None
    share_session_epoch: i32
    is_renew_ack: bool = v("2+", default=False)
    topics: list[Topic]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            acknowledgement_batches: list[AcknowledgementBatch]

            class AcknowledgementBatch(Struct):
                first_offset: i64
                last_offset: i64
                acknowledge_types: list[i8]


class ShareAcknowledgeResponse(Response, api=79, versions="0-2", flexible="0+"):
    """Whether each acknowledgement was accepted."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None = None
    acquisition_lock_timeout_ms: i32 = v("2+", default=0)
    responses: list[Topic]
    node_endpoints: list[NodeEndpoint]

    class Topic(Struct):
        topic_id: UUID
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
            error_message: str | None = None
            current_leader: LeaderIdAndEpoch

            class LeaderIdAndEpoch(Struct):
                leader_id: i32
                leader_epoch: i32

    class NodeEndpoint(Struct):
        node_id: i32
        host: str
        port: i32
        rack: str | None = None

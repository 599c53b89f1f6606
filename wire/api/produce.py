"""Produce (0): append batches of records to partitions; up to v2, message sets."""

from __future__ import annotations

from ..primitives import NO_ID
from ..schema import EMPTY, UUID, Records, Request, Response, Struct, i16, i32, i64, tag, v


class ProduceRequest(Request, api=0, versions="0-13", flexible="9+"):
    """Append these batches; acks says how many replicas must have them before the answer."""

    transactional_id: str | None = v("3+", default=None)
    acks: i16
    timeout_ms: i32
    topic_data: list[Topic]

    class Topic(Struct):
        name: str = v("0-12", default="")
        topic_id: UUID = v("13+", default=NO_ID)
        partition_data: list[Partition]

        class Partition(Struct):
            index: i32
            records: Records | None


class ProduceResponse(Response, api=0, versions="0-13", flexible="9+"):
    """The offset of each batch, or why it was refused."""

    responses: list[Topic]
    throttle_time_ms: i32 = v("1+", default=0)
    node_endpoints: list[NodeEndpoint] = tag(0, "10+", default=[])

    class Topic(Struct):
        name: str = v("0-12", default="")
        topic_id: UUID = v("13+", default=NO_ID)
        partition_responses: list[Partition]

        class Partition(Struct):
            index: i32
            error_code: i16 = 0
            base_offset: i64
            log_append_time_ms: i64 = v("2+", default=-1)
            log_start_offset: i64 = v("5+", default=-1)
            record_errors: list[RecordError] = v("8+", default=[])
            error_message: str | None = v("8+", default=None)
            current_leader: LeaderIdAndEpoch = tag(0, "10+", default=EMPTY)

            class RecordError(Struct):
                batch_index: i32
                batch_index_error_message: str | None = None

            class LeaderIdAndEpoch(Struct):
                leader_id: i32 = -1
                leader_epoch: i32 = -1

    class NodeEndpoint(Struct):
        node_id: i32
        host: str
        port: i32
        rack: str | None = None

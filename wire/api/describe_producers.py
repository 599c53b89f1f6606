"""DescribeProducers (61): producers that a partition knows."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64


class DescribeProducersRequest(Request, api=61, versions="0", flexible="0+"):
    """Ask for the producers of these partitions."""

    topics: list[Topic]

    class Topic(Struct):
        name: str
        partition_indexes: list[i32]


class DescribeProducersResponse(Response, api=61, versions="0", flexible="0+"):
    """Their epochs, sequences and open transactions."""

    throttle_time_ms: i32 = 0
    topics: list[Topic]

    class Topic(Struct):
        name: str
        partitions: list[Partition]

        class Partition(Struct):
            partition_index: i32
            error_code: i16 = 0
            error_message: str | None = None
            active_producers: list[ActiveProducer]

            class ActiveProducer(Struct):
                producer_id: i64
                producer_epoch: i32
                last_sequence: i32 = -1
                last_timestamp: i64 = -1
                coordinator_epoch: i32
                current_txn_start_offset: i64 = -1

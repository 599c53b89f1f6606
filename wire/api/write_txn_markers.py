"""WriteTxnMarkers (27): end transactions in partitions; sent by coordinators."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, i64, v


class WriteTxnMarkersRequest(Request, api=27, versions="0-2", flexible="1+"):
    """Write commit or abort markers."""

    markers: list[Marker]

    class Marker(Struct):
        producer_id: i64
        producer_epoch: i16
        transaction_result: bool
        topics: list[Topic]
        coordinator_epoch: i32
        transaction_version: i8 = v("2+", default=0)

        class Topic(Struct):
            name: str
            partition_indexes: list[i32]


class WriteTxnMarkersResponse(Response, api=27, versions="0-2", flexible="1+"):
    """Whether each marker was written."""

    markers: list[Marker]

    class Marker(Struct):
        producer_id: i64
        topics: list[Topic]

        class Topic(Struct):
            name: str
            partitions: list[Partition]

            class Partition(Struct):
                partition_index: i32
                error_code: i16 = 0

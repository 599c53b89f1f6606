"""AddPartitionsToTxn (24): add partitions to a transaction."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i16, i32, i64, v


class AddPartitionsToTxnRequest(Request, api=24, versions="0-5", flexible="3+"):
    """Add partitions to a transaction; brokers ask for several, or only verify, from v4 on."""

    transactions: list[Transaction] = v("4+", default=[])
    v3_and_below_transactional_id: str = v("0-3", default="")
    v3_and_below_producer_id: i64 = v("0-3", default=0)
    v3_and_below_producer_epoch: i16 = v("0-3", default=0)
    v3_and_below_topics: list[Topic] = v("0-3", default=[])

    class Transaction(Struct):
        transactional_id: str
        producer_id: i64
        producer_epoch: i16
        verify_only: bool = False
        topics: list[AddPartitionsToTxnRequest.Topic]

    class Topic(Struct):
        name: str
        partitions: list[i32]


class AddPartitionsToTxnResponse(Response, api=24, versions="0-5", flexible="3+"):
    """Whether each partition was added."""

    throttle_time_ms: i32 = 0
    error_code: i16 = v("4+", default=0)
    results_by_transaction: list[Transaction] = v("4+", default=[])
    results_by_topic_v3_and_below: list[Topic] = v("0-3", default=[])

    class Transaction(Struct):
        transactional_id: str
        topic_results: list[AddPartitionsToTxnResponse.Topic]

    class Topic(Struct):
        name: str
        results_by_partition: list[AddPartitionsToTxnResponse.Partition]

    class Partition(Struct):
        partition_index: i32
        partition_error_code: i16

"""What an error says to somebody who looks for the reason of a failed test.

`QUIET` is normal traffic: a client is told to do the next step, and does it.
"""

from __future__ import annotations

from ...wire import Error

QUIET = frozenset(
    {
        Error.MEMBER_ID_REQUIRED,
        Error.REBALANCE_IN_PROGRESS,
        Error.COORDINATOR_LOAD_IN_PROGRESS,
        Error.COORDINATOR_NOT_AVAILABLE,
        Error.FETCH_SESSION_ID_NOT_FOUND,
        Error.INVALID_FETCH_SESSION_EPOCH,
        Error.LEADER_NOT_AVAILABLE,
    }
)

QUIET_OF = frozenset(
    {
        ("ApiVersions", Error.UNSUPPORTED_VERSION),
        ("ConsumerGroupDescribe", Error.GROUP_ID_NOT_FOUND),
        ("GetTelemetrySubscriptions", Error.UNSUPPORTED_VERSION),
    }
)
"""By the request too: one of a newer client, answered with what an older broker knows."""

FENCED = frozenset(
    {
        Error.PRODUCER_FENCED,
        Error.INVALID_PRODUCER_EPOCH,
        Error.FENCED_INSTANCE_ID,
        Error.FENCED_MEMBER_EPOCH,
        Error.ILLEGAL_GENERATION,
    }
)

MEANINGS = {
    Error.CONCURRENT_TRANSACTIONS: "the end of the transaction before is still being written",
    Error.FENCED_INSTANCE_ID: "another client has joined with the same group.instance.id",
    Error.FENCED_MEMBER_EPOCH: "the group has gone on without it, it has to join again",
    Error.GROUP_ID_NOT_FOUND: "there is no such group",
    Error.ILLEGAL_GENERATION: "the group has rebalanced without it",
    Error.INVALID_PRODUCER_EPOCH: "a newer producer has its transactional id, or it was timed out",
    Error.INVALID_TXN_STATE: "its transaction is in another state, for instance timed out",
    Error.NOT_COORDINATOR: "another broker coordinates it now",
    Error.NOT_LEADER_OR_FOLLOWER: "the broker that was asked does not lead the partition",
    Error.OFFSET_OUT_OF_RANGE: "there is no such offset, or no more",
    Error.OUT_OF_ORDER_SEQUENCE_NUMBER: "records of this producer before it are missing",
    Error.PRODUCER_FENCED: "a newer producer has its transactional id, or it was timed out",
    Error.STALE_MEMBER_EPOCH: "the member has not yet heard of the last rebalance",
    Error.UNKNOWN_MEMBER_ID: "it is no member of the group, or no more",
    Error.UNKNOWN_PRODUCER_ID: "nothing of this producer is left in the log",
    Error.UNKNOWN_TOPIC_ID: "there is no topic with this id, it may have been deleted",
    Error.UNKNOWN_TOPIC_OR_PARTITION: "there is no such topic or partition",
}

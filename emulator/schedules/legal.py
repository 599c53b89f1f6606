"""Which misfortunes may happen to which requests, so that clients with the right settings survive.

Left out is what a client may do nothing about: requests with which it introduces itself (a client
that cannot reach its first broker gives up), and those of administrators, which are not repeated.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

DELAY, NETWORK, REBALANCE = "delay", "network", "rebalance"
COORDINATOR, LEADER, CRASH, TIMEOUT = "coordinator", "leader", "crash", "timeout"
KINDS = (DELAY, NETWORK, REBALANCE, COORDINATOR, LEADER, CRASH, TIMEOUT)
REFUSAL, RETENTION, SLOW, PARTITIONS = "refusal", "retention", "slow", "partitions"
MORE_KINDS = (REFUSAL, RETENTION, SLOW, PARTITIONS)
"""What clients alone do not survive: an application has to do something about it. Only where they
are asked for."""

_GROUP = "JoinGroup SyncGroup LeaveGroup OffsetCommit OffsetFetch ConsumerGroupHeartbeat"
_TRANSACTION = "AddPartitionsToTxn AddOffsetsToTxn EndTxn"
APIS = (
    *("Produce", "Fetch", "ListOffsets", "OffsetForLeaderEpoch", "FindCoordinator"),
    *_GROUP.split(),
    *("Heartbeat", "InitProducerId", "TxnOffsetCommit"),
    *_TRANSACTION.split(),
)
"""At which something may happen: those of producers and consumers."""
DELAYED = (*APIS, "Metadata")

LOADS, MOVED = "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"
NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"
ERRORS: dict[str, dict[str, tuple[str, ...]]] = {
    COORDINATOR: {
        "FindCoordinator": ("COORDINATOR_NOT_AVAILABLE",),
        **dict.fromkeys(_GROUP.split(), (LOADS, MOVED)),
        "Heartbeat": (MOVED,),  # a coordinator that loads answers it as ever
        "TxnOffsetCommit": (LOADS, MOVED),
        "InitProducerId": (LOADS,),  # MOVED only with a transactional id
        "EndTxn": (LOADS, MOVED),
        "AddPartitionsToTxn": (LOADS, MOVED, "CONCURRENT_TRANSACTIONS"),
        "AddOffsetsToTxn": (LOADS, MOVED, "CONCURRENT_TRANSACTIONS"),
    },
    LEADER: {
        "Produce": (NOT_LEADER, "NOT_ENOUGH_REPLICAS"),
        "Fetch": (NOT_LEADER,),
        "ListOffsets": (NOT_LEADER,),
        "OffsetForLeaderEpoch": (NOT_LEADER,),
    },
}
"""The errors of each kind that a broker answers, without having carried the request out."""
_NO_GROUP, _NO_TOPIC = "GROUP_AUTHORIZATION_FAILED", "TOPIC_AUTHORIZATION_FAILED"
ERRORS[REFUSAL] = {
    **dict.fromkeys(("Produce", "Fetch"), (_NO_TOPIC,)),
    **dict.fromkeys(("OffsetCommit", "OffsetFetch", "TxnOffsetCommit"), (_NO_GROUP,)),
    **dict.fromkeys(("EndTxn", "AddOffsetsToTxn"), ("TRANSACTIONAL_ID_AUTHORIZATION_FAILED",)),
}
ERRORS[SLOW] = {"Fetch": (NOT_LEADER,)}
AT = {RETENTION: ("Fetch", "OffsetCommit"), PARTITIONS: ("Fetch", "Produce")}


def check_kinds(given: Iterable[str]) -> tuple[str, ...]:
    """The kinds, each once. Raises TypeError, ValueError that names the likely one."""
    if isinstance(given, str):
        raise TypeError(f"kinds are several, for instance ({given!r},), not {given!r}")
    kinds = tuple(dict.fromkeys(given))
    for each in kinds:
        if each not in KINDS + MORE_KINDS:
            close = get_close_matches(str(each), KINDS + MORE_KINDS, 1)
            likely = f"; do you mean {close[0]!r}?" if close else "."
            known = ", ".join(KINDS + MORE_KINDS)
            raise ValueError(f"there is no kind of misfortune {each!r}{likely} There are {known}")
    if not kinds:
        raise ValueError(f"kinds are some of {', '.join(KINDS + MORE_KINDS)}; none is given")
    return kinds

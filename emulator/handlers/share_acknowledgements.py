"""Acknowledgements in ShareFetch and ShareAcknowledge: what is wrong with them, and what is not.

A batch is INVALID_REQUEST if it is reversed or overlaps the one before, if it has no type, not as
many types as offsets, or one that there is not; renewing takes version 2 and a request that says
so. One such batch refuses its whole partition (semantics N17-N19).

What no share coordinator can note now is tried again after 2, 4, 8 and 16 s, and the answer waits
for it; meanwhile nothing has become of it. (A real broker varies these times by a fifth.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...wire import Error, Refused, Response, WireError
from ...wire.primitives import parse_id
from ..base.call import PARKED, Call, Sentinel
from ..share.acquired_records import RENEW, ShareAcknowledgementBatch
from ..share.share_partition_manager import SharePartitionManager, TopicIdPartition
from ..share.state import SharePartitionKey

if TYPE_CHECKING:
    from ..cluster import Cluster

_BACKOFFS_MS = (2000, 4000, 8000, 16000)
_EXHAUSTED = (
    "Error in write state RPC. Exhausted max retries to complete write state RPC without success."
)

RENEWALS_SINCE = 2
_LONGEST_MEMBER_ID = 36


class AckResult(NamedTuple):
    error: Error = Error.NONE
    message: str | None = None


class _Batch(Protocol):
    first_offset: int
    last_offset: int
    acknowledge_types: list[int]


class Asked(NamedTuple):
    part: TopicIdPartition
    batches: Sequence[_Batch]


def check_member(cluster: Cluster, group_id: str | None, member_id: str | None) -> str:
    """The group's id. Raises Refused for ids that cannot be: INVALID_REQUEST, or, in older releases
    for none, UNKNOWN_SERVER_ERROR."""
    if not cluster.release.takes_any_share_members:
        _check_uuid(member_id)
    is_known = cluster.release.refuses_share_fetches_without_group
    if is_known and group_id is None:
        raise Refused(Error.INVALID_REQUEST)
    if is_known or member_id is not None:
        check_member_id(member_id)
    if group_id is None or member_id is None:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    return group_id


def _check_uuid(member_id: str | None) -> None:
    """Raises Refused(UNKNOWN_SERVER_ERROR)."""
    try:
        parse_id(member_id or "")
    except WireError as error:
        raise Refused(Error.UNKNOWN_SERVER_ERROR) from error


def check_member_id(member_id: str | None) -> None:
    """Raises Refused(INVALID_REQUEST)."""
    if not member_id or len(member_id.encode("utf-16-le")) > 2 * _LONGEST_MEMBER_ID:
        raise Refused(Error.INVALID_REQUEST)


class Acknowledging:
    """The acknowledgements of one request, until the share coordinators have noted them."""

    def __init__(
        self,
        call: Call,
        asked: Sequence[Asked],
        carry_out: Callable[[Sequence[Asked]], dict[TopicIdPartition, AckResult]],
        answer: Callable[[dict[TopicIdPartition, AckResult]], Response | Sentinel],
        refuse: Callable[[Error], Response],
    ) -> None:
        """`answer`: what follows from the results, `refuse`: from a Refused."""
        self._call = call
        self._asked = asked
        self._carry_out = carry_out
        self._answer = answer
        self._refuse = refuse
        self._results: dict[TopicIdPartition, AckResult] = {}
        self._backoffs = iter(_BACKOFFS_MS)

    def begin(self, cluster: Cluster) -> Response | Sentinel:
        """Carry them out, now or later. Raises Refused if the whole request fails."""
        self._results |= self._carry_out(self._asked)
        self._asked = [each for each in self._asked if self._is_to_be_tried_again(each)]
        backoff_ms = next(self._backoffs, None) if self._asked else None
        if backoff_ms is None:
            for part, _ in self._asked:
                self._results[part] = AckResult(Error.COORDINATOR_NOT_AVAILABLE, _EXHAUSTED)
            return self._answer(self._results)
        timer = cluster.after(backoff_ms, lambda: self._again(cluster))
        self._call.on_lost = timer.cancel
        return PARKED

    def _again(self, cluster: Cluster) -> None:
        self._call.on_lost = None
        try:
            outcome = self.begin(cluster)
        except Refused as refused:
            outcome = self._refuse(refused.error)
        if isinstance(outcome, Response):
            self._call.answer(outcome)

    def _is_to_be_tried_again(self, asked: Asked) -> bool:
        result = self._results.get(asked.part)
        return result is not None and result.error is Error.COORDINATOR_NOT_AVAILABLE


def acknowledged(
    cluster: Cluster,
    leader: SharePartitionManager,
    group_id: str,
    member_id: str,
    asked: Iterable[Asked],
    *,
    knows_renewal: bool,
    renews: bool,
) -> dict[TopicIdPartition, AckResult]:
    """Acknowledge what can be; the result for each partition. Raises Refused if the whole request
    fails."""
    found: dict[TopicIdPartition, AckResult] = {}
    empty: list[TopicIdPartition] = []
    is_any = False
    for part, batches in asked:
        try:
            topic = cluster.topics.by_id(part.topic_id)
            if topic is None:
                raise Refused(Error.UNKNOWN_TOPIC_ID)
            _check(batches, knows_renewal=knows_renewal, renews=renews)
            if not 0 <= part.partition < len(topic.partitions):
                raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        except Refused as refused:
            found[part] = AckResult(refused.error, refused.message)
            continue
        if not batches:
            empty.append(part)
            continue
        is_any = True
        try:
            key = SharePartitionKey(group_id, *part)
            leader.acknowledge(key, member_id, [_acknowledgement(each) for each in batches])
            found[part] = AckResult()
        except Refused as refused:
            if refused.error is Error.UNKNOWN_SERVER_ERROR and refused.message is None:
                raise  # an exception there; with a message it is the coordinator's
            found[part] = AckResult(refused.error, refused.message)
    # Nothing is said of partitions without acknowledgements if none has any.
    return found | dict.fromkeys(empty if is_any else (), AckResult())


def _acknowledgement(batch: _Batch) -> ShareAcknowledgementBatch:
    return ShareAcknowledgementBatch(batch.first_offset, batch.last_offset, batch.acknowledge_types)


def _check(batches: Sequence[_Batch], *, knows_renewal: bool, renews: bool) -> None:
    before = -1
    highest = RENEW if knows_renewal else RENEW - 1
    for batch in batches:
        types = batch.acknowledge_types
        size = batch.last_offset - batch.first_offset + 1
        is_fine = (
            size > 0
            and batch.first_offset >= before
            and len(types) in (1, size)
            and all(0 <= each <= highest for each in types)
            and (renews or RENEW not in types)
        )
        if not is_fine:
            raise Refused(Error.INVALID_REQUEST)
        before = batch.last_offset

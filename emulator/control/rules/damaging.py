"""Answers that are damaged on their way: cut, sent twice, or with records that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ....wire import NO_ID, Response
from ....wire.api.fetch import FetchRequest, FetchResponse
from ...base.chain import Outcome
from ...division.division import own_copy
from ...division.places import PARTITION, TOPIC
from ..request_matcher import RequestMatcher, name_of
from .verb import Verb

if TYPE_CHECKING:
    from .interception import Interception


WAYS = ("crc", "cut")
_SIZE_BYTES = 4
_LENGTH = slice(8, 12)
_BEFORE_LENGTH = 12
_MAGIC_AT = 16
_CRC_AT = {0: 12, 1: 12, 2: 17}
"""By the magic of a batch or a message."""


class TruncateReply(Verb):
    """Only some bytes of the answer are sent."""

    is_late = True

    def __init__(self, length: int) -> None:
        self._length = length

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        _frames(meeting).append(self._cut)
        return None

    def _cut(self, frame: bytes) -> bytes:
        end = self._length
        return (
            frame[: _SIZE_BYTES + end] if end >= 0 else frame[: max(_SIZE_BYTES, len(frame) + end)]
        )


class RepeatReply(Verb):
    is_late = True

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        _frames(meeting).append(lambda frame: frame * 2)
        return None


def _frames(meeting: Interception) -> list[Callable[[bytes], bytes]]:
    passage = meeting.call.passage
    assert passage is not None, "a call that meets rules passes the chain"
    return passage.frames


class CorruptRecords(Verb):
    """The first batch of each partition that is meant is damaged."""

    is_late = True

    def __init__(self, matcher: RequestMatcher, how: str) -> None:
        """Raises ValueError for another API than Fetch."""
        if matcher.request is not FetchRequest:
            name = name_of(matcher.request)
            raise ValueError(f"an answer to {name} has no records to corrupt: that of Fetch has")
        self._matcher = matcher
        self._how = how

    def has_effect(self, meeting: Interception, response: Response | None) -> bool:
        return isinstance(response, FetchResponse) and any(self._meant(meeting, response))

    def after(self, meeting: Interception, response: Response | None) -> Outcome:
        assert isinstance(response, FetchResponse)
        own: FetchResponse = own_copy(response, meeting.version)
        for partition in self._meant(meeting, own):
            partition.records = damaged(bytes(partition.records or b""), self._how)
        return own

    def _meant(
        self, meeting: Interception, response: FetchResponse
    ) -> Iterator[FetchResponse.Topic.Partition]:
        """Partitions with records that the rule is about."""
        for topic in response.responses:
            by_id = topic.topic_id != NO_ID
            name = meeting.rules.topic_name(topic.topic_id) if by_id else topic.topic
            for each in topic.partitions:
                entry = {TOPIC: name, PARTITION: each.partition_index}
                if each.records and self._matcher.fits(entry):
                    yield each


def damaged(records: bytes, how: str) -> bytes:
    """Records with a wrong checksum in the first batch, or with half of it."""
    if how == "cut":
        size = _BEFORE_LENGTH + int.from_bytes(records[_LENGTH], "big")
        return records[: min(size, len(records)) // 2]
    changed = bytearray(records)
    if len(changed) > _MAGIC_AT:
        at = _CRC_AT.get(changed[_MAGIC_AT], _CRC_AT[2])
        changed[at : at + 1] = bytes([changed[at] ^ 0xFF]) if at < len(changed) else b""
    return bytes(changed)

"""A member of a classic group, as stock consumers are: joins, is assigned partitions, commits.

It offers the assignor `range`, which stock clients offer too, so that both share a group. It leads
the group if asked to. Heartbeats are sent between fetches (`beat`), so a member whose output
is not read expires as a consumer does that does not poll.

Source: the protocol guide; KIP-394 (a member id is given first); Kafka's RangeAssignor.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from ....wire import Error, Request
from ....wire.api.heartbeat import HeartbeatRequest
from ....wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from ....wire.api.leave_group import LeaveGroupRequest
from ....wire.api.offset_commit import OffsetCommitRequest
from ....wire.api.sync_group import SyncGroupRequest
from ....wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from ....wire.stored.keyed import keyed, read_value
from .client import Brokers, ConsoleError, check
from .group_reading import committed
from .offsets import Place

_RANGE = "range"
_CONSUMERS = "consumer"
_SESSION_MS = 45_000
_REBALANCE_MS = 60_000
_BEAT_S = 3.0
_RETRY_S = 0.1
_JOIN_UP_TO, _SYNC_UP_TO, _COMMIT_UP_TO, _LEAVE_UP_TO = 7, 4, 8, 2
_VERSION = 1  # of subscription and assignment
_AGAIN = (
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.NOT_COORDINATOR,
)
_REBALANCED = (
    Error.REBALANCE_IN_PROGRESS,
    Error.ILLEGAL_GENERATION,
    Error.UNKNOWN_MEMBER_ID,
    Error.FENCED_INSTANCE_ID,
)


class Rebalanced(Exception):
    """The partitions are no longer this member's, or not only its: it has to join again."""


class Membership:
    def __init__(self, brokers: Brokers, group: str, topic: str) -> None:
        self._brokers = brokers
        self.group = group
        self._topic = topic
        self._member_id = ""
        self._generation = -1
        self._beaten_at = 0.0
        self._counts: dict[str, int] | None = None  # of partitions, if this member leads

    def join(self) -> list[int]:
        """Join, or join again; return the partitions of the topic. Raises ConsoleError."""
        while True:
            joined = self._join()
            assignments = self._assign(joined) if joined.leader == self._member_id else []
            request = SyncGroupRequest(
                group_id=self.group,
                generation_id=self._generation,
                member_id=self._member_id,
                assignments=assignments,
            )
            answer = self._ask(request, _SYNC_UP_TO)
            self._beaten_at = time.monotonic()
            if answer.error_code in _REBALANCED:
                continue
            check(answer.error_code, f"group {self.group}")
            if not answer.assignment:
                return []
            found, _ = read_value(ConsumerProtocolAssignment, answer.assignment, newer=True)
            mine = [
                each.partitions for each in found.assigned_partitions if each.topic == self._topic
            ]
            return sorted(index for partitions in mine for index in partitions)

    def _join(self) -> JoinGroupResponse:
        subscription = keyed(ConsumerProtocolSubscription(topics=[self._topic]), _VERSION)
        while True:
            request = JoinGroupRequest(
                group_id=self.group,
                session_timeout_ms=_SESSION_MS,
                rebalance_timeout_ms=_REBALANCE_MS,
                member_id=self._member_id,
                protocol_type=_CONSUMERS,
                protocols=[JoinGroupRequest.Protocol(name=_RANGE, metadata=subscription)],
            )
            answer: JoinGroupResponse = self._ask(request, _JOIN_UP_TO, _REBALANCE_MS / 1000)
            if answer.error_code == Error.MEMBER_ID_REQUIRED:
                self._member_id = answer.member_id
            elif answer.error_code == Error.UNKNOWN_MEMBER_ID:
                self._member_id = ""
            elif answer.error_code == Error.INCONSISTENT_GROUP_PROTOCOL:
                raise ConsoleError(f"group {self.group} has members that do not offer {_RANGE}")
            elif answer.error_code != Error.REBALANCE_IN_PROGRESS:
                check(answer.error_code, f"group {self.group}")
                self._member_id, self._generation = answer.member_id, answer.generation_id
                return answer

    def _assign(self, joined: JoinGroupResponse) -> list[SyncGroupRequest.Assignment]:
        """Each member gets neighbouring partitions of each topic, the first ones one more."""
        wanted: dict[str, list[str]] = {}
        for member in sorted(joined.members, key=lambda m: m.group_instance_id or m.member_id):
            read, _ = read_value(ConsumerProtocolSubscription, member.metadata, newer=True)
            for topic in read.topics:
                wanted.setdefault(topic, []).append(member.member_id)
        self._counts = self._partition_counts(wanted)
        parts: dict[str, list[ConsumerProtocolAssignment.AssignedPartition]] = {
            member.member_id: [] for member in joined.members
        }
        for topic, members in wanted.items():
            each, more = divmod(self._counts.get(topic, 0), len(members))
            first = 0
            for number, member_id in enumerate(members):
                after = first + each + (number < more)
                if after > first:
                    parts[member_id].append(
                        ConsumerProtocolAssignment.AssignedPartition(
                            topic=topic, partitions=list(range(first, after))
                        )
                    )
                first = after
        return [
            SyncGroupRequest.Assignment(
                member_id=member_id,
                assignment=keyed(ConsumerProtocolAssignment(assigned_partitions=own), _VERSION),
            )
            for member_id, own in parts.items()
        ]

    def _partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        found = self._brokers.topics(topics)
        return {each.name or "": len(each.partitions) for each in found if not each.error_code}

    def beat(self) -> None:
        """Send a heartbeat if it is time. Raises Rebalanced, ConsoleError."""
        now = time.monotonic()
        if now - self._beaten_at < _BEAT_S:
            return
        self._beaten_at = now
        request = HeartbeatRequest(
            group_id=self.group, generation_id=self._generation, member_id=self._member_id
        )
        answer = self._ask(request)
        if answer.error_code in _REBALANCED:
            raise Rebalanced
        check(answer.error_code, f"group {self.group}")
        if self._counts is not None and self._partition_counts(self._counts) != self._counts:
            raise Rebalanced  # there are new partitions: the leader assigns them

    def committed(self) -> dict[Place, int]:
        return committed(self._brokers, self.group)

    def commit(self, offsets: Mapping[int, int]) -> None:
        """Commit. Raises Rebalanced if this member may not any more, ConsoleError."""
        partition = OffsetCommitRequest.Topic.Partition
        partitions = [
            partition(partition_index=index, committed_offset=offset, committed_metadata="")
            for index, offset in sorted(offsets.items())
        ]
        request = OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=self._generation,
            member_id=self._member_id,
            topics=[OffsetCommitRequest.Topic(name=self._topic, partitions=partitions)],
        )
        answer = self._ask(request, _COMMIT_UP_TO)
        for each in answer.topics[0].partitions:
            if each.error_code in _REBALANCED:
                raise Rebalanced
            check(each.error_code, f"offset of {self._topic}-{each.partition_index}")

    def leave(self) -> None:
        """Leave the group, so that others get the partitions at once."""
        request = LeaveGroupRequest(group_id=self.group, member_id=self._member_id)
        self._ask(request, _LEAVE_UP_TO)

    def _ask(self, request: Request, most: int | None = None, more_s: float = 0) -> Any:
        """Ask the coordinator, wherever it is by now. `more_s`: how long others may take."""
        deadline = time.monotonic() + self._brokers.timeout
        while True:
            answer = self._brokers.ask_coordinator(self.group, request, most=most, more_s=more_s)
            code = getattr(answer, "error_code", 0)
            if code not in _AGAIN or time.monotonic() > deadline:
                return answer
            self._brokers.forget_coordinator(self.group)
            time.sleep(_RETRY_S)

"""A view of a share group (KIP-932): its members, where it begins, what is in flight.

Members come from ShareGroupDescribe, start offsets and lag from DescribeShareGroupOffsets. What is
in flight no request of Kafka's tells: only an emulator knows it, and can end locks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...wire import Error
from ...wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from ...wire.api.share_group_describe import ShareGroupDescribeRequest
from ..base.words import Guessable, number_of
from .group_views import GroupConfigs, seen_member, sum_of_lags
from .group_waits import Checked, MemberWaits, and_, group_wait, topic_name_of
from .members import DEAD, Described, Place, SeenInFlight, SeenMember
from .reading import EARLIEST, LATEST, offsets_at, partition_count
from .source import Source, check, described
from .waiting import WITHIN_S, Wait, seconds_of

_DESCRIBE, _OFFSETS = 1, 1
_NOT_HERE = (Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE, Error.GROUP_ID_NOT_FOUND)
_UNKNOWN = -1
SHARE = "share"
_LATEST = (
    "a group does not get what was written before its first fetch,"
    " unless its config share.auto.offset.reset says so"
)


class ShareGroupView(MemberWaits, GroupConfigs, Guessable):
    """A share group, read anew at each call; it need not exist yet. Methods raise Refused as the
    broker would answer."""

    def __init__(self, source: Source, group_id: str) -> None:
        self._source = source
        self.group_id = group_id

    def __repr__(self) -> str:
        return described(f"share group {self.group_id}", self._about)

    @property
    def state(self) -> str:
        """As Kafka names it: "Stable", "Empty", "Dead" if there is none."""
        return self._described().state

    @property
    def epoch(self) -> int | None:
        """It rises when members or their topics change. None if there is no such group."""
        return self._described().epoch

    @property
    def members(self) -> tuple[SeenMember, ...]:
        """Its members and what is assigned to each; several may have the same partition."""
        return self._described().members

    def start_offsets(self) -> dict[Place, int]:
        """By topic and partition: all records below this offset are done with. -1 where nothing
        was acknowledged yet."""
        return {place: start for place, (start, _) in self._offsets().items()}

    def lags(self) -> dict[Place, int]:
        """How many records of each partition are yet to be done with, up to the high watermark;
        those in flight too. -1 where nothing is done with yet, and so nothing known."""
        return {place: lag for place, (_, lag) in self._offsets().items()}

    def lag(self, topic: str | None = None) -> int:
        """How many records are yet to be done with, of one topic or of all, as far as it is known
        (`lags`). Raises Refused: a mistyped topic has no lag (UNKNOWN_TOPIC_OR_PARTITION), nor has
        a group that is done with nothing there (GROUP_ID_NOT_FOUND)."""
        known = {place: lag for place, lag in self.lags().items() if lag != _UNKNOWN}
        return sum_of_lags(self, topic, known)

    @property
    def in_flight(self) -> tuple[SeenInFlight, ...]:
        """The records that members have acquired, and not acknowledged yet, by topic, partition
        and offset. An emulator's only."""
        held = self._source.powers.share_in_flight(self.group_id)
        clients = {each.member_id: each.client_id for each in self.members} if held else {}
        return tuple(replace(each, client_id=clients.get(each.member_id, "")) for each in held)

    # What a test does to it

    def expire_locks(self, member: SeenMember | str | None = None) -> int:
        """End the locks of all records in flight now, or of those that one member has (given by
        itself or by its id), as if their time was over: they are delivered again, or archived at
        their limit. Returns how many. An emulator's only. Raises TypeError, ValueError."""
        return self._source.powers.expire_share_locks(self.group_id, self._member_id(member))

    def redeliver(self, member: SeenMember | str | None = None) -> int:
        """Release all records in flight now, or those that one member has, as the members could.
        Returns how many. An emulator's only. Raises Refused if the share coordinator refuses it,
        TypeError, ValueError."""
        return self._source.powers.redeliver(self.group_id, self._member_id(member))

    def poison(self, topic: str, offset: int, *, partition: int = 0) -> None:
        """Make a record poison: as if every member that gets it failed, whoever accepts it releases
        it. So it is delivered as often as it may be, and then archived; who rejects it is done with
        it. The record may be one that is written later. An emulator's only. Raises Refused
        (UNKNOWN_TOPIC_OR_PARTITION), TypeError, and ValueError for a record that the group is done
        with."""
        for name, value in (("offset", offset), ("partition", partition)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} is an int, not {value!r}")
            if value < 0:
                raise ValueError(f"{name} is 0 or more, not {value}")
        name = self._source.topic_name(topic_name_of(topic))
        self._source.powers.poison_share(self.group_id, name, partition, offset)

    # What a test waits for

    def wait_acknowledged(self, *topics: str, timeout: float | None = None) -> None:
        """Wait until all records of these topics are done with: accepted, rejected, or archived;
        without any topic, of all that the group reads. Raises WaitTimeout."""
        __tracebackhide__ = True
        self._source.wait(_acknowledged(self, topics), timeout)

    async def await_acknowledged(self, *topics: str, timeout: float | None = None) -> None:
        """`wait_acknowledged` in a coroutine."""
        __tracebackhide__ = True
        await self._source.wait_async(_acknowledged(self, topics), timeout)

    def assert_acknowledged(self, *topics: str, within: float = WITHIN_S) -> None:
        """All records of these topics are done with, as `wait_acknowledged` has it. Waits `within`
        so many seconds for acknowledgements on their way."""
        __tracebackhide__ = True
        seconds = seconds_of("within", within, WITHIN_S)
        self._source.wait(_acknowledged(self, topics), seconds)

    async def aassert_acknowledged(self, *topics: str, within: float = WITHIN_S) -> None:
        """`assert_acknowledged` in a coroutine."""
        __tracebackhide__ = True
        seconds = seconds_of("within", within, WITHIN_S)
        await self._source.wait_async(_acknowledged(self, topics), seconds)

    # Helpers

    def _described(self) -> Described:
        request = ShareGroupDescribeRequest(
            group_ids=[self.group_id], include_authorized_operations=False
        )
        (found,) = self._source.ask(request, _DESCRIBE).groups
        if found.error_code in _NOT_HERE:
            return Described(SHARE, DEAD, "", None)
        check(found.error_code, f"share group {self.group_id!r}", found.error_message)
        members = tuple(self._member(each) for each in found.members)
        state, epoch = found.group_state, found.group_epoch
        return Described(SHARE, state, found.assignor_name, epoch, members)

    def _member(self, found: Any) -> SeenMember:
        places = sorted(
            (each.topic_name, index)
            for each in found.assignment.topic_partitions
            for index in each.partitions
        )
        return seen_member(self._source, found, None, places, found.member_epoch)

    def _offsets(self) -> dict[Place, tuple[int, int]]:
        """Start offset and lag of each partition that the group has."""
        asked = DescribeShareGroupOffsetsRequest.Group(group_id=self.group_id, topics=None)
        request = DescribeShareGroupOffsetsRequest(groups=[asked])
        (found,) = self._source.ask(request, _OFFSETS).groups
        if found.error_code in _NOT_HERE:
            return {}
        check(found.error_code, f"the offsets of share group {self.group_id!r}")
        offsets = {
            (topic.topic_name, each.partition_index): (each.start_offset, each.lag)
            for topic in found.topics
            for each in topic.partitions
        }
        return dict(sorted(offsets.items()))

    def _member_id(self, member: SeenMember | str | None) -> str | None:
        if member is None:
            return None
        member_id = member.member_id if isinstance(member, SeenMember) else member
        if not isinstance(member_id, str):
            raise TypeError(f"member is one of the group's members, or its id, not {member!r}")
        known = {each.member_id for each in self.members}
        known |= {each.member_id for each in self.in_flight}
        if member_id not in known:
            there = ", ".join(sorted(known)) or "none"
            text = (
                f"share group {self.group_id!r} has no member {member_id!r}; its members: {there}"
            )
            raise ValueError(text)
        return member_id

    def _about(self) -> str:
        found = self._described()
        members = ", ".join(map(repr, found.members)) or "no members"
        lag = sum(max(0, each) for each in self.lags().values())
        return f"{found.state}, epoch {found.epoch}, {members}, lag {lag}"


def _acknowledged(view: ShareGroupView, topics: tuple[str, ...]) -> Wait[bool]:
    def look(view: ShareGroupView) -> Checked[bool]:
        offsets = view._offsets()
        source = view._source
        if topics:
            names = [source.topic_name(topic) for topic in topics]
            places = [(name, at) for name in names for at in range(partition_count(source, name))]
        else:
            places = list(offsets)
        missing = [] if places else ["it reads no topic yet"]
        missing += _not_done(source, places, offsets)
        return Checked(True, missing)

    what = and_(topics) if topics else "all of its topics"
    return group_wait(view, f"have acknowledged {what}", look)


def _not_done(
    source: Source, places: Iterable[Place], offsets: dict[Place, tuple[int, int]]
) -> list[str]:
    """In which partitions records are left, in sentences."""
    missing, untouched = [], False
    for topic, index in places:
        _, lag = offsets.get((topic, index), (_UNKNOWN, _UNKNOWN))
        if lag > 0:
            missing.append(
                f"{topic}-{index} has {number_of(lag, 'record')} left to be acknowledged"
            )
        elif lag == _UNKNOWN:
            start = offsets_at(source, topic, [index], EARLIEST)[index]
            end = offsets_at(source, topic, [index], LATEST)[index]
            if end > start:
                missing.append(f"of {topic}-{index} nothing is acknowledged, its end is {end}")
                untouched = True
    return [*missing, _LATEST] if untouched else missing

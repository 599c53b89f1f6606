"""Consumers: readers without a group, and members of a group that commit what they have read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from odradek.wire import Error
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.batch import batches
from odradek.wire.records import read_records

from tests.requests.committed_offsets import commit_all
from tests.requests.fetch import asked, fetch_request
from tests.simulation.actor import Actor, Doing, Sleep
from tests.simulation.book import Broken, Place
from tests.simulation.membership import Member, ModernMember
from tests.simulation.world import World

FETCH = 11
EARLIEST = -2


class Delivered(NamedTuple):
    offset: int
    key: bytes | None
    value: bytes | None
    name: bytes


def delivered(data: bytes, aborted: Iterable[Any], offset: int) -> tuple[list[Delivered], int]:
    """What a stock consumer makes of fetched bytes, and where it goes on (KIP-98)."""
    found: list[Delivered] = []
    pending = sorted(aborted, key=lambda each: each.first_offset)
    open_ids: set[int] = set()
    for pos, header in batches(data):
        while pending and pending[0].first_offset <= header.last_offset:
            open_ids.add(pending.pop(0).producer_id)
        if header.is_control:
            open_ids.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in open_ids):
            found += [
                Delivered(each.offset, each.key, each.value, each.headers[0][1] or b"")
                for each in read_records(data, pos)
                if each.offset >= offset
            ]
        offset = max(offset, header.last_offset + 1)
    return found, offset


class Reader(Actor):
    """Reads whole partitions in one isolation level, and notes all that it is given."""

    def __init__(self, world: World, name: str, place: Place, *, committed: bool) -> None:
        super().__init__(world, name)
        self.place, self.committed = place, committed
        self.read: list[Delivered] = []
        self.reborn()

    def reborn(self) -> None:
        self.offset = 0
        self.begins = 0
        """Where its first fetch began: later than 0 if older records were deleted."""
        self.read = []

    def play(self) -> Doing[None]:
        while not (self.world.is_written and self._is_at_the_end()):
            yield from self._poll()
            yield Sleep(self.random.choice((5, 200, 1000)))

    def _is_at_the_end(self) -> bool:
        partition = self.world.partition(self.place)
        if partition is None or partition.last_stable_offset < partition.high_watermark:
            return False
        return self.offset >= partition.high_watermark

    def _poll(self) -> Doing[None]:
        topic, index = self.place
        max_bytes = self.random.choice((1, 300, 1 << 20))
        request = fetch_request(
            asked(index, self.offset, max_bytes),
            topic=topic,
            isolation_level=int(self.committed),
            max_wait_ms=self.random.choice((0, 300)),
        )
        answer = yield from self.ask(request, FETCH)
        if answer is None:
            return
        result = answer.responses[0].partitions[0]
        if result.error_code == Error.OFFSET_OUT_OF_RANGE:
            yield from self._reset()
        elif not result.error_code:
            data, aborted = bytes(result.records or b""), result.aborted_transactions or []
            found, self.offset = delivered(data, aborted, self.offset)
            for each in found:
                self.world.book.delivered(
                    self.place, each.offset, each.name, committed=self.committed
                )
            self.read += found
            if found:
                self.tell("read", *self.place, found[0].offset, found[-1].offset)

    def _reset(self) -> Doing[None]:
        """`auto.offset.reset=earliest`: what was deleted before it was read is no loss."""
        Topic = ListOffsetsRequest.Topic
        wanted = Topic.Partition(partition_index=self.place[1], timestamp=EARLIEST)
        request = ListOffsetsRequest(
            replica_id=-1, topics=[Topic(name=self.place[0], partitions=[wanted])]
        )
        answer = yield from self.ask(request, 4)
        if answer is None or answer.topics[0].partitions[0].error_code:
            return
        start = answer.topics[0].partitions[0].offset
        if start < self.offset:
            raise Broken(f"{self.place} begins at {start}, but {self.offset} is out of range")
        self.tell("reset", *self.place, self.offset, start)
        self.offset, self.begins, self.read = start, start, []


class Positions:
    """Where a member goes on in its partitions."""

    def __init__(self, member: Member) -> None:
        self.member, self.actor, self.world = member, member.actor, member.world
        self.at: dict[int, int] = {}

    def refresh(self) -> Doing[bool]:
        """Ask where the group is, in each partition. Returns whether all is known."""
        member, book = self.member, self.world.book
        least = {
            index: book.committed.get((member.group, (member.topic, index)), 0)
            for index in member.partitions
        }
        request = _offsets_request(member)
        answer = yield from self.actor.ask(request, 7)
        if answer is None or answer.error_code:
            yield from self.actor.pause()
            return False
        found = {each.partition_index: each for each in answer.topics[0].partitions}
        if any(each.error_code for each in found.values()):  # UNSTABLE_OFFSET_COMMIT
            yield from self.actor.pause(1000)
            return False
        self.at = {index: max(0, found[index].committed_offset) for index in least}
        self.actor.tell("begins at", dict(self.at))
        for index, offset in self.at.items():
            book.begins_at(member.group, (member.topic, index), offset, least[index])
        member.is_fresh = False
        return True

    def poll(self, *, committed: bool, max_bytes: int = 400) -> Doing[dict[int, list[Delivered]]]:
        """Fetch from each partition, and go on behind what is returned."""
        topic = self.member.topic
        before = dict(self.at)
        if not before:
            return {}
        request = fetch_request(
            *(asked(index, offset, max_bytes) for index, offset in self.at.items()),
            topic=topic,
            isolation_level=int(committed),
            max_wait_ms=self.actor.random.choice((0, 300)),
        )
        answer = yield from self.actor.ask(request, FETCH)
        read: dict[int, list[Delivered]] = {}
        if answer is None:
            return read
        for result in answer.responses[0].partitions:
            if result.error_code == Error.OFFSET_OUT_OF_RANGE:
                raise Broken(f"{self.at} of {topic} is out of range")
            if not result.error_code:
                index, data = result.partition_index, bytes(result.records or b"")
                found, self.at[index] = delivered(
                    data, result.aborted_transactions or [], self.at[index]
                )
                for each in found:
                    place = topic, index
                    self.world.book.delivered(place, each.offset, each.name, committed=committed)
                if found:
                    read[index] = found
                elif self.at[index] == before[index]:
                    self.world.book.reached[self.member.group, (topic, index)] = self.at[index]
        return read


def _offsets_request(member: Member) -> Any:
    topics = [OffsetFetchRequest.Topic(name=member.topic, partition_indexes=member.partitions)]
    return OffsetFetchRequest(group_id=member.group, topics=topics, require_stable=True)


class GroupConsumer(Actor):
    """Reads what its group gives it, and commits after each poll."""

    def __init__(
        self, world: World, name: str, make: type[Member], group: str, topic: str, count: int
    ) -> None:
        super().__init__(world, name)
        self.member = make(self, group, topic, count)
        self.positions = Positions(self.member)

    def reborn(self) -> None:
        self.member.reborn()

    def play(self) -> Doing[None]:
        member = self.member
        while not self.world.is_drained(member.group, member.topic, member.count):
            yield from member.ensure()
            if not member.is_in or (member.is_fresh and not (yield from self.positions.refresh())):
                continue
            yield from self._poll()
            yield Sleep(self.random.choice((5, 100, 500)))
        yield from member.leave()

    def _poll(self) -> Doing[None]:
        before = dict(self.positions.at)
        yield from self.positions.poll(committed=True)
        moved = {index: at for index, at in self.positions.at.items() if at != before[index]}
        if moved:
            yield Sleep(self.random.choice((0, 0, 50)))
            yield from self._commit(moved)

    def _commit(self, offsets: dict[int, int]) -> Doing[None]:
        member = self.member
        request = commit_all(
            *((member.topic, index, offset) for index, offset in offsets.items()),
            group=member.group,
            generation_id_or_member_epoch=member.epoch,
            member_id=member.member_id,
        )
        group, topic = member.group, member.topic
        answer = yield from self.ask(request, 9 if isinstance(member, ModernMember) else 7)
        if answer is None:  # it may arrive late, and must not count then
            yield from member.leave()
            return
        errors = {each.partitions[0].error_code for each in answer.topics}
        self.tell("committed", group, offsets, [Error(each).name for each in sorted(errors)])
        if errors == {0}:
            for index, offset in offsets.items():
                self.world.book.committed_is(group, (topic, index), offset)
        else:
            yield from self._refused({Error(each) for each in errors})

    def _refused(self, errors: set[Error]) -> Doing[None]:
        member = self.member
        member.is_fresh = True  # go on from what is committed
        if Error.UNKNOWN_MEMBER_ID in errors and not isinstance(member, ModernMember):
            member.member_id = ""
        if any(not each.retriable for each in errors):
            member.is_in = isinstance(member, ModernMember)
            member.beaten = 0
        yield from self.pause()

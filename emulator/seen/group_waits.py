"""What a test waits for in a consumer group, and asserts of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ...wire import Refused
from ...wire.api.list_groups import ListGroupsRequest
from ..base.fitting import told
from ..base.words import number_of
from .matching import differences_of
from .members import DEAD, EMPTY, STABLE, Described, Place, SeenMember, SeenOffset
from .reading import EARLIEST, LATEST, READ_COMMITTED, has_more, offsets_at, partition_count
from .source import Source
from .waiting import WITHIN_S, Wait, count_of, seconds_of

T = TypeVar("T")

LIST_GROUPS = 5
_VIEWS = {"share": "share_group", "streams": "streams_group"}
"""By the type of a group; those of other types are shown by `group`."""


class WithMembers(Protocol):
    """A view of a group of any type."""

    group_id: str
    _source: Source

    def _described(self) -> Described: ...


class Grouped(WithMembers, Protocol):
    """A view of a group of consumers."""

    def committed(self) -> dict[Place, SeenOffset]: ...


V = TypeVar("V", bound=WithMembers)


class MemberWaits(WithMembers):
    """Waits for the members of a group. `timeout` in real seconds, by default that of the broker.
    Raises WaitTimeout; Refused for a topic that is not there."""

    def wait_stable(
        self, members: int | None = None, *, timeout: float | None = None
    ) -> tuple[SeenMember, ...]:
        """Wait until no rebalance is going on, and there are so many members, or some; return
        them."""
        __tracebackhide__ = True
        return self._source.wait(_stable(self, members), timeout)

    async def await_stable(
        self, members: int | None = None, *, timeout: float | None = None
    ) -> tuple[SeenMember, ...]:
        """`wait_stable` in a coroutine."""
        __tracebackhide__ = True
        return await self._source.wait_async(_stable(self, members), timeout)

    def wait_assigned(
        self, topic: str, *topics: str, timeout: float | None = None
    ) -> tuple[SeenMember, ...]:
        """Wait until all partitions of these topics are assigned to members; return the
        members."""
        __tracebackhide__ = True
        return self._source.wait(_assigned(self, (topic, *topics)), timeout)

    async def await_assigned(
        self, topic: str, *topics: str, timeout: float | None = None
    ) -> tuple[SeenMember, ...]:
        """`wait_assigned` in a coroutine."""
        __tracebackhide__ = True
        return await self._source.wait_async(_assigned(self, (topic, *topics)), timeout)

    def wait_empty(self, *, timeout: float | None = None) -> None:
        """Wait until it has no members."""
        __tracebackhide__ = True
        self._source.wait(_empty(self), timeout)

    async def await_empty(self, *, timeout: float | None = None) -> None:
        """`wait_empty` in a coroutine."""
        __tracebackhide__ = True
        await self._source.wait_async(_empty(self), timeout)


class GroupWaits(Grouped):
    """Waits for what a group of consumers does. `timeout` and errors as above."""

    def wait_consumed(
        self, *topics: str, isolation: str = READ_COMMITTED, timeout: float | None = None
    ) -> dict[Place, int]:
        """Wait until it has committed all that there is in these topics; without any, in all
        partitions that are assigned, or have a committed offset. What its consumers would not be
        given (markers, aborted records, with read_committed open transactions) need not be
        committed. Returns the committed offsets."""
        __tracebackhide__ = True
        return self._source.wait(_consumed(self, topics, isolation), timeout)

    async def await_consumed(
        self, *topics: str, isolation: str = READ_COMMITTED, timeout: float | None = None
    ) -> dict[Place, int]:
        """`wait_consumed` in a coroutine."""
        __tracebackhide__ = True
        return await self._source.wait_async(_consumed(self, topics, isolation), timeout)

    def assert_committed(self, offsets: Mapping[Place, Any], *, within: float = WITHIN_S) -> None:
        """It has committed these offsets, or pairs of an offset and its metadata, by topic and
        partition; others may be there too. Waits `within` so many seconds for those on their way.
        An offset may be a function or another matcher, as for records."""
        __tracebackhide__ = True
        seconds = seconds_of("within", within, WITHIN_S)
        self._source.wait(_committed(self, offsets), seconds)

    async def aassert_committed(
        self, offsets: Mapping[Place, Any], *, within: float = WITHIN_S
    ) -> None:
        """`assert_committed` in a coroutine."""
        __tracebackhide__ = True
        seconds = seconds_of("within", within, WITHIN_S)
        await self._source.wait_async(_committed(self, offsets), seconds)


class Checked(NamedTuple, Generic[T]):
    """A look at a group."""

    result: T
    missing: list[str]
    """What is not as it should be, in sentences."""


def group_wait(view: V, what: str, check: Callable[[V], Checked[T]]) -> Wait[T]:
    """A wait until a look at a group misses nothing."""

    def look() -> T | None:
        found = check(view)
        return None if found.missing else found.result

    def there() -> str:
        missing = [*check(view).missing, *of_another_type(view)]
        return "\n".join([f"There is {view!r}.", *(f"  {each}" for each in missing)])

    return Wait(f"group {view.group_id!r} to {what}", look, there, group=view.group_id)


def of_another_type(view: WithMembers) -> list[str]:
    """A sentence, if the group of this name is one that another view shows."""
    described = view._described()
    if described.state != DEAD:
        return []
    try:
        groups = view._source.ask(ListGroupsRequest(), LIST_GROUPS).groups
    except Refused:  # a broker that is too old to have groups of other types, for instance
        return []
    kinds = [each.group_type.lower() for each in groups if each.group_id == view.group_id]
    shown_by = {kind: _VIEWS.get(kind, "group") for kind in kinds}
    return [
        f"there is a {kind} group of this name: kafka.{verb}({view.group_id!r}) shows it"
        for kind, verb in shown_by.items()
        if verb != _VIEWS.get(described.type, "group")
    ]


def _stable(view: WithMembers, members: int | None) -> Wait[tuple[SeenMember, ...]]:
    if members == 0 and members is not False:
        raise ValueError("members is a whole number from 1 on, not 0: use wait_empty")
    count = None if members is None else count_of("members", members)

    def check(view: WithMembers) -> Checked[tuple[SeenMember, ...]]:
        found = view._described()
        missing = []
        if found.state != STABLE:
            missing.append(f"its state is {found.state}, not {STABLE}")
        if count is not None and len(found.members) != count:
            missing.append(f"it has {_members(len(found.members))}, not {count}")
        return Checked(found.members, missing)

    return group_wait(view, "be stable" + (f" with {_members(count)}" if count else ""), check)


def _assigned(view: WithMembers, topics: tuple[str, ...]) -> Wait[tuple[SeenMember, ...]]:
    def check(view: WithMembers) -> Checked[tuple[SeenMember, ...]]:
        members = view._described().members
        assigned = {place for member in members for place in member.assignment}
        wanted = _places(view, topics)
        missing = [f"{_at(each)} is assigned to nobody" for each in wanted if each not in assigned]
        return Checked(members, missing)

    return group_wait(view, f"have all partitions of {and_(topics)} assigned", check)


def _consumed(view: Grouped, topics: tuple[str, ...], isolation: str) -> Wait[dict[Place, int]]:
    def check(view: Grouped) -> Checked[dict[Place, int]]:
        offsets = {place: each.offset for place, each in view.committed().items()}
        if topics:
            places = _places(view, topics)
        else:
            members = view._described().members
            places = sorted({*offsets, *(each for one in members for each in one.assignment)})
        missing = [] if places else ["it has committed nothing, and has no partition assigned"]
        missing += _unread(view, places, offsets, isolation)
        return Checked({each: offsets[each] for each in places if each in offsets}, missing)

    what = f"have consumed {and_(topics)}" if topics else "have consumed all of its topics"
    return group_wait(view, what, check)


def _unread(
    view: Grouped, places: list[Place], offsets: dict[Place, int], isolation: str
) -> list[str]:
    """Of which partitions something is not committed, in sentences."""
    source, found = view._source, []
    for topic in dict.fromkeys(topic for topic, _ in places):
        indexes = [index for name, index in places if name == topic]
        ends = offsets_at(source, topic, indexes, LATEST)
        starts = offsets_at(source, topic, indexes, EARLIEST)
        for index in indexes:
            offset = offsets.get((topic, index))
            begin = starts[index] if offset is None else offset
            if begin < ends[index] and has_more(source, topic, index, begin, isolation):
                has = "nothing is committed" if offset is None else f"{offset} is committed"
                found.append(f"of {topic}-{index} {has}, its end is {ends[index]}")
    return found


def _empty(view: WithMembers) -> Wait[bool]:
    def check(view: WithMembers) -> Checked[bool]:
        found = view._described()
        is_empty = found.state in (EMPTY, DEAD)
        missing = [] if is_empty else [f"it has {_members(len(found.members))}"]
        return Checked(True, missing)

    return group_wait(view, "have no members", check)


def places_of(offsets: Mapping[Place, T]) -> Mapping[Place, T]:
    """Offsets that a test gives. Raises TypeError if they are not by topic and partition."""
    if not isinstance(offsets, Mapping):
        raise TypeError(f"offsets are a dict by (topic, partition), not {offsets!r}")
    for place in offsets:
        if not (isinstance(place, tuple) and [type(each) for each in place] == [str, int]):
            raise TypeError(f"offsets are given by (topic, partition), not by {place!r}")
    return offsets


def _committed(view: Grouped, expected: Mapping[Place, Any]) -> Wait[bool]:
    places_of(expected)

    def check(view: Grouped) -> Checked[bool]:
        committed = view.committed()
        missing: list[str] = []
        for (name, index), each in expected.items():
            place = (view._source.topic_name(name), index)
            found = committed.get(place)
            if found is None:
                missing.append(f"{_at(place)}: nothing is committed, expected {told(each)}")
            elif isinstance(each, tuple):
                missing += differences_of(_at(place), list(each), [found.offset, found.metadata])
            else:
                missing += differences_of(_at(place), each, found.offset)
        return Checked(True, missing)

    offsets = ", ".join(f"{_at(place)}: {told(each)}" for place, each in expected.items())
    return group_wait(view, f"have committed {offsets}", check)


def _places(view: WithMembers, topics: tuple[str, ...]) -> list[Place]:
    source = view._source
    names = [source.topic_name(topic) for topic in topics]
    return [(name, index) for name in names for index in range(partition_count(source, name))]


def _at(place: Place) -> str:
    return f"{place[0]}-{place[1]}"


def and_(topics: tuple[str, ...]) -> str:
    """The names of topics that a test gives, in words. Raises TypeError for what is no name."""
    for topic in topics:
        topic_name_of(topic)
    return " and ".join(topics)


def topic_name_of(topic: object) -> str:
    """A topic's name that a test gives. Raises TypeError for a list of them, or a view."""
    if not isinstance(topic, str):
        raise TypeError(f"a topic is given by its name, a str, not {topic!r}")
    return topic


def _members(count: int) -> str:
    return number_of(count, "member") if count else "no members"

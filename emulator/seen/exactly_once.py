"""assert_exactly_once: what was sent is there once, and what was read was read once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from ..base.fitting import shown
from ..base.words import number_of
from .produced import NewRecord, listed, new_record, to_bytes
from .reading import READ_UNCOMMITTED
from .record import COMMITTED, Raw
from .verbs import Records

_MOST_TOLD = 20
Identity: TypeAlias = Any
"""What tells records from each other: the value, the key and the value, or the place."""


def assert_exactly_once(
    sent: Iterable[Any],
    orders: Records[bytes | None, bytes | None],
    *,
    read: Iterable[Any] | None = None,
) -> None:
    """Each record that was sent is committed once in a topic (or a partition), and nothing else is.

    `sent` are values, or NewRecords, whose keys count too if all are NewRecords. With `read`, each
    committed record was also read once, and no other: messages of confluent-kafka, aiokafka or
    kafka-python, records of a view, or values. Raises AssertionError that names each record that is
    lost, duplicated or aborted.
    """
    __tracebackhide__ = True
    if not isinstance(orders, Records):
        raise TypeError(f'orders is a view of a topic, kafka.topic("orders"), not {orders!r}')
    given = listed("sent", sent)
    there = orders.records(READ_UNCOMMITTED)
    faults = list(_of_sent(given, there, orders.name))
    if read is not None:
        faults += _of_read(listed("read", read), there)
    if faults:
        more = [f"  ({len(faults) - _MOST_TOLD} more)"] if len(faults) > _MOST_TOLD else []
        were = f"{number_of(len(given), 'record')} {'was' if len(given) == 1 else 'were'}"
        head = f"{were} to be in {orders.name} exactly once each, but:"
        raise AssertionError(
            "\n".join([head, *(f"  {each}" for each in faults[:_MOST_TOLD]), *more])
        )


def _of_sent(sent: list[Any], there: list[Raw], name: str) -> Iterator[str]:
    """What is wrong with what was sent, in sentences."""
    is_keyed = bool(sent) and all(isinstance(each, NewRecord) for each in sent)
    wanted: dict[Identity, int] = defaultdict(int)
    for each in map(new_record, sent):
        key, value = to_bytes(each.key, "key"), to_bytes(each.value, "value")
        wanted[(key, value) if is_keyed else value] += 1
    found = _by_identity(there, lambda each: (each.key, each.value) if is_keyed else each.value)
    for identity, count in wanted.items():
        committed, others = found.pop(identity, ([], []))
        what = f"key {identity[0]!r}, value {shown(identity[1])}" if is_keyed else shown(identity)
        if len(committed) > count:
            times = f"is there {len(committed)} times, but was sent {_times(count)}"
            yield f"duplicate: {what} {times}: {', '.join(map(shown, committed))}"
        elif len(committed) < count:
            states = f": only {', '.join(map(shown, others))}" if others else ""
            times = f", {count - len(committed)} of {count} times" if count > 1 else ""
            yield f"lost: {what} is not committed in {name}{times}{states}"
    for committed, _ in found.values():
        yield from (f"never sent: {shown(each)}" for each in committed)


def _of_read(read: list[Any], there: list[Raw]) -> Iterator[str]:
    """What is wrong with what was read, in sentences."""
    places = [_place(each) for each in read]
    if None in places:
        identities: list[Identity] = [to_bytes(_value(each), "value") for each in read]
        found = _by_identity(there, lambda each: each.value)
    else:
        identities = places
        found = _by_identity(there, _place)
    counts: dict[Identity, int] = defaultdict(int)
    for identity in identities:
        counts[identity] += 1
    for identity, (committed, others) in found.items():
        count = counts.pop(identity, 0)
        if count > len(committed) and others:
            yield from (f"read, but {each.state}: {shown(each)}" for each in others)
        elif count > len(committed):
            yield f"read {count} times: {', '.join(map(shown, committed))}"
        elif count < len(committed):
            yield f"not read: {', '.join(map(shown, committed))}"
    for identity in counts:
        yield f"read, but not there: {shown(identity)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _by_identity(
    there: list[Raw], identity: Callable[[Raw], Identity]
) -> dict[Identity, tuple[list[Raw], list[Raw]]]:
    """Of each identity the records that are committed, and those that are not."""
    found: dict[Identity, tuple[list[Raw], list[Raw]]] = defaultdict(lambda: ([], []))
    for each in there:
        found[identity(each)][each.state != COMMITTED].append(each)
    return dict(found)


def _place(message: Any) -> tuple[Any, Any, Any] | None:
    """Where a message lies, if it is one of a client or a view."""
    if not hasattr(message, "offset"):
        return None
    place = tuple(_told(message, name) for name in ("topic", "partition", "offset"))
    return None if None in place else (place[0], place[1], place[2])


def _value(message: Any) -> Any:
    return _told(message, "value") if hasattr(message, "value") else message


def _told(message: Any, name: str) -> Any:
    """An attribute, or what a method of that name says, as clients have it."""
    found = getattr(message, name, None)
    return found() if callable(found) else found

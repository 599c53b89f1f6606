"""assert_processed_once: each record of some topics took effect exactly once in others; and the
same for at least once and at most once.

What an application reads, transforms and writes is judged by what a read_committed consumer of its
output sees, and by what its group has committed: an input whose output is committed while the group
will read it again takes effect twice after the next crash (KIP-98, KIP-447).

What is legal, also when the group rebalances and reads again from what it has committed:

| each input took effect | exactly once | at least once | at most once |
|---|---|---|---|
| twice | no | yes | no |
| not at all | no | if the group has not committed it | yes |
| once, and the group has not committed it | no | yes | no: it will again |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..base.fitting import shown
from ..base.words import number_of
from .groups import GroupView
from .produced import new_record, to_bytes
from .reading import READ_UNCOMMITTED
from .record import COMMITTED, SeenRecord
from .source import Source
from .transactions import transactions_of
from .verbs import Records

EXACTLY_ONCE, AT_LEAST_ONCE, AT_MOST_ONCE = "exactly once", "at least once", "at most once"
_MOST_TOLD = 10
_MOST_EVENTS = 20
Seen: TypeAlias = SeenRecord[Any, Any]
Views: TypeAlias = Records[Any, Any] | Sequence[Records[Any, Any]]


def assert_processed_once(
    inputs: Views,
    outputs: Views,
    *,
    key: Callable[[Seen], Any] | None = None,
    into: Callable[[Seen], Any] | None = None,
    group: GroupView | None = None,
) -> None:
    """Each committed record of `inputs` took effect exactly once in `outputs`, under
    read_committed, and nothing else is in `outputs`. Both are views of a topic or a partition, or
    lists of them.

    key     a function of a record, of either side: which input it is about. The default is the
            record's key. Each input is to become one record
    into    instead of `key`: a function of an input that says what it becomes: a value, a
            NewRecord whose key counts too, a list of these, or None for nothing
    group   the group that has read `inputs`: what took effect is to be committed by it, too

    Raises AssertionError that names each input that was lost or took effect more than once, where
    its outputs lie, in whose transactions, and the last events that concern them; TypeError;
    ValueError that names the record for which a function fails.
    """
    __tracebackhide__ = True
    _check(EXACTLY_ONCE, inputs, outputs, identities_of(key, into), group)


def assert_processed_at_least_once(
    inputs: Views,
    outputs: Views,
    *,
    key: Callable[[Seen], Any] | None = None,
    into: Callable[[Seen], Any] | None = None,
    group: GroupView | None = None,
) -> None:
    """Each committed record of `inputs` took effect once or more: as an application does that
    commits after its output, and reads again what it had not committed when its group rebalances.
    With `group`, what that has not committed may still have no effect. The rest is as for
    `assert_processed_once`."""
    __tracebackhide__ = True
    _check(AT_LEAST_ONCE, inputs, outputs, identities_of(key, into), group)


def assert_processed_at_most_once(
    inputs: Views,
    outputs: Views,
    *,
    key: Callable[[Seen], Any] | None = None,
    into: Callable[[Seen], Any] | None = None,
    group: GroupView | None = None,
) -> None:
    """No committed record of `inputs` took effect twice, or will: as an application does that
    commits before its output, and loses what it was at when its group rebalances. With `group`,
    what took effect is to be committed by it. The rest is as for `assert_processed_once`."""
    __tracebackhide__ = True
    _check(AT_MOST_ONCE, inputs, outputs, identities_of(key, into), group)


def _check(
    promise: str, inputs: Views, outputs: Views, identities: Identities, group: GroupView | None
) -> None:
    __tracebackhide__ = True
    sources, sinks = views_of("inputs", inputs), views_of("outputs", outputs)
    read = [each for view in sources for each in view.records()]
    written = _Written.of(sinks, identities)
    faults = list(_faults(promise, read, identities, written, _committed(group)))
    raise_for(faults, f"{promise} each", read, sources, sinks, group)


@dataclass(frozen=True)
class Identities:
    """How inputs and outputs are known by each other."""

    of_input: Callable[[Seen], list[Any]]
    """What an input is to become, each once."""
    of_output: Callable[[Seen], list[Any]]
    """What an output may be, the most exact first."""


def identities_of(
    key: Callable[[Seen], Any] | None, into: Callable[[Seen], Any] | None
) -> Identities:
    """Which outputs belong to which input. Raises TypeError."""
    for name, given in (("key", key), ("into", into)):
        if given is not None and not callable(given):
            raise TypeError(f"{name} is a function of a record, not {given!r}")
    if key is not None and into is not None:
        raise TypeError("key and into exclude each other: an input is known by one of them")
    if into is not None:
        become = into
        return Identities(
            lambda each: [_made(made) for made in _several(_asked("into", become, each))],
            _may_be,
        )
    known_by = key or _own_key

    def identity(each: Seen) -> list[Any]:
        found = _asked("key", known_by, each)
        if not isinstance(found, Hashable):
            raise TypeError(f"key is to return what can be a key of a dict, not {found!r}")
        return [found]

    return Identities(identity, identity)


def _own_key(record: Seen) -> Any:
    return record.key


def _asked(name: str, function: Callable[[Seen], Any], record: Seen) -> Any:
    try:
        return function(record)
    except Exception as error:
        raise ValueError(f"{name} has failed for {record!r}: {error!r}") from error


def _may_be(output: Seen) -> list[Any]:
    key, value = to_bytes(output.key, "key"), to_bytes(output.value, "value")
    return list(dict.fromkeys([(key, value), (None, value)]))


def _several(made: Any) -> list[Any]:
    if made is None:
        return []
    return list(made) if isinstance(made, list | tuple) else [made]


def _made(made: Any) -> tuple[bytes | None, bytes | None]:
    record = new_record(made)
    return to_bytes(record.key, "key"), to_bytes(record.value, "value")


@dataclass
class _Written:
    """The outputs, by what they may be about; each is used up by one input."""

    committed: dict[Any, list[Seen]] = field(default_factory=lambda: defaultdict(list))
    others: dict[Any, list[Seen]] = field(default_factory=lambda: defaultdict(list))
    is_taken: set[int] = field(default_factory=set)
    all: list[Seen] = field(default_factory=list)

    @classmethod
    def of(cls, sinks: Iterable[Records[Any, Any]], identities: Identities) -> _Written:
        """What is in these views."""
        written = cls()
        for each in (record for view in sinks for record in view.records(READ_UNCOMMITTED)):
            of_its_state = written.committed if each.state == COMMITTED else written.others
            for identity in identities.of_output(each):
                of_its_state[identity].append(each)
            if each.state == COMMITTED:
                written.all.append(each)
        return written

    def take(self, identity: Any) -> list[Seen]:
        """The committed outputs of inputs that are alike."""
        found = [each for each in self.committed.get(identity, ()) if id(each) not in self.is_taken]
        self.is_taken.update(id(each) for each in found)
        return found

    def left(self) -> list[Seen]:
        """What belongs to no input."""
        return [each for each in self.all if id(each) not in self.is_taken]


@dataclass(frozen=True)
class Fault:
    """What is wrong, in a sentence."""

    sentence: str
    records: tuple[Seen, ...]
    """Inputs and outputs that it is about."""


def _faults(
    promise: str,
    read: list[Seen],
    identities: Identities,
    written: _Written,
    committed: Mapping[tuple[str, int], int] | None,
) -> Iterator[Fault]:
    wanted: dict[Any, list[Seen]] = defaultdict(list)
    for each in read:
        for identity in identities.of_input(each):
            wanted[identity].append(each)
    for identity, inputs in wanted.items():
        outputs = written.take(identity)
        others = written.others.get(identity, [])
        yield from _of_one(promise, inputs, outputs, others, committed)
    for each in written.left():
        yield Fault(f"from nothing: {shown(each)} belongs to no input", (each,))


def _of_one(
    promise: str,
    inputs: list[Seen],
    outputs: list[Seen],
    others: list[Seen],
    committed: Mapping[tuple[str, int], int] | None,
) -> Iterator[Fault]:
    """Of inputs that are alike, most often one."""
    names = ", ".join(map(place_of, inputs))
    where = f": {', '.join(map(_written_by, outputs))}" if outputs else ""
    about = (*inputs, *outputs, *others)
    if len(outputs) > len(inputs) and promise != AT_LEAST_ONCE:
        times = f"{number_of(len(outputs), 'time')} for {number_of(len(inputs), 'input')}"
        text = f"duplicate: {names} took effect {times}{where}"
        yield Fault(text + _offsets(inputs, committed), about)
    elif len(outputs) < _least(promise, inputs, committed):
        only = f": only {', '.join(map(_written_by, others))}" if others else ""
        some = f"effect {len(outputs)} of {len(inputs)} times" if outputs else "no effect"
        text = f"lost: {names} took {some}{where}{only}"
        yield Fault(text + _offsets(inputs, committed), about)
    elif promise == AT_LEAST_ONCE or committed is None or len(outputs) < len(inputs):
        return
    elif again := _to_read_again(inputs, committed):
        text = f"to be read again: {', '.join(map(place_of, again))} took effect{where}"
        yield Fault(text + _offsets(again, committed), about)


def _least(
    promise: str, inputs: list[Seen], committed: Mapping[tuple[str, int], int] | None
) -> int:
    """How often inputs that are alike have to have taken effect."""
    if promise == AT_MOST_ONCE:
        return 0
    if promise == EXACTLY_ONCE or committed is None:
        return len(inputs)
    return len(inputs) - len(_to_read_again(inputs, committed))


def _to_read_again(inputs: list[Seen], committed: Mapping[tuple[str, int], int]) -> list[Seen]:
    return [each for each in inputs if each.offset >= committed.get(_partition(each), 0)]


def _offsets(inputs: list[Seen], committed: Mapping[tuple[str, int], int] | None) -> str:
    """What the group has committed where these lie."""
    if committed is None:
        return ""
    places = dict.fromkeys(map(_partition, inputs))
    told = [f"{committed.get(each, 'nothing')} in {each[0]}-{each[1]}" for each in places]
    return f"; the group has committed {', '.join(told)}"


def _committed(group: GroupView | None) -> Mapping[tuple[str, int], int] | None:
    if group is None:
        return None
    if not isinstance(group, GroupView):
        raise TypeError(f'group is a view of a group, kafka.group("billing"), not {group!r}')
    return group.offsets()


def views_of(name: str, given: Views) -> list[Records[Any, Any]]:
    """Views, as a list. Raises TypeError for what is none."""
    views = [given] if isinstance(given, Records) else given
    is_list = isinstance(views, list | tuple) and bool(views)
    if not is_list or not all(isinstance(each, Records) for each in views):
        raise TypeError(f'{name} are views of topics, kafka.topic("orders"), not {given!r}')
    return list(views)


def raise_for(
    faults: list[Fault],
    promise: str,
    read: list[Seen],
    sources: list[Records[Any, Any]],
    sinks: list[Records[Any, Any]],
    group: GroupView | None = None,
) -> None:
    """Raise AssertionError if there are faults."""
    __tracebackhide__ = True
    if faults:
        names = f"{_names(sources)} in {_names(sinks)}"
        head = f"{number_of(len(read), 'record')} of {names} are not processed {promise}:"
        raise AssertionError("\n".join([head, *_told(faults, sources, sinks, group)]))


def _told(
    faults: list[Fault],
    sources: list[Records[Any, Any]],
    sinks: list[Records[Any, Any]],
    group: GroupView | None,
) -> Iterator[str]:
    """The faults, with what led to them."""
    yield from (f"  {each.sentence}" for each in faults[:_MOST_TOLD])
    if len(faults) > _MOST_TOLD:
        yield f"  ({len(faults) - _MOST_TOLD} more)"
    asked = next((s for s in map(_source, [*sinks, *sources]) if s is not None), None)
    if asked is None:
        return
    about = [record for each in faults for record in each.records]
    transactional_ids = _transactional_ids(asked, about)
    for producer_id, name in transactional_ids.items():
        yield f"producer {producer_id} is transactional id {name!r}"
    topics = {each.topic for each in about}
    group_id = group.group_id if group is not None else None
    events = [
        each
        for each in asked.events()
        if each.topic in topics
        or (group_id is not None and each.group == group_id)
        or each.transactional_id in transactional_ids.values()
    ]
    if events:
        yield "The last events that concern them:"
        yield from (f"  {each}" for each in events[-_MOST_EVENTS:])


def _transactional_ids(source: Source, about: list[Seen]) -> dict[int, str]:
    """Of the producers of these records, by their ids."""
    ids = {each.producer_id for each in about} - {-1}
    found = transactions_of(source) if ids else []
    return {each.producer_id: each.transactional_id for each in found if each.producer_id in ids}


def _source(view: Records[Any, Any]) -> Source | None:
    return getattr(view, "_source", None)


def _names(views: list[Records[Any, Any]]) -> str:
    return " and ".join(view.name for view in views)


def place_of(record: Seen) -> str:
    """Topic, partition and offset of a record."""
    return f"{record.topic}-{record.partition}@{record.offset}"


def _partition(record: Seen) -> tuple[str, int]:
    return record.topic, record.partition


def _written_by(record: Seen) -> str:
    if record.producer_id < 0:
        return shown(record)
    return f"{shown(record)} of producer {record.producer_id} epoch {record.producer_epoch}"

"""Journal: what happened at the broker, in order, bounded.

Two ways in. `add` is for what happens seldom: each makes an Event of its own. `run` is for what
every request does (appended, fetched): the same thing again, with nothing seldom between, counts up
the Event that is there, so that a busy client neither costs much nor pushes out what matters.
`again`, `stretch`, `refused` and `rule` do the same for what is neither: a committed offset, a
range of records that a member of a share group takes, a refusal.

Only the broker's thread writes. Others read in it too, or when it has ended.

MemberNames: what the members of groups are called in events.

A member is called by its client id. If there are several of one client id at the same time, the
second one is "id#2": with a library's default id, all consumers of a process have the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...wire import Error
from .clock import Clock
from .event import FENCED, MEANINGS, Event
from .real_time import perf_counter

_MOST = 10_000


class MemberNames:
    """A name for each member that is in a group."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, client_id: str, member_id: str) -> str:
        known = self._names.get(member_id)
        if known is not None:
            return known
        if len(self._names) >= _MOST:  # nobody reads so many names
            return client_id
        number, name = 1, client_id
        while name in self._taken:
            number += 1
            name = f"{client_id}#{number}"
        self._names[member_id] = name
        self._taken.add(name)
        return name

    def known(self, member_id: str, client_id: str) -> str:
        """The name of a member that may be gone, or never was one."""
        return self._names.get(member_id, client_id)

    def gone(self, member_id: str) -> None:
        """A member is in no group any more: another may have its number."""
        name = self._names.pop(member_id, None)
        if name is not None:
            self._taken.discard(name)


MOST_EVENTS = 10_000
_STRETCH = ("topic", "partition", "group", "member", "reason")
_MOST_AT_ONCE = 100
_MOST_RUNS = 1_000
_AGAIN = ("client", "topic", "partition", "group", "transactional_id")
_REFUSED = (*_AGAIN, "api", "error", "reason")


class Journal:
    """The last events of a broker. `most` 0 keeps none, and costs nothing."""

    def __init__(self, clock: Clock, most: int = MOST_EVENTS) -> None:
        self.most = most
        self.is_on = most > 0
        self.on_event: Callable[[Event], None] | None = None
        """Called with each seldom event, and with the first of several: the log of `serve`."""
        self.clock = clock
        self.members = MemberNames()
        self.begin = perf_counter()
        """When it began, from where `elapsed` counts."""
        self._events: deque[Event] = deque(maxlen=most)
        # What may be counted up. Not more than so many, or it would outgrow the events.
        self._runs: dict[tuple[Any, ...], Event] = {}
        self._most_runs = min(most, _MOST_RUNS)

    def add(self, kind: str, **fields: Any) -> None:
        """Something seldom has happened. `fields` are those of Event."""
        if not self.is_on:
            return
        self._runs.clear()
        self._append(kind, fields)

    def several(
        self, kind: str, client: str, topics: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> None:
        """The same has happened to several topics at once, each with its details: the first ones
        have an event each, so that a request about thousands does not take long."""
        for topic, details in topics[:_MOST_AT_ONCE]:
            self.add(kind, client=client, topic=topic, details=details)
        if len(topics) > _MOST_AT_ONCE:
            details = {"number": len(topics) - _MOST_AT_ONCE, "kind": kind}
            self.add("and more", client=client, details=details)

    def again(
        self,
        kind: str,
        offset: int,
        client: str,
        topic: str,
        partition: int,
        group: str,
        transactional_id: str = "",
    ) -> None:
        """Something has happened to an offset, perhaps once more: the same but for the offset."""
        if not self.is_on:
            return
        key = (kind, client, topic, partition, group, transactional_id)
        event = self._runs.get(key)
        if event is None:
            fields: dict[str, Any] = dict(zip(_AGAIN, key[1:], strict=True))
            fields["first_offset"] = fields["last_offset"] = offset
            event = self._append(kind, fields)
            event.moved = event.elapsed
            self._keep(key, event)
        else:
            event.count += 1
            event.until = perf_counter() - self.begin
            if offset != event.last_offset:
                event.moved = event.until
                event.last_offset = offset

    def run(
        self,
        kind: str,
        client: str,
        topic: str,
        partition: int,
        first_offset: int = -1,
        last_offset: int = -1,
        reason: str = "",
    ) -> None:
        """Something frequent has happened, once more or for the first time."""
        if not self.is_on:
            return
        key = (kind, client, topic, partition, reason)
        event = self._runs.get(key)
        if event is None:
            elapsed = perf_counter() - self.begin
            at = (self.clock.now(), elapsed, elapsed)
            event = Event(kind, *at, 1, client, topic, partition, first_offset, last_offset)
            event.reason = reason
            self._keep(key, event)
            self._events.append(event)
            return
        event.count += 1
        event.until = perf_counter() - self.begin
        if last_offset > event.last_offset:
            event.last_offset = last_offset
        elif first_offset < event.first_offset:
            event.first_offset = first_offset

    def stretch(
        self, kind: str, first_offset: int, last_offset: int, *, client: str, **fields: Any
    ) -> None:
        """Something has happened to a range of offsets: more of the same if it goes on where the
        last one of this client has ended. `fields` are those of Event."""
        if not self.is_on:
            return
        details = tuple(sorted(fields.get("details", {}).items()))
        key = (kind, client, *(fields.get(name, "") for name in _STRETCH), details)
        event = self._runs.get(key)
        if event is None or event.last_offset + 1 != first_offset:
            offsets = {"first_offset": first_offset, "last_offset": last_offset}
            self._keep(key, self._append(kind, {"client": client, **offsets, **fields}))
        else:
            self._counted(key)
            event.last_offset = last_offset

    def refused(
        self,
        client: str,
        api: str,
        error: Error,
        topic: str = "",
        partition: int = -1,
        message: str = "",
        group: str = "",
        transactional_id: str = "",
        broker: int | None = None,
    ) -> None:
        """A request, or a part of it, is refused; `broker`: by which of several."""
        if not self.is_on:
            return
        key = (client, topic, partition, group, transactional_id, api, error, message)
        if self._counted((*key, broker)) is None:
            fields: dict[str, Any] = dict(zip(_REFUSED, key, strict=True))
            fields["reason"] = message or MEANINGS.get(error, "")
            if broker is not None:
                fields["details"] = {"broker": broker}
            kind = "fenced" if error in FENCED else "refused"
            self._keep((*key, broker), self._append(kind, fields))

    def rule(self, client: str, api: str, sentence: str, broker: int | None = None) -> None:
        """A request, or its answer, has met a rule of the test, once more or for the first time;
        `broker`: at which of several."""
        if not self.is_on:
            return
        key = (client, api, sentence, broker)
        if self._counted(key) is None:
            fields: dict[str, Any] = {"client": client, "api": api, "reason": sentence}
            if broker is not None:
                fields["details"] = {"broker": broker}
            self._keep(key, self._append("rule", fields))

    def clear(self) -> None:
        self._events.clear()
        self._runs.clear()
        self.members = MemberNames()
        self.begin = perf_counter()

    def _counted(self, key: tuple[Any, ...]) -> Event | None:
        """The event that this is again, counted up; None if it is another, or the first."""
        event = self._runs.get(key)
        if event is not None:
            event.count += 1
            event.until = perf_counter() - self.begin
        return event

    def _append(self, kind: str, fields: dict[str, Any]) -> Event:
        elapsed = perf_counter() - self.begin
        event = Event(kind, self.clock.now(), elapsed, elapsed, **fields)
        self._events.append(event)
        if self.on_event is not None:
            self.on_event(event)
        return event

    def _keep(self, key: tuple[Any, ...], event: Event) -> None:
        if len(self._runs) >= self._most_runs:
            self._runs.clear()
        self._runs[key] = event

    def events(self) -> list[Event]:
        """Copies of what is kept, in order."""
        return [replace(event) for event in self._events]

    def events_since(self, elapsed: float) -> list[Event]:
        """Copies of those that have happened, or gone on, after this time (seconds since the
        beginning), in order."""
        found: list[Event] = []
        older = 0
        for event in reversed(self._events):
            if event.until > elapsed:
                found.append(replace(event))
            elif event.elapsed <= elapsed:
                older += 1
                if older > self._most_runs:  # what goes on is not further back
                    break
        return found[::-1]

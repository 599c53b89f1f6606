"""The log of `odradek serve` and `odradek proxy`: lines on standard error.

It has seldom things (connected, rebalanced, refused), not each record; what repeats is summed up
(aggregation.py), and a rebalance is one line. At the level `debug` each event is a line
of its own. The broker does not wait for who reads the log: a thread makes and writes the lines, and
what comes too fast for it is left out, which the log says.

As text each line begins with the local time; as JSON it is an object with `time`, `level`, `kind`
and `message`.

A rebalance in one line: what members did, when it began and when it ended are in its line at the
end.

A rebalance that lasts longer than `LASTS_S` has a line while it lasts, once. A group whose last
member has left is logged as empty: no rebalance follows. Members of a group that never rebalances,
such as a share group, have a line after `NONE_S`.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from queue import Empty, Full, Queue
from time import monotonic, time
from typing import TextIO

from ....emulator.base.event import Event
from ....emulator.base.logger import log as broker_log
from ....emulator.base.words import lasted, number_of
from ..console.output import one_line
from .aggregation import Summing, about
from .levels import DEBUG, INFO, WARN, LogLine, is_logged, level_of, level_of_record

LASTS_S = 30.0
NONE_S = 5.0
_MOST_GROUPS = 10_000
_MOST_MEMBERS = 10_000
_MOST_NAMES = 3
_CAME = {"joined": "joined"}
_GONE = {
    "left": "left",
    "away": "left for a while",
    "kicked": "was removed",
    "session timed out": "timed out",
}


@dataclass(slots=True)
class _Round:
    moved: dict[str, list[str]] = field(default_factory=dict)
    """Verb ("joined", "left", ...) -> names of members."""
    since: float = 0.0
    """When the first of them did it."""
    reason: str = ""
    begun: float | None = None
    """When the rebalance began, by the time that `take` is given; None if none has begun."""
    elapsed: float = 0.0
    is_logged: bool = False

    def why(self) -> str:
        """Who moved, or else the reason that the coordinator gave."""
        parts = [f"{_names(names)} {what}" for what, names in self.moved.items()]
        return (
            ", ".join(parts) or self.reason or "its members' subscriptions or assignments changed"
        )


class Rebalances:
    def __init__(self) -> None:
        self._rounds: dict[str, _Round] = {}

    def take(self, event: Event, at: float) -> Iterator[LogLine]:
        """The lines that follow from an event of a group; `at`: seconds of a clock that only goes
        on."""
        what = _CAME.get(event.kind) or _GONE.get(event.kind)
        if what is not None:
            yield from self._moved(event, what, at)
        elif event.kind == "rebalance begun":
            round = self._round(event.group)
            if round.begun is None:
                round.begun, round.elapsed, round.reason = at, event.elapsed, event.reason
        elif event.kind == "rebalance finished":
            round = self._rounds.pop(event.group, _Round(elapsed=event.elapsed))
            took = max(event.elapsed - round.elapsed, 0.0)
            members = number_of(event.details.get("members", 0), "member")
            sentence = (
                f"group {event.group} rebalanced in {lasted(took)} ({round.why()}): "
                f"generation {event.details.get('generation')}, {members}"
            )
            yield _line_of(event, "rebalanced", sentence)

    def due(self, at: float, now_ms: int) -> Iterator[LogLine]:
        """Rebalances that last long, and members that moved without one."""
        for group, round in list(self._rounds.items()):
            if round.begun is None and at - round.since >= NONE_S:
                del self._rounds[group]
                kind = "members changed"
                yield LogLine(now_ms, level_of(kind), kind, f"group {group}: {round.why()}", group)
            if round.begun is None or round.is_logged or at - round.begun < LASTS_S:
                continue
            round.is_logged = True
            sentence = (
                f"group {group} has been rebalancing for {at - round.begun:.0f} s: {round.why()}"
            )
            kind = "rebalance lasts"
            yield LogLine(now_ms, level_of(kind), kind, sentence, group)

    def _moved(self, event: Event, what: str, at: float) -> Iterator[LogLine]:
        if event.kind in _GONE and event.details.get("members") == 0:
            self._rounds.pop(event.group, None)
            yield _line_of(
                event, "group empty", f"group {event.group} is empty: {event.client} {what}"
            )
            return
        round = self._round(event.group)
        if not round.moved:
            round.since = at
        names = round.moved.setdefault(what, [])
        if len(names) < _MOST_MEMBERS:
            names.append(event.client)

    def _round(self, group: str) -> _Round:
        round = self._rounds.get(group)
        if round is None:
            if len(self._rounds) >= _MOST_GROUPS:
                del self._rounds[next(iter(self._rounds))]
            round = self._rounds[group] = _Round()
        return round


def _names(names: list[str]) -> str:
    """As in "a, b and c", "a, b, c and 4 more"."""
    named = [each or "a member" for each in names]
    if len(named) > _MOST_NAMES:
        return f"{', '.join(named[:_MOST_NAMES])} and {len(named) - _MOST_NAMES:,} more"
    return " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))


def _line_of(event: Event, kind: str, sentence: str) -> LogLine:
    return LogLine(event.time, level_of(kind), kind, sentence, event.group)


_WAITING_MAX = 10_000
_LOOK_S = 1.0
_END_S = 1.0
_REPEATED = frozenset({"fenced", "refused", "rule"})
"""Kinds of which one event counts up while the same happens again."""
TEXT, JSON = "text", "json"
BROKER, SETTINGS, _LOG = "broker", "settings", "log"


def as_text(line: LogLine) -> str:
    moment = datetime.fromtimestamp(line.time_ms / 1000)
    return f"{moment.isoformat(' ', 'milliseconds')}  {line.sentence}\n{line.trace}"


def as_json(line: LogLine) -> str:
    moment = datetime.fromtimestamp(line.time_ms / 1000, UTC).isoformat(timespec="milliseconds")
    message = f"{line.sentence}\n{line.trace}" if line.trace else line.sentence
    entry = {"time": moment, "level": line.level, "kind": line.kind, "message": message}
    return json.dumps(entry) + "\n"


class Digest:
    def __init__(self, least: str = INFO) -> None:
        self._least = least
        self._rebalances = Rebalances()
        self._summing = Summing()

    def take(self, event: Event, at: float) -> Iterator[LogLine]:
        """An event, at a time of a clock that only goes on, in s."""
        level = level_of(event.kind, event.client)
        line = LogLine(
            event.time, level, event.kind, event.sentence, about(event), times=event.count
        )
        if self._least == DEBUG:
            yield line
            return
        for each in self._rebalances.take(event, at):
            yield from self.summed(each, at)
        yield from self.summed(line, at, event if event.kind in _REPEATED else None)

    def summed(self, line: LogLine, at: float, event: Event | None = None) -> Iterator[LogLine]:
        """The line of its own, unless it repeats. What the broker says of itself always is."""
        if line.kind == BROKER or is_logged(line.level, self._least):
            yield from self._summing.take(line, at, event)

    def due(self, at: float, now_ms: int) -> Iterator[LogLine]:
        for each in self._rebalances.due(at, now_ms):
            yield from self.summed(each, at)
        yield from self._summing.due(at, now_ms)

    def end(self, at: float, now_ms: int) -> Iterator[LogLine]:
        return self._summing.all(at, now_ms)


class EventLog:
    """Writes events to a stream until it is closed; to None: nothing. `least`: the lowest level
    that is written."""

    def __init__(self, stream: TextIO | None, form: str = TEXT, least: str = INFO) -> None:
        self._stream = stream
        self._line = as_json if form == JSON else as_text
        self._least = least
        self._digest = Digest(least)
        self._waiting: Queue[Event | LogLine | None] = Queue(_WAITING_MAX)
        self._left_out = 0
        self._thread = threading.Thread(target=self._write, name="odradek-log", daemon=True)
        if stream is not None:
            self._thread.start()

    def __call__(self, event: Event) -> None:
        """Log an event. Never waits."""
        self._put(event)

    def say(self, line: str, level: str = INFO) -> None:
        """Log a line that is no event, and never summed up. Never waits."""
        if is_logged(level, self._least):
            self._put(LogLine(_now_ms(), level, SETTINGS, one_line(line)))

    @contextmanager
    def of_the_broker(self) -> Iterator[None]:
        handler = LogHandler(self._put)
        broker_log.addHandler(handler)
        try:
            yield
        finally:
            broker_log.removeHandler(handler)

    def close(self) -> None:
        """Write what waits, but not for long."""
        if self._stream is None:
            return
        try:
            self._waiting.put_nowait(None)
        except Full:
            return
        self._thread.join(_END_S)

    def _put(self, item: Event | LogLine) -> None:
        if self._stream is None:
            return
        try:
            self._waiting.put_nowait(item)
        except Full:
            self._left_out += 1

    def _write(self) -> None:
        is_over = False
        while not is_over:
            items: list[Event | LogLine | None] = []
            try:
                items.append(self._waiting.get(timeout=_LOOK_S))
                while True:
                    items.append(self._waiting.get_nowait())
            except Empty:
                is_over = None in items
            if not self._write_lines(self._lines(items, is_over)):
                return

    def _lines(self, items: Iterable[Event | LogLine | None], is_over: bool) -> Iterator[LogLine]:
        at, now_ms = monotonic(), _now_ms()
        for item in items:
            if isinstance(item, Event):
                yield from self._digest.take(item, at)
            elif item is not None and item.kind == SETTINGS:
                yield item
            elif item is not None:
                yield from self._digest.summed(item, at)
        yield from self._digest.due(at, now_ms)
        if is_over:
            yield from self._digest.end(at, now_ms)
        if self._left_out:
            text, self._left_out = f"({self._left_out:,} events are left out)", 0
            yield LogLine(now_ms, WARN, _LOG, text)

    def _write_lines(self, lines: Iterable[LogLine]) -> bool:
        """False if nobody reads them any more."""
        assert self._stream is not None
        text = "".join(map(self._line, lines))
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            return False
        return True


class LogHandler(logging.Handler):
    """Hands what the broker logs of itself (warnings, failures) to the same log."""

    def __init__(self, put: Callable[[LogLine], None]) -> None:
        super().__init__()
        self._put = put
        self._formatter = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record, summed up with those of the same statement."""
        trace = ""
        if record.exc_info:
            trace = self._formatter.formatException(record.exc_info) + "\n"
        at, level = int(record.created * 1000), level_of_record(record.levelno)
        key = f"{BROKER}: {record.msg}"
        self._put(LogLine(at, level, BROKER, one_line(record.getMessage()), key=key, trace=trace))


def _now_ms() -> int:
    return int(time() * 1000)

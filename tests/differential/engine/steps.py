"""What a sequence consists of: steps, and values that are only known when it runs.

    [Ask(CreateTopicsRequest(topics=[...])), Ask(produce("~t", batch(b"x"))), Sleep(0.5)]

- `Ask` sends a request and waits for its answer; `Send` goes on at once, and the answer belongs to
  the step during which it arrives. Both name a connection, opened when it is first used.
- Text beginning with "~" is a name of the sequence's own: both brokers see the same fresh name.
- `seen("x")` is a value from an earlier answer: of a path given in `keep`, like
  `{"x": "topics.0.name"}`, or, always kept, the id of a topic (`seen("~t")`), the last session id
  (`seen("session")`) and the last producer id (`seen("pid")`). Before there is one: a default.
- `now(ms)` is the time at which the sequence began, plus so many milliseconds.

A version of None is the newest that both brokers serve. On a cluster, `at` names the broker that is
asked, `Act` does something to one, and `Settled` waits until sessions and lags are over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from odradek.wire import Request
from odradek.wire.schema import Struct

MAGIC = 2
"""The format of messages since 0.11."""
OWN = "~"
MAIN = "main"


class World:
    """What a running sequence knows of one broker: the values of its symbols."""

    def __init__(
        self,
        namespace: str,
        now_ms: int | None = None,
        magic: int = MAGIC,
        *,
        checks_counts: bool = True,
    ) -> None:
        self.namespace, self.magic, self.checks_counts = namespace, magic, checks_counts
        self.now_ms = int(time.time() * 1000) if now_ms is None else now_ms
        self.kept: dict[str, Any] = {}

    def resolve(self, value: Any) -> Any:
        """A copy of a request, or of a part of it, without symbols."""
        if isinstance(value, Symbol):
            return value.resolve(self)
        if isinstance(value, str):
            return self.namespace + value[len(OWN) :] if value.startswith(OWN) else value
        if isinstance(value, list):
            return [self.resolve(each) for each in value]
        if isinstance(value, Struct):
            copy = type(value)()
            for each, _ in type(value).fields():
                setattr(copy, each.name, self.resolve(getattr(value, each.name)))
            return copy
        return value


class Symbol:
    """A value that is known when the sequence runs."""

    def resolve(self, world: World) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Seen(Symbol):
    """What `seen` returns."""

    label: str
    default: Any

    def resolve(self, world: World) -> Any:
        return world.kept.get(self.label, self.default)

    def __repr__(self) -> str:
        return f"seen({self.label!r})"


@dataclass(frozen=True)
class Now(Symbol):
    """What `now` returns."""

    delta_ms: int

    def resolve(self, world: World) -> int:
        return world.now_ms + self.delta_ms

    def __repr__(self) -> str:
        return f"now({self.delta_ms})" if self.delta_ms else "now()"


_DEFAULTS: dict[str, Any] = {"session": 0, "pid": 0}


def seen(label: str, default: Any = None) -> Any:
    """A value of an earlier answer. The default of a topic's id is no id, of others ""."""
    if default is None:
        default = bytes(16) if label.startswith(OWN) else _DEFAULTS.get(label, "")
    return Seen(label, default)


def now(delta_ms: int = 0) -> Any:
    """The time at which the sequence began, shifted."""
    return Now(delta_ms)


@dataclass(frozen=True)
class Damage:
    """Changes to the encoded frame: `cut` bytes are removed at the end, `extra` ones appended, and
    the byte at `flip_at` (from the end of the header's fixed part on) is XORed with `flip`."""

    cut: int = 0
    extra: bytes = b""
    flip_at: int | None = None
    flip: int = 0xFF

    def apply(self, frame: bytes) -> bytes:
        """The damaged frame. A `flip_at` after its end changes nothing."""
        damaged = bytearray(frame[: len(frame) - self.cut] + self.extra)
        if self.flip_at is not None and 8 + self.flip_at < len(damaged):
            damaged[8 + self.flip_at] ^= self.flip
        return bytes(damaged)


@dataclass(frozen=True)
class Ask:
    """Send a request; wait for its answer. `claim` puts another version into the header than the
    one in which the body is encoded; `limit_s` is how long both brokers may be silent. `at` is the
    id of the broker that is asked, on a cluster. `says` is what docs/semantics.md says of the
    answer: values, by the paths of their fields; a real broker that says otherwise is a finding."""

    request: Request
    version: int | None = None
    on: str = MAIN
    keep: Mapping[str, str] = field(default_factory=dict)
    claim: int | None = None
    damage: Damage | None = None
    client_id: str = "differential"
    limit_s: float = 1.0
    waits: bool = True
    at: int | None = None
    says: Mapping[str, Any] = field(default_factory=dict)

    @property
    def link(self) -> str:
        """The name of its connection."""
        return self.on if self.at is None else f"{self.on}@{self.at}"


def Send(request: Request, version: int | None = None, on: str = MAIN, **more: Any) -> Ask:
    """Send a request and go on; its answer, if there is one, is compared when it arrives."""
    return Ask(request, version, on, waits=False, **more)


def asks(*requests: Request, version: int | None = None) -> Steps:
    return [Ask(request, version) for request in requests]


@dataclass(frozen=True)
class Raw:
    """Bytes as they go to the socket, size included. Answers are not decoded: only whether the
    connection is closed is compared."""

    data: bytes
    on: str = MAIN
    limit_s: float = 1.0


@dataclass(frozen=True)
class Sleep:
    """Let time pass; answers that arrive in this time are compared."""

    seconds: float


@dataclass(frozen=True)
class Close:
    """Close a connection from the client's side."""

    on: str = MAIN


@dataclass(frozen=True)
class Restart:
    """Stop both brokers cleanly and start them again on the same address and data; `is_killed`
    ends them as kill -9 does, after which a real one takes ten seconds more to come back."""

    is_killed: bool = False


@dataclass(frozen=True)
class Act:
    """Do something to a broker of each cluster: stop, kill, start, pause, resume; or kill or start
    the controller, whose number is 0."""

    verb: str
    node: int


@dataclass(frozen=True)
class Settled:
    """Wait until sessions and lags are over: brokers that do not run are not listed."""


Step: TypeAlias = Ask | Raw | Sleep | Close | Restart | Act | Settled


@dataclass(frozen=True)
class Sequence:
    """Steps with a name; `rule` names the rule of docs/semantics.md that it is about."""

    name: str
    steps: tuple[Step, ...]
    rule: str = ""

    @property
    def restarts(self) -> bool:
        """Whether a broker has to be restarted for it, so that it is not shrunk."""
        return any(isinstance(step, Restart | Act) for step in self.steps)

    def requests(self) -> int:
        """How many requests it holds."""
        return sum(isinstance(step, Ask | Raw) for step in self.steps)


Steps: TypeAlias = list[Step]
Writer: TypeAlias = Callable[[], Steps]

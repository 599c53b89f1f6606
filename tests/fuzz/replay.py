"""Does once more what led to a finding, one event after the other. The ids that a new broker gives
to topics, members and sessions are put in place of the old ones."""

from __future__ import annotations

import select
import time
from collections.abc import Sequence

from odradek.wire import WireError
from odradek.wire.api import request_class

from tests.differential.engine.steps import World

from .arena import Arena, Setup, in_arena
from .events import Event, frames_in
from .findings import Finding
from .link import Link, Waiting
from .seeds import Seed
from .sequences import learned

MAY_WAIT_S = 0.03


class Player:
    """Links to a new broker, and what was learned from it."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._links: dict[int, Link] = {}
        self._worlds: dict[str, World] = {}
        self._names: dict[bytes, bytes] = {}
        self._look_at = 0.0

    def play(self, events: Sequence[Event]) -> None:
        """Carry them out. Raises Over (arena.py)."""
        for event in events:
            if event.verb == "send":
                self._send(event)
            elif event.link in self._links:
                link = self._links[event.link]
                if link.is_open:
                    link.is_open = False
                    link.close(is_reset=event.verb == "reset")
            if time.monotonic() > self._look_at:
                self._arena.look()
                self._look_at = time.monotonic() + 0.1
        self._arena.look()
        for link in self._links.values():
            if link.is_open:
                link.close()

    def _send(self, event: Event) -> None:
        link = self._links.get(event.link)
        if link is None:
            link = self._links[event.link] = Link(event.link, self._arena.broker.address, [])
        if not link.is_open:
            return
        pieces = [self._renamed(piece) for piece in event.pieces]
        frames = list(frames_in(b"".join(pieces)))
        asked = [Waiting(*_names(frame)) for frame in frames]
        if asked and event.learned is not None:
            asked[-1] = asked[-1]._replace(taken=lambda answer: self._learn(event, answer))
        whole = sum(map(len, frames)) + 4 * len(frames)
        link.is_desynced |= whole != sum(map(len, pieces))
        try:
            link.send(Event(link.number, "send", pieces), asked)
            self._wait(link)
        except (OSError, EOFError):
            link.is_open = False
            link.close()

    def _wait(self, link: Link) -> None:
        """Send the rest, and wait for the answers. Raises OSError, EOFError, Over."""
        while link.is_sending or link.waiting:
            link.flush()
            if select.select([link.socket], [], [], 0 if link.is_sending else 0.01)[0]:
                for finding in link.receive():
                    self._arena.note(finding)
            silent_s = time.monotonic() - link.sent_at
            if link.may_wait and silent_s > MAY_WAIT_S:
                return
            if silent_s > self._arena.setup.hang_s:
                self._arena.look()
                self._arena.over("hang", f"API {link.held_by()}", f"link {link.number} waits")

    def _renamed(self, piece: bytes) -> bytes:
        for old, new in self._names.items():
            piece = piece.replace(old, new)
        return piece

    def _learn(self, event: Event, answer: bytes) -> None:
        assert event.learned is not None
        (*_, frame) = frames_in(event.data)
        key, version = int.from_bytes(frame[:2], "big"), int.from_bytes(frame[2:4], "big")
        world = self._worlds.setdefault(event.learned.namespace, World(event.learned.namespace))
        seed = Seed(request_class(key)(), version, frame)
        try:
            now = learned(world, event.learned, seed, answer)
        except WireError as error:
            place = f"{type(seed.request).__name__} v{version}"
            self._arena.note(Finding("undecodable", place, str(error)))
            return
        for label, value in event.learned.values.items():
            old, new = bytes.fromhex(value), bytes.fromhex(now.get(label, ""))
            if old != new and len(old) == len(new):
                self._names[old] = new


def _names(frame: bytes) -> tuple[int, int]:
    return int.from_bytes(frame[4:8], "big", signed=True), int.from_bytes(frame[:2], "big")


def replayed(events: Sequence[Event], setup: Setup) -> list[Finding]:
    """What is found when these events are carried out again."""
    arena = in_arena(setup, lambda arena: Player(arena).play(events))
    return list(arena.findings.values())

"""Carries out sequences of valid requests (seeds.py), one step after the other, and learns from the
answers. Each connection that a sequence names is a link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odradek.wire import WireError
from odradek.wire.api import response_class
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.frames import SIZE
from odradek.wire.headers import read_response_header

from tests.differential.engine.kept import keep
from tests.differential.engine.steps import Ask, Close, Raw, Sleep, Step, World

from .events import Event, Learned
from .findings import Finding
from .link import Link
from .mutations import with_correlation
from .seeds import Seed
from .spared import is_spared

if TYPE_CHECKING:
    from .driver import Driver

WAIT_S = 0.15
_TEACH = (CreateTopicsRequest, FetchRequest, InitProducerIdRequest, MetadataRequest)
_LEAST_NUMBER = 1 << 16
"""Smaller numbers are not looked for in other frames: they stand for anything."""


class Runner:
    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._links: dict[str, Link] = {}
        self._steps: list[Step] = []
        self._world = World("")
        self._until = 0.0
        self._awaited: Link | None = None

    def step(self, now: float) -> None:
        """Take the next step, if its time has come."""
        awaited = self._awaited
        if awaited is not None and awaited.is_open and awaited.is_sending:
            self._driver.flush(awaited)
        is_answered = awaited is not None and not (awaited.is_open and awaited.waiting)
        if not is_answered and now < self._until:
            return
        self._awaited = None
        self._check_hang(awaited, now)
        if not self._steps:
            self._begin()
        self._take(self._steps.pop(), now)

    def _check_hang(self, link: Link | None, now: float) -> None:
        if link is not None and link.is_open and link.waiting and not link.may_wait:
            arena = self._driver.arena
            if now > link.sent_at + arena.setup.hang_s:
                arena.over("hang", f"API {link.held_by()}", f"link {link.number} waits")
            self._awaited = link

    def _begin(self) -> None:
        for link in self._links.values():
            if link.is_open:
                self._driver.close(link)
        self._links.clear()
        self._world, steps = self._driver.source.sequence()
        self._steps = steps[::-1]

    def _take(self, step: Step, now: float) -> None:
        self._until = now
        if isinstance(step, Ask):
            self._ask(step, now)
        elif isinstance(step, Raw):
            link = self._link(step.on)
            self._driver.send(link, Event(link.number, "send", [step.data]))
        elif isinstance(step, Sleep):
            self._until = now + min(step.seconds, 1.0)
        elif isinstance(step, Close) and step.on in self._links:
            link = self._links.pop(step.on)
            if link.is_open:
                self._driver.close(link)

    def _ask(self, step: Ask, now: float) -> None:
        seed = self._driver.source.seed(self._world, step)
        frame = with_correlation(seed.frame, self._driver.correlation())
        if step.claim is not None:
            frame = frame[:2] + step.claim.to_bytes(2, "big", signed=True) + frame[4:]
        if step.damage is not None:
            frame = step.damage.apply(frame)
        if is_spared(frame):
            return
        link = self._link(step.on)
        event = Event(link.number, "send", [SIZE.pack(len(frame)) + frame])
        teaches = step.claim is None and (step.keep or isinstance(seed.request, _TEACH))
        if teaches:
            event.learned = Learned(self._world.namespace, dict(step.keep))
        taken = (lambda answer: self._learn(event, seed, answer)) if teaches else None
        self._driver.send(link, event, taken)
        if step.waits:
            self._awaited, self._until = link, now + WAIT_S

    def _link(self, name: str) -> Link:
        link = self._links.get(name)
        if link is None or not link.is_open:
            link = self._links[name] = self._driver.open()
        return link

    def _learn(self, event: Event, seed: Seed, answer: bytes) -> None:
        assert event.learned is not None
        world = next(
            w for w in self._driver.source.worlds if w.namespace == event.learned.namespace
        )
        try:
            event.learned.values = learned(world, event.learned, seed, answer)
        except WireError as error:
            place = f"{type(seed.request).__name__} v{seed.version}"
            self._driver.arena.note(Finding("undecodable", place, f"{error}: {answer.hex()}"))


def learned(world: World, what: Learned, seed: Seed, answer: bytes) -> dict[str, str]:
    """Keep what an answer teaches; return it as it stands in frames. Raises WireError."""
    key, version = seed.request.api_key, seed.version
    _, pos = read_response_header(answer, key, version)
    decoded, _ = response_class(key).decode_from(answer, version, pos)
    before = dict(world.kept)
    keep(world, decoded, what.paths)
    news = {label: value for label, value in world.kept.items() if before.get(label) != value}
    return {label: data.hex() for label, value in news.items() if (data := _in_frames(value))}


def _in_frames(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, int):
        return value.to_bytes(4, "big") if _LEAST_NUMBER <= value < 1 << 31 else b""
    return bytes(value)

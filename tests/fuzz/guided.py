"""Fuzzing guided by coverage, in one process and without sockets: one connection to a cluster.

    python -m tests.fuzz.guided -max_total_time=600      every option of libFuzzer will do

An input is a sequence of frames (`frames_of`), each for an API and a version that are served: its
header is right, its body whatever libFuzzer makes of it. Half of the mutations are libFuzzer's,
half give fields of a request other values (fields.py). The cluster lives for LIVES inputs, under a
manual clock, which goes on by a second with each. What fails is printed, once for each place in the
source, and kept in build/fuzz as a case that `python -m tests.fuzz --replay FILE` does again at a
socket.
Needs atheris.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import atheris

with atheris.instrument_imports(include=["odradek"], enable_loader_override=False):
    from odradek.emulator.base.logger import log
    from odradek.emulator.base.release import KAFKA_4_3
    from odradek.emulator.cluster import Cluster
    from odradek.emulator.handlers.registry import SERVED
    from odradek.emulator.net.connection import Connection
    from odradek.storage import MemoryDisk
    from odradek.wire import Request, WireError
    from odradek.wire.codec import messages as codec
    from odradek.wire.frames import SIZE, Part, pieces
    from odradek.wire.headers import RequestHeader, read_request_header, write_request_header

    HANDLERS = tuple(SERVED.values())  # imported here, that they are instrumented

from tests.differential.engine.steps import Ask
from tests.fuzz.events import FOUND, Case, Event
from tests.fuzz.fields import Fields
from tests.fuzz.findings import Finding, found_in
from tests.fuzz.seeds import Seed, Source
from tests.fuzz.served import served_by
from tests.fuzz.spared import is_spared
from tests.support.cluster import open_cluster

LIVES = 300
STEP_MS = 1000
CLIENT = "guided"
_HEAD = 4  # API, version, length of the body


class Frames:
    def __init__(self) -> None:
        self.served = served_by(KAFKA_4_3.name)
        self._apis = list(self.served.ranges)

    def frames_of(self, data: bytes) -> Iterator[bytes]:
        """The frames of an input: API and version, modulo how many there are, a byte each; two for
        the length of the body, which may be longer than what is left."""
        pos = 0
        while len(data) - pos >= _HEAD:
            api = self._apis[data[pos] % len(self._apis)]
            versions = self.served.versions(api)
            version = versions[data[pos + 1] % len(versions)]
            end = pos + _HEAD + int.from_bytes(data[pos + 2 : pos + _HEAD], "big")
            header = RequestHeader(api.api_key, version, pos, CLIENT)
            yield write_request_header(header) + data[pos + _HEAD : end]
            pos = end

    def input_of(self, frames: list[bytes]) -> bytes:
        """The input that has these frames."""
        data = b""
        for frame in frames:
            header, pos = read_request_header(frame)
            (number,) = (n for n, a in enumerate(self._apis) if a.api_key == header.api_key)
            first = self.served.ranges[self._apis[number]][0]
            body = frame[pos:]
            size = min(len(body), 0xFFFF).to_bytes(2, "big")
            data += bytes([number, header.api_version - first]) + size + body[:0xFFFF]
        return data

    def request_of(self, frame: bytes) -> tuple[Request, int]:
        """The request in a frame, and its version. Raises WireError."""
        header, pos = read_request_header(frame)
        (api,) = (each for each in self._apis if each.api_key == header.api_key)
        return api.decode(frame, header.api_version, pos), header.api_version


class Nowhere:
    """The transport of a connection whose answers nobody reads."""

    def send(self, parts: list[Part]) -> None:
        """Read them, as a socket would."""
        for _ in pieces(parts, lambda: 1 << 20):
            pass

    def ends(self) -> None:
        """There is no socket."""

    def read_on(self) -> None:
        """There is always room."""

    def close(self) -> None:
        """Do nothing."""


class Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter())
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.texts.append(self.format(record))


class Runner:
    """Gives inputs to a connection, and keeps what they find."""

    def __init__(self, frames: Frames, directory: Path = FOUND) -> None:
        self.frames = frames
        self.found: set[str] = set()
        self._directory = directory
        self._log = Log()
        log.addHandler(self._log)
        self._fields = Fields(Random(1))
        self._lives = 0
        self._events: list[Event] = []
        self._cluster: Cluster | None = None

    def __call__(self, data: bytes) -> None:
        cluster = self._alive()
        connection = Connection(cluster, Nowhere(), "127.0.0.1", 1)
        self._events.append(event := Event(len(self._events) + 1, "send"))
        try:
            for frame in self.frames.frames_of(data):
                if not is_spared(frame):
                    event.pieces.append(SIZE.pack(len(frame)) + frame)
                    connection.feed(SIZE.pack(len(frame)) + frame)
            connection.lost()
            cluster.advance(STEP_MS)
        except Exception:
            log.exception("not in a handler")
        for text in self._log.texts:
            for finding in found_in(text):
                self._keep(finding)
        self._log.texts.clear()

    def mutate(self, data: bytes, size_max: int, seed: int) -> bytes:
        """A mutation of an input."""
        random = Random(seed)
        frames = list(self.frames.frames_of(data))
        if not frames or random.random() < 0.5:
            mutated: bytes = atheris.Mutate(data, size_max)
            return mutated
        at = random.randrange(len(frames))
        try:
            request, version = self.frames.request_of(frames[at])
            changed = self._fields.changed(request, version)
            header = RequestHeader(request.api_key, version, 0, CLIENT)
            frames[at] = write_request_header(header) + changed.encode(version)
        except WireError:
            del frames[at]
        return self.frames.input_of(frames)[:size_max]

    def _alive(self) -> Cluster:
        if self._cluster is None or self._lives == 0:
            if self._cluster is not None:
                self._cluster.close()
            self._cluster = open_cluster(MemoryDisk().directory())
            self._lives = LIVES
            self._events = []
        self._lives -= 1
        return self._cluster

    def _keep(self, finding: Finding) -> None:
        if finding.place in self.found:
            return
        self.found.add(finding.place)
        path = Case(finding, KAFKA_4_3.name, "guided", self._events).save(self._directory)
        print(f"FOUND {finding.place}\n{finding.text}\n-> {path}", flush=True)


def write_corpus(frames: Frames, directory: Path) -> None:
    """Each version of each API by itself, and sequences of five requests."""
    source = Source(Random(7), frames.served)
    versions = sum(len(frames.served.versions(api)) for api in frames.served.ranges)
    for _ in range(2 * versions):
        write(directory, frames, [source.seed(source.worlds[0], next(source.every))])
    for _ in range(200):
        _, steps = source.sequence()
        asks = [step for step in steps if isinstance(step, Ask)]
        for first in range(0, len(asks), 5):
            some = asks[first : first + 5]
            write(directory, frames, [source.seed(source.worlds[0], step) for step in some])


def write(directory: Path, frames: Frames, seeds: list[Seed]) -> None:
    """One file."""
    data = frames.input_of([seed.frame for seed in seeds])
    (directory / sha256(data).hexdigest()[:16]).write_bytes(data)


def main() -> None:
    frames = Frames()
    for api in frames.served.ranges:
        for version in frames.served.versions(api):
            atheris.instrument_func(codec.reader(api, version))
    runner = Runner(frames)
    log.propagate = False
    with tempfile.TemporaryDirectory() as corpus:
        write_corpus(frames, Path(corpus))
        arguments: list[Any] = [sys.argv[0], corpus, "-max_len=20000", *sys.argv[1:]]
        atheris.Setup(arguments, runner, custom_mutator=runner.mutate, enable_python_coverage=True)
        atheris.Fuzz()


if __name__ == "__main__":
    main()

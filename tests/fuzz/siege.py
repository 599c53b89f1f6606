"""Sends hostile beginnings of connections (beginnings.py) to a listener, several at once, while a
guest logs in there properly; and looks at what the broker keeps of them."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random

from .arena import Arena
from .beginnings import Beginnings, Script
from .events import Event
from .findings import Finding
from .guest import Guest, trusting

_LOOK_EVERY_S = 0.25
_TIMEOUT_S = 5.0
_MOMENT_S = 0.02
_PARTS = 5
"""Of an era: after each but the last the memory is looked at, besides at its ends."""
_SILENT = 20
"""Connections of each attacker that stay open and say no more."""
_LINGER_0 = struct.pack("ii", 1, 0)


class Siege:
    def __init__(self, arena: Arena, listener: str, seed: str, connections: int) -> None:
        self.arena = arena
        self.history: list[Event] = []
        self._attackers = [
            Attacker(arena.broker.attacked, Beginnings(Random(f"{seed}/{n}"), listener), Random(n))
            for n in range(connections)
        ]
        self._guest = Guest(arena.broker.attacked, listener)
        self.status = ""

    @property
    def frames(self) -> int:
        """How many were sent, and records of TLS."""
        return sum(each.frames for each in self._attackers)

    @property
    def answers(self) -> int:
        """Times at which something came back."""
        return sum(each.answers for each in self._attackers)

    @property
    def closed(self) -> int:
        """Connections that the broker has closed while they were used."""
        return sum(each.closed for each in self._attackers)

    def run(self, frames: int, progress: Callable[[Siege], None]) -> None:
        """Send so many. Raises Over (arena.py)."""
        arena = self.arena
        held = arena.broker.held()
        arena.idle = arena.broker.weight()
        self._guest.start()
        for attacker in self._attackers:
            attacker.start()
        weights = [arena.idle]
        try:
            while self.frames < frames:
                arena.look()
                self._look_at_guest()
                if self.frames > frames * len(weights) / _PARTS:
                    weights.append(arena.broker.weight())
                progress(self)
                time.sleep(_LOOK_EVERY_S)
        finally:
            for attacker in self._attackers:
                attacker.over.set()
            for attacker in self._attackers:
                attacker.join()
        self._end(held, [*weights, arena.broker.weight()])

    def _look_at_guest(self) -> None:
        guest = self._guest
        if guest.failure is not None:
            self.arena.over("guest", type(guest.failure).__name__, repr(guest.failure))
        if guest.waits_s() > self.arena.setup.hang_s:
            self.arena.over("guest", "waits", f"for {guest.waits_s():.0f} s")
        for attacker in self._attackers:
            if attacker.failure is not None:
                raise attacker.failure

    def _end(self, held: tuple[int, int], weights: list[int]) -> None:
        """Whether descriptors and threads are as many as before."""
        try:
            self._guest.finish(self.arena.setup.hang_s)
        except BaseException as error:
            self.arena.over("guest", type(error).__name__, repr(error))
        broker = self.arena.broker
        deadline = time.monotonic() + self.arena.setup.stop_s
        while (now := broker.held()) > held and time.monotonic() < deadline:
            time.sleep(_LOOK_EVERY_S)
        if now[0] > held[0] or now[1] > held[1] + 1:  # one thread may have begun its work since
            self.arena.note(Finding("kept", "descriptors or threads", f"{held}, then {now}"))
        megabytes = ", ".join(str(size >> 20) for size in weights)
        self.status = (
            f"memory {megabytes} MB; "
            + f"descriptors {held[0]}, then {now[0]}; threads {held[1]}, then {now[1]}; "
            + f"{self._guest}"
        )


class Attacker(threading.Thread):
    def __init__(self, address: tuple[str, int], beginnings: Beginnings, random: Random) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._beginnings = beginnings
        self._random = random
        self._context = trusting()
        self._silent: list[socket.socket] = []
        self.over = threading.Event()
        self.frames = self.answers = self.closed = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.over.is_set():
                self._connect(self._beginnings.script())
        except BaseException as error:
            self.failure = error
        for each in self._silent:
            each.close()

    def _connect(self, script: Script) -> None:
        client = socket.create_connection(self._address, timeout=_TIMEOUT_S)
        try:
            send = self._agreed(client, script) if script.over_tls else client.sendall
            for piece in script.pieces:
                send(piece)
                self.frames += 1
            self._hear(client)
        except OSError:
            self.closed += 1
        self._leave(client)

    def _hear(self, client: socket.socket) -> None:
        """Sometimes an answer is waited for."""
        if self._random.random() < 0.3:
            client.settimeout(_MOMENT_S)
            with suppress(TimeoutError):
                if client.recv(1 << 16):
                    self.answers += 1
                else:
                    self.closed += 1

    def _leave(self, client: socket.socket) -> None:
        random = self._random
        if random.random() < 0.01:
            self._silent.append(client)
            client = self._silent.pop(0) if len(self._silent) > _SILENT else client
            if client is self._silent[-1]:
                return
        if random.random() < 0.3:
            with suppress(OSError):
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_0)
        client.close()

    def _agreed(self, client: socket.socket, script: Script) -> Callable[[bytes], None]:
        """Agree on TLS; what sends a record then. Raises OSError."""
        arriving, leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self._context.wrap_bio(arriving, leaving, server_hostname="localhost")
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                client.sendall(leaving.read())
                data = client.recv(1 << 16)
                if not data:
                    raise ConnectionError("closed") from None
                arriving.write(data)
            else:
                break
        client.sendall(leaving.read())

        def send(piece: bytes) -> None:
            tls.write(piece)
            record = bytearray(leaving.read())
            if script.damages and record:
                record[self._random.randrange(len(record))] ^= 1 << self._random.randrange(8)
            client.sendall(record)

        return send

"""Link: between the socket of one connection and its protocol, while a fault may be met there.

To the event loop it is the connection's protocol, to the protocol its transport. It is put between
them when a fault is set that may mean the connection, and taken out once none does and nothing is
on its way; a connection without faults has none.

Whose connection it is, a new client says with its first request: until then only faults that mean
everybody are met.

Pipe: one direction of a connection, whose bytes take their time.

Bytes keep their order. What comes is cut into pieces, each of which is due at a time; the faults
that there are when a piece comes decide that time, later ones only whether it is held.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ....wire import Buffer
from ...base.real_time import monotonic
from .fault import DOWN, UP, Fault

if TYPE_CHECKING:
    from .line import Line
    from .network import Network


class _Piece(NamedTuple):
    due: float
    data: bytes


class Pipe:
    """`deliver` is given bytes, and returns what it does not take now; `went` is called when some
    have gone."""

    def __init__(
        self,
        stream: str,
        loop: asyncio.AbstractEventLoop,
        deliver: Callable[[bytes], bytes],
        went: Callable[[], None],
    ) -> None:
        self.stream = stream
        self.size = 0
        """How many bytes it holds."""
        self._loop = loop
        self._deliver = deliver
        self._went = went
        self._pieces: deque[_Piece] = deque()
        self._last_due = 0.0
        self._free_at: dict[Fault, float] = {}
        self.is_held = False
        self.is_blocked = False
        self._is_delivering = False
        self._alarm: asyncio.TimerHandle | None = None

    def put(self, data: bytes, faults: Sequence[Fault]) -> None:
        for piece in _pieces(data, faults):
            self._last_due = max(self._last_due, self._due(piece, faults))
            self._pieces.append(_Piece(self._last_due, piece))
            self.size += len(piece)
        self.go_on()

    def _due(self, piece: bytes, faults: Sequence[Fault]) -> float:
        due = now = monotonic()
        for fault in faults:
            effect = fault.effect
            if effect.latency_s or effect.jitter_s:
                jitter = fault.random.uniform(-effect.jitter_s, effect.jitter_s)
                due += max(0.0, effect.latency_s + jitter)
            takes = effect.piece_s
            if effect.bytes_per_s:
                takes += len(piece) / effect.bytes_per_s
            if takes:
                free = max(due, self._free_at.get(fault, now)) + takes
                self._free_at[fault] = due = free
        return due

    def hold(self, is_held: bool) -> None:
        self.is_held = is_held
        self.go_on()

    def block(self, is_blocked: bool) -> None:
        """Whoever it delivers to takes nothing now; or takes some again."""
        self.is_blocked = is_blocked
        self.go_on()

    def hurry(self) -> None:
        """The faults are gone: what is on its way is due now."""
        self._pieces = deque(_Piece(0.0, piece.data) for piece in self._pieces)
        self._last_due = 0.0
        self._free_at.clear()
        self.go_on()

    def go_on(self) -> None:
        """Deliver what is due, and come back for the rest."""
        if self._is_delivering:
            return
        self._is_delivering = True
        try:
            while self._pieces and not self.is_held and not self.is_blocked:
                piece = self._pieces[0]
                if piece.due > monotonic():
                    break
                self._pieces.popleft()
                rest = self._deliver(piece.data)
                self.size -= len(piece.data) - len(rest)
                if rest:
                    self._pieces.appendleft(_Piece(0.0, rest))
                    if not self.is_blocked:
                        break
        finally:
            self._is_delivering = False
        self._set_alarm()
        self._went()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._pieces and not self.is_held and not self.is_blocked:
            wait = max(0.0, self._pieces[0].due - monotonic())
            self._alarm = self._loop.call_later(wait, self.go_on)

    def close(self) -> None:
        self._pieces.clear()
        self.size = 0
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


def _pieces(data: bytes, faults: Sequence[Fault]) -> Iterator[bytes]:
    sizes = [fault.effect.piece_bytes for fault in faults if fault.effect.piece_bytes]
    if any(fault.effect.bytes_per_s for fault in faults):
        sizes.append(_SHARE_BYTES)
    size = min(sizes, default=len(data)) or 1
    for at in range(0, len(data), size):
        yield data[at : at + size]


_SHARE_BYTES = 4096  # so that a narrow line lets something through all the time


_BUFFER_BYTES = 1 << 16
_MOST_BYTES = 1 << 18
"""With more than this on its way in a direction, no more is taken."""
_HEAD = struct.Struct(">ihhih")  # size, API key, version, correlation id, length of the client id


class Link(asyncio.BufferedProtocol):
    def __init__(self, network: Network, protocol: Line) -> None:
        self._network = network
        self._protocol = protocol
        self._socket = protocol.socket_transport
        self._loop = network.loop
        self.client_id = protocol.who
        self._first = bytearray()  # of the first request, until it says who the client is
        self._buffer = bytearray(_BUFFER_BYTES)
        self._up = Pipe(UP, self._loop, self._to_broker, self._up_went)
        self._down = Pipe(DOWN, self._loop, self._to_client, self._down_went)
        self._passed: dict[Fault, int] = {}  # bytes, of those that have a limit
        self._met: set[Fault] = set()
        self._forgotten_by: Fault | None = None
        self._is_reading = protocol.is_reading
        self._is_choked = False  # writing of the protocol is paused
        self._is_ending = False  # the client has sent its last
        self._is_closing = False  # the broker has closed it
        self._is_reset = False
        self._is_lost = False  # it has ended, or was taken out
        self._alarms: list[asyncio.TimerHandle] = []
        protocol.use_transport(self)
        self._socket.set_protocol(self)
        if not self._is_reading:
            self._up.block(True)
        if protocol.is_blocked:
            self._is_choked = True
            self._down.block(True)

    # Faults

    def faults(self, stream: str) -> list[Fault]:
        """Those that are met in this direction, in the order in which they were set."""
        return [each for each in self._mine() if stream in each.effect.streams]

    def _mine(self) -> list[Fault]:
        who = self.client_id
        return [each for each in self._network.faults if each.is_for(self._protocol, who)]

    def changed(self) -> None:
        """Faults were set or removed, or it is known now who the client is."""
        if self._is_lost:
            return
        mine = self._mine()
        if self._forgotten_by is not None:
            if self._forgotten_by not in mine:
                self._reset()
            return
        for fault in mine:
            effect = fault.effect
            if fault in self._met:
                continue
            if effect.forgets and self._network.was_there(fault, self._protocol):
                self._forget(fault)
                return
            if effect.reset_s is not None:
                self._meets(fault)
                if not effect.reset_s:
                    self._reset()
                    return
                self._alarms.append(self._loop.call_later(effect.reset_s, self._reset))
        if any(each.is_removed and each.effect.drops for each in self._met):
            self._reset()  # what has disappeared does not come again
            return
        for pipe in (self._up, self._down):
            here = [each for each in mine if pipe.stream in each.effect.streams]
            if not here:
                pipe.hurry()
            pipe.hold(any(each.effect.holds for each in here))
        self._leave_if_idle(mine)

    def _leave_if_idle(self, mine: list[Fault]) -> None:
        is_idle = not (self._up.size or self._down.size or self._is_closing or self._is_ending)
        may_be_meant = self.client_id is None and any(
            each.asks_who for each in self._network.faults
        )
        is_blocked = self._is_choked or self._down.is_blocked
        if mine or may_be_meant or not is_idle or is_blocked or self._is_lost:
            return
        if self._is_reading and not self._protocol.is_reading:
            self._socket.pause_reading()
        self._is_lost = True
        self._network.left(self._protocol)
        self._socket.set_protocol(cast(asyncio.BaseProtocol, self._protocol))
        self._protocol.use_transport(self._socket)

    def _meets(self, fault: Fault) -> None:
        if fault not in self._met:
            self._met.add(fault)
            self._network.met(fault, self._protocol, self.client_id)

    def _meets_what_holds(self, stream: str) -> None:
        for fault in self.faults(stream):
            if fault.effect.holds:
                self._meets(fault)

    def _forget(self, fault: Fault) -> None:
        self._forgotten_by = fault
        self._meets(fault)
        self._up.close()
        self._down.close()
        self._protocol.lost()

    def _reset(self) -> None:
        if not self._is_lost and not self._is_reset:
            self._is_reset = True
            self._protocol.reset_when_closed()
            self._socket.abort()

    # What the event loop calls

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        data = bytes(memoryview(self._buffer)[:nbytes])
        if self._forgotten_by is not None:
            return
        if self.client_id is None:
            self._learn(data)
            if self._is_lost:
                self._protocol.take(data)
                return
        if self._is_reset:
            return
        self._put(self._up, data)
        self._keep_pace()

    def _learn(self, data: bytes) -> None:
        """The first request says who the client is."""
        self._first += data
        if len(self._first) < _HEAD.size:
            return
        size = _HEAD.unpack_from(self._first)[-1]
        name = bytes(self._first[_HEAD.size : _HEAD.size + max(0, size)])
        if len(name) == max(0, size):
            self.client_id = name.decode("utf-8", "replace")
            self._first.clear()
            self.changed()

    def _put(self, pipe: Pipe, data: bytes) -> None:
        faults = self.faults(pipe.stream)
        ends = False
        for fault in faults:
            effect = fault.effect
            if effect.most_bytes is not None:
                left = effect.most_bytes - self._passed.get(fault, 0)
                if len(data) > left:
                    ends = True
                    self._meets(fault)
                data = data[: max(0, left)]
                self._passed[fault] = effect.most_bytes - left + len(data)
            else:
                self._meets(fault)
            if effect.drops:
                data = b""
        if data:
            pipe.put(data, faults)
        if ends:
            self._protocol.lost()
            self.close()

    def eof_received(self) -> bool:
        if self._forgotten_by is None and not self._up.size and not self._up.is_held:
            return bool(self._protocol.eof_received())
        self._is_ending = self._forgotten_by is None
        if self._up.is_held:
            self._meets_what_holds(UP)
        return self._is_ending

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        self._up.close()
        self._down.close()
        for alarm in self._alarms:
            alarm.cancel()
        self._network.left(self._protocol)
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        self._down.block(True)

    def resume_writing(self) -> None:
        self._down.block(False)

    # What the pipes call

    def _to_broker(self, data: bytes) -> bytes:
        return self._protocol.take(data)

    def _up_went(self) -> None:
        if self._is_lost:
            return
        self._keep_pace()
        if self._is_ending and not self._up.size and not self._up.is_held:
            self._is_ending = False
            if not self._protocol.eof_received():
                self.close()

    def _to_client(self, data: bytes) -> bytes:
        if not self._socket.is_closing():
            self._socket.write(data)
        return b""

    def _down_went(self) -> None:
        if self._is_lost:
            return
        if self._is_choked and self._down.size <= _MOST_BYTES // 2:
            self._is_choked = False
            self._protocol.resume_writing()
        if self._is_closing and not self._down.size and not self._down.is_held:
            self._close_socket()

    def _close_socket(self) -> None:
        slow = 0.0
        for fault in self._mine():
            if fault.effect.close_s:
                self._meets(fault)
                slow += fault.effect.close_s
        self._alarms.append(self._loop.call_later(slow, self._socket.close))

    def _keep_pace(self) -> None:
        """Read only as much as can be passed on."""
        reads = self._up.size <= _MOST_BYTES
        if reads == self._is_reading or self._socket.is_closing():
            return
        self._is_reading = reads
        if reads:
            self._socket.resume_reading()
        else:
            self._socket.pause_reading()

    # What the protocol calls: the methods of a transport

    def write(self, data: Buffer) -> None:
        """Send some bytes."""
        self.writelines([data])

    def writelines(self, some: list[Buffer]) -> None:
        self._put(self._down, b"".join(some))
        if self._down.size > _MOST_BYTES and not self._is_choked:
            self._is_choked = True
            self._protocol.pause_writing()

    def pause_reading(self) -> None:
        """The broker has no room for more."""
        self._up.block(True)

    def resume_reading(self) -> None:
        """It has room again."""
        self._up.block(False)

    def is_closing(self) -> bool:
        return self._is_closing or self._socket.is_closing()

    def close(self) -> None:
        """Close, after what was written before is sent."""
        if not self._is_closing:
            self._is_closing = True
            if self._down.is_held:
                self._meets_what_holds(DOWN)
            self._down_went()

    def abort(self) -> None:
        self._socket.abort()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """How much the socket's transport holds."""
        self._socket.set_write_buffer_limits(high, low)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket.get_extra_info(name, default)

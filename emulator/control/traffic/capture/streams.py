"""A direction of a TCP connection: segments in any order in, bytes in their order out.

- The first sequence number is that of a SYN, or that of the first segment seen.
- What comes again is dropped, what comes early waits. Where bytes are missing for good, because the
  capture lost them or kept packets in part, zeros stand for them, and `holes` says where: a frame
  with a hole cannot be decoded, but those after it can.
"""

from __future__ import annotations

from .packets import SYN, Segment

_WRAP = 1 << 32
_HALF = 1 << 31
_WAITING_MAX = 1024
_HOLE_MAX = 1 << 24


class Stream:
    """The bytes of one direction. `take` hands out whole frames."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._early: dict[int, Segment] = {}
        self._bytes = bytearray()
        # Where in `_bytes` zeros stand for what is missing.
        self._holes: list[tuple[int, int]] = []
        self.is_lost = False
        """Whether it went out of step, so that nothing can be read in it any more."""

    def put(self, segment: Segment) -> None:
        """Another segment of this direction."""
        if self.is_lost:
            return
        sequence = segment.sequence
        if segment.flags & SYN:
            self._next = (sequence + 1) % _WRAP
            return
        if not segment.payload and not segment.missing:
            return
        if self._next is None:
            self._next = sequence
        self._early.setdefault(sequence, segment)
        self._join()
        if len(self._early) > _WAITING_MAX:
            self._skip()

    def end(self) -> None:
        """No more segments come."""
        while self._early and not self.is_lost:
            self._skip()

    def take(self) -> tuple[bytes, int] | None:
        """The next whole frame, without its size: what is known of its beginning, and its length.
        None if there is none yet."""
        if len(self._bytes) < 4 or self.is_lost:
            return None
        size = int.from_bytes(self._bytes[:4], "big", signed=True)
        if size < 0 or any(begin < 4 for begin, _ in self._holes):
            self.is_lost = True
            return None
        end = 4 + size
        if len(self._bytes) < end:
            return None
        known = min((begin for begin, _ in self._holes if begin < end), default=end)
        frame = bytes(self._bytes[4:known])
        del self._bytes[:end]
        cut = [(begin - end, stop - end) for begin, stop in self._holes]
        self._holes = [(max(0, begin), stop) for begin, stop in cut if stop > 0]
        return frame, size

    def _join(self) -> None:
        """Take over what is next, and what follows it."""
        while self._early:
            found = min(self._early, key=self._distance)
            if self._distance(found) > 0:
                return
            segment = self._early.pop(found)
            seen = -self._distance(found)
            payload = segment.payload[seen:]
            missing = segment.missing - max(0, seen - len(segment.payload))
            self._append(payload, max(0, missing))

    def _append(self, payload: bytes, missing: int) -> None:
        assert self._next is not None
        self._bytes += payload
        if missing:
            self._holes.append((len(self._bytes), len(self._bytes) + missing))
            self._bytes += bytes(missing)
        self._next = (self._next + len(payload) + missing) % _WRAP

    def _skip(self) -> None:
        """Give up what has not come, up to the next segment that has."""
        hole = self._distance(min(self._early, key=self._distance))
        if hole > _HOLE_MAX:
            self.is_lost = True
            return
        self._append(b"", hole)
        self._join()

    def _distance(self, sequence: int) -> int:
        """How far a sequence number is ahead of what is next; negative if it is behind."""
        assert self._next is not None
        ahead = (sequence - self._next) % _WRAP
        return ahead - _WRAP if ahead >= _HALF else ahead

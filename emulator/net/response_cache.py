"""Answers kept in encoded form, for requests that many clients repeat byte for byte.

What is asked all the time with the same bytes (ApiVersions, Metadata, FindCoordinator) is answered
from them, from the listener that is asked, and from what the metadata log says and which brokers
are listed: until one of these changes, the encoded answer is sent again. An answer that refuses
something is not kept: it may have other reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from struct import Struct

from ...wire import Buffer, Response
from ...wire.frames import JOINED, Part
from ..base.call import ClientSoftware
from ..metadata.delta import MetadataDelta
from ..metadata.image import MetadataImage

_ENTRIES_MAX = 64
_REQUEST_BYTES_MAX = 4096
_HEAD = Struct(">ii")
_ID = Struct(">i")

Key = tuple[int, bytes, str]
"""API and version as one number, the body of the request, the listener."""


class Encoded:
    __slots__ = ("_body", "_size", "software")

    def __init__(
        self, body: Sequence[Buffer], software: ClientSoftware | None, *, has_tags: bool
    ) -> None:
        self._body = b"".join([bytes(has_tags), *body])
        self._size = len(self._body) + 4
        self.software = software
        """Name and version of the client by the request."""

    def frame(self, correlation_id: int) -> list[Part]:
        """The frame of the answer to a request."""
        head = _HEAD.pack(self._size, correlation_id)
        return [head + self._body] if self._size <= JOINED else [head, self._body]


class OfAnyController(Encoded):
    """One of a cluster of several brokers, which names another as the controller each time."""

    __slots__ = ("_at", "_choose")

    def __init__(
        self, body: Sequence[Buffer], *, has_tags: bool, place: int, choose: Callable[[], int]
    ) -> None:
        super().__init__(body, None, has_tags=has_tags)
        self._at = has_tags + place
        self._choose = choose

    def frame(self, correlation_id: int) -> list[Part]:
        body, after = memoryview(self._body), self._at + _ID.size
        head, named = _HEAD.pack(self._size, correlation_id), _ID.pack(self._choose())
        parts: list[Buffer] = [head, body[: self._at], named, body[after:]]
        return [b"".join(parts)] if self._size <= JOINED else [*parts]


def place_of_controller(response: Response, version: int) -> int | None:
    """Where the body of an answer names the controller; None if it does not."""
    if not hasattr(response, "controller_id"):
        return None
    short = copy(response)
    if hasattr(short, "topics"):  # which come after it
        short.topics = []
    bodies = []
    for short.controller_id in (0, -1):
        bodies.append(b"".join(short.parts(version)))
    pairs = enumerate(zip(*bodies, strict=True))
    return next((at for at, (one, other) in pairs if one != other), None)


class AnswerCache:
    """A few answers; emptied when something changes, or when full."""

    def __init__(self) -> None:
        self.generation = 0
        """Rises with every change that an answer might show."""
        self._answers: dict[Key, Encoded] = {}
        self.find = self._answers.get
        """The answer to a request, None if none is kept."""

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        self.changed()

    def changed(self) -> None:
        """Something that answers show has changed."""
        self.generation += 1
        self._answers.clear()

    def keep(self, key: Key, answer: Encoded) -> None:
        if len(key[1]) <= _REQUEST_BYTES_MAX:
            if len(self._answers) >= _ENTRIES_MAX:
                self._answers.clear()
            self._answers[key] = answer

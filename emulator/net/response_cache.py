"""Answers kept in encoded form, for requests that many clients repeat byte for byte.

What is asked all the time with the same bytes (ApiVersions, Metadata, FindCoordinator) is answered
from them, from the listener that is asked, and from what the metadata log says and which brokers
are listed: until one of these changes, the encoded answer is sent again. An answer that refuses
something is not kept: it may have other reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from ...wire import Buffer
from ...wire.frames import JOINED, Part
from ..base.client import ClientSoftware
from ..metadata.delta import MetadataDelta
from ..metadata.image import MetadataImage

_ENTRIES_MAX = 64
_REQUEST_BYTES_MAX = 4096
_HEAD = Struct(">ii")

Key = tuple[int, bytes, str]
"""API and version as one number, the body of the request, the listener."""


class Encoded:
    """A response that is encoded already."""

    __slots__ = ("_body", "_size", "software")

    def __init__(
        self, body: Sequence[Buffer], software: ClientSoftware | None, *, has_tags: bool
    ) -> None:
        self._body = b"".join([bytes(has_tags), *body])
        self._size = len(self._body) + 4
        self.software = software
        """What the request says of its client."""

    def frame(self, correlation_id: int) -> list[Part]:
        """The frame of the answer to a request."""
        head = _HEAD.pack(self._size, correlation_id)
        return [head + self._body] if self._size <= JOINED else [head, self._body]


class AnswerCache:
    """A few answers; emptied when something changes, or when full."""

    def __init__(self) -> None:
        self.generation = 0
        """Rises with every change that an answer might show."""
        self._answers: dict[Key, Encoded] = {}
        self.find = self._answers.get
        """The answer to a request, None if none is kept."""

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Follow a change of the metadata."""
        self.changed()

    def changed(self) -> None:
        """Something that answers show has changed."""
        self.generation += 1
        self._answers.clear()

    def keep(self, key: Key, answer: Encoded) -> None:
        """Keep an answer."""
        if len(key[1]) <= _REQUEST_BYTES_MAX:
            if len(self._answers) >= _ENTRIES_MAX:
                self._answers.clear()
            self._answers[key] = answer

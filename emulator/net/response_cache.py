"""Answers kept in encoded form, for requests that many clients repeat byte for byte.

Metadata is requested all the time, with the same bytes, and its answer depends only on them and on
the catalogue, and on the listener that is asked: while the catalogue's generation is the same, the
encoded answer is sent again.
"""

from __future__ import annotations

from ...wire import Buffer

_ENTRIES_MAX = 64
_REQUEST_BYTES_MAX = 4096

Key = tuple[int, int, bytes, str]


class Encoded:
    """A response that is encoded already, in one version; sent like a Response."""

    __slots__ = ("_body", "generation")

    def __init__(self, body: bytes, generation: int) -> None:
        self._body = body
        self.generation = generation

    def parts(self, version: int) -> list[Buffer]:
        """The body as buffers. `version` is the one it is encoded in."""
        return [self._body]


class AnswerCache:
    """A few answers, by API, version, bytes of the request, listener; emptied when full."""

    def __init__(self) -> None:
        self._answers: dict[Key, Encoded] = {}

    def find(self, key: Key, generation: int) -> Encoded | None:
        """The answer to these bytes, if nothing has changed since."""
        answer = self._answers.get(key)
        return answer if answer is not None and answer.generation == generation else None

    def keep(self, key: Key, body: bytes, generation: int) -> Encoded:
        """Keep the body of an answer."""
        answer = Encoded(body, generation)
        if len(key[2]) <= _REQUEST_BYTES_MAX:
            if len(self._answers) >= _ENTRIES_MAX:
                self._answers.clear()
            self._answers[key] = answer
        return answer

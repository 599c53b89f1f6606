"""Answers kept in encoded form, for requests that many clients repeat word for word.

Metadata is asked all the time, with the same bytes, and its answer depends on nothing but them and
the catalogue: as long as the catalogue's generation stands, what was encoded once is sent again.
"""

from __future__ import annotations

from ...wire import Buffer, Response

_ENTRIES_MAX = 64
_REQUEST_BYTES_MAX = 4096

Key = tuple[int, int, bytes]


class Encoded:
    """A response of one version that has been written out; is sent like a Response."""

    __slots__ = ("_body", "generation")

    def __init__(self, response: Response, version: int, generation: int) -> None:
        self._body = response.encode(version)
        self.generation = generation

    def parts(self, version: int) -> list[Buffer]:
        """The body as buffers. `version` is the one it was written in."""
        return [self._body]


class AnswerCache:
    """A few answers, by API, version and the bytes of the request; all forgotten when full."""

    def __init__(self) -> None:
        self._answers: dict[Key, Encoded] = {}

    def find(self, key: Key, generation: int) -> Encoded | None:
        """The answer given to these bytes, if nothing has changed since."""
        answer = self._answers.get(key)
        return answer if answer is not None and answer.generation == generation else None

    def keep(self, key: Key, response: Response, generation: int) -> Encoded:
        """Write a response out and remember it. Raises WireError if it cannot be written."""
        answer = Encoded(response, key[1], generation)
        if len(key[2]) <= _REQUEST_BYTES_MAX:
            if len(self._answers) >= _ENTRIES_MAX:
                self._answers.clear()
            self._answers[key] = answer
        return answer

"""Which versions of which API both brokers serve: what their ApiVersions answers have in common."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any

from odradek.wire import Request
from odradek.wire.api import API_MODULES, request_class
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.headers import RequestHeader, write_request_header

from .brokers import Asked, Side, decoded
from .steps import Ask

TIMEOUT_S = 30.0
_PRODUCE, _FETCH = 0, 1
_SIZE = Struct(">i")


class Asker:
    """One connection on which one request is answered after the other: for the engine itself."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, TIMEOUT_S)
        self._stream = self._socket.makefile("rb")

    def ask(self, request: Request, version: int) -> Any:
        """The answer. Raises ConnectionError if there is none."""
        header = RequestHeader(request.api_key, version, 1, "engine")
        frame = write_request_header(header) + request.encode(version)
        self._socket.sendall(_SIZE.pack(len(frame)) + frame)
        head = self._stream.read(4)
        data = self._stream.read(_SIZE.unpack(head)[0]) if len(head) == 4 else b""
        answer = decoded(bytearray(data), Asked(0, request, version)) if data else "closed"
        if isinstance(answer, str):
            raise ConnectionError(f"{type(request).__name__} v{version}: {answer}")
        return answer

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


@dataclass(frozen=True)
class Served:
    """The versions to be asked, by API key, and the cluster id of each side."""

    ranges: dict[int, tuple[int, int]]
    clusters: tuple[str, ...]

    @classmethod
    def of(cls, sides: Sequence[Side]) -> Served:
        """Ask every side."""
        ranges: list[dict[int, tuple[int, int]]] = []
        clusters: list[str] = []
        for side in sides:
            asker = Asker(side.address)
            answer = asker.ask(ApiVersionsRequest(), 0)
            ranges.append(
                {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
            )
            clusters.append(asker.ask(MetadataRequest(topics=[]), 4).cluster_id or "")
            asker.close()
        converts = all(each[_FETCH][0] == 0 for each in ranges)
        common = {
            key: _common(key, [each[key] for each in ranges], converts)
            for key in sorted(set(ranges[0]).intersection(*ranges[1:]) & set(API_MODULES))
        }
        return cls({key: r for key, r in common.items() if r[0] <= r[1]}, tuple(clusters))

    def version(self, step: Ask) -> int:
        """The version of a step: its own, or the newest that both serve."""
        if step.version is not None:
            return step.version
        return self.ranges[step.request.api_key][1]

    def versions(self, api_key: int) -> range:
        """Every version of an API that both serve."""
        first, last = self.ranges[api_key]
        return range(first, last + 1)

    @property
    def converts(self) -> bool:
        """Whether both take and give message sets of before 0.11, as releases up to 3.9 do."""
        return self.ranges[_FETCH][0] == 0


def _common(api_key: int, ranges: list[tuple[int, int]], converts: bool) -> tuple[int, int]:
    request = request_class(api_key)
    firsts = [first for first, _ in ranges] + [request.first_version]
    lasts = [last for _, last in ranges] + [request.last_version]
    # Kafka 4 advertises Produce from 0 on and serves it from 3 on (KAFKA-18659).
    return max(*firsts, 3 if api_key == _PRODUCE and not converts else 0), min(lasts)

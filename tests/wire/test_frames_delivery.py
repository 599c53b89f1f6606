"""A frame of every API and version is the same, however its bytes arrive and whatever follows.

A socket delivers what it likes: all at once, a byte at a time, the end of one frame with the
beginning of the next. And a frame may be longer than its message, of which Kafka takes no notice.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from odradek.wire import Buffer
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.frames import Frame, Frames, frame, pieces
from odradek.wire.headers import (
    RequestHeader,
    read_request_header,
    read_response_header,
    write_request_header,
    write_response_header,
)
from odradek.wire.schema import Message, Request, Response

from tests.wire.support.messages import REQUESTS, RESPONSES, full, versions

BEHIND = b"\x00\xff bytes of no field"

each_request = pytest.mark.parametrize("cls", REQUESTS, ids=lambda cls: cls.__name__)
each_response = pytest.mark.parametrize("cls", RESPONSES, ids=lambda cls: cls.__name__)


def request_frame(request: Request, version: int, behind: bytes = b"") -> bytes:
    header = RequestHeader(request.api_key, version, 77, "a client")
    return sent([write_request_header(header), *request.parts(version), behind])


def response_frame(response: Response, version: int, behind: bytes = b"") -> bytes:
    header = write_response_header(77, response.api_key, version)
    return sent([header, *response.parts(version), behind])


def sent(parts: list[Buffer]) -> bytes:
    return b"".join(pieces(frame(parts), lambda: 1 << 20))


def read_request(cls: type[Request], body: Frame) -> tuple[RequestHeader, Message]:
    header, pos = read_request_header(body)
    return header, cls.decode(body, header.api_version, pos)


def delivered(stream: bytes, size: int) -> list[Frame]:
    """The frames of a stream that arrives in pieces of this size."""
    frames = Frames()
    return [f for at in range(0, len(stream), size) for f in frames.feed(stream[at : at + size])]


def received(stream: bytes, sizes: Iterable[int]) -> list[Frame]:
    """The same, by way of the buffer that a socket receives into."""
    frames, rest = Frames(), memoryview(stream)
    found: list[Frame] = []
    for size in sizes:
        room = frames.buffer()
        count = min(size, len(room), len(rest))
        room[:count] = rest[:count]
        del room
        frames.received(count)
        rest = rest[count:]
        while (frame := frames.take()) is not None:
            found.append(frame)
    assert not rest
    return found


@each_request
def test_a_request_is_the_same_whole_and_byte_by_byte(cls: type[Request]) -> None:
    for version in versions(cls):
        request = full(cls, version)
        stream = request_frame(request, version)
        header = RequestHeader(cls.api_key, version, 77, "a client")
        for size in (len(stream), 1, 7):
            (body,) = delivered(stream, size)
            assert read_request(cls, body) == (header, request)
        (body,) = received(stream, [1] * len(stream))
        assert read_request(cls, body) == (header, request)


@each_request
def test_bytes_behind_a_requests_body_change_nothing(cls: type[Request]) -> None:
    for version in versions(cls):
        request = full(cls, version)
        stream = request_frame(request, version, BEHIND)
        for size in (len(stream), 1):
            (body,) = delivered(stream, size)
            assert bytes(body).endswith(BEHIND)
            assert read_request(cls, body)[1] == request


@each_request
def test_requests_of_every_version_arrive_one_behind_the_other(cls: type[Request]) -> None:
    requests = [(version, full(cls, version)) for version in versions(cls)]
    stream = b"".join(request_frame(request, version) for version, request in requests)
    half = request_frame(requests[0][1], requests[0][0])[:-1]
    for size in (len(stream) + len(half), 1, 11):
        bodies = delivered(stream + half, size)
        read = [read_request(cls, body) for body in bodies]
        assert [(header.api_version, request) for header, request in read] == requests


@each_response
def test_a_response_is_the_same_whole_byte_by_byte_and_with_more_behind(
    cls: type[Response],
) -> None:
    for version in versions(cls):
        response = full(cls, version)
        for behind in (b"", BEHIND):
            stream = response_frame(response, version, behind)
            for size in (len(stream), 1):
                (body,) = delivered(stream, size)
                correlation_id, pos = read_response_header(body, cls.api_key, version)
                assert correlation_id == 77
                assert cls.decode_from(body, version, pos) == (response, len(body) - len(behind))


def test_a_large_request_is_the_same_in_pieces_of_any_size() -> None:
    records = bytes(range(256)) * 700
    partition = ProduceRequest.Topic.Partition(index=0, records=records)
    topic = ProduceRequest.Topic(name="t", partition_data=[partition])
    request = ProduceRequest(acks=1, timeout_ms=5, topic_data=[topic])
    stream = request_frame(request, 9) + request_frame(request, 9, BEHIND)
    for size in (1, 1000, 65_536, len(stream)):
        assert [read_request(ProduceRequest, body)[1] for body in delivered(stream, size)] == [
            request,
            request,
        ]

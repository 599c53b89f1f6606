"""Request and response headers.

    request   api_key int16, api_version int16, correlation_id int32, client_id nullable string
              (never compact), and from the API's first flexible version on tagged fields
    response  correlation_id int32, and in flexible versions tagged fields

The answer to ApiVersions always has the plain header, so that a client that guessed a version too
high can read it (KIP-511). ControlledShutdown v0 is not served, so its bare header is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from .api import API_MODULES, request_class
from .errors import WireError
from .frames import JOINED, Part, frame
from .primitives import Buffer, read_uvarint
from .schema import REQUESTS, Request

API_VERSIONS = 18

_FIXED = Struct(">hhih")
_CORRELATION = Struct(">i")
_ANSWER = Struct(">ii")
"""Size of the frame, correlation id."""


class RequestHeader(NamedTuple):
    """The header of a request. A null client id is read as ""."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str


@lru_cache(maxsize=1024)
def is_flexible(api_key: int, api_version: int) -> bool:
    """Whether this version of an API has tagged fields in its header; False for unknown APIs."""
    request: type[Request] | None = REQUESTS.get(api_key)
    if request is None:
        if api_key not in API_MODULES:
            return False
        request = request_class(api_key)
    return api_version >= request.first_flexible


def read_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """Decode a request header; return it and the position of the body. Raises WireError."""
    if len(frame) < _FIXED.size:
        raise WireError(f"request header cut short after {len(frame)} bytes")
    api_key, api_version, correlation_id, length = _FIXED.unpack_from(frame)
    client_id, pos = read_client_id(frame, length, is_flexible(api_key, api_version))
    return RequestHeader(api_key, api_version, correlation_id, client_id), pos


def read_client_id(frame: Buffer, length: int, has_tags: bool) -> tuple[str, int]:
    """Decode the end of a request header, behind the length of the client id; return the client id
    and the position of the body. Raises WireError."""
    pos = _FIXED.size
    client_id = ""
    if length >= 0:
        end = pos + length
        if end > len(frame):
            raise WireError(f"client id of {length} bytes goes past the end of the frame")
        client_id = str(frame[pos:end], "utf-8", "replace")
        pos = end
    elif length != -1:
        raise WireError(f"client id of negative length {length}")
    if has_tags:
        pos = pos + 1 if frame[pos : pos + 1] == b"\0" else _skip_tags(frame, pos)
    return client_id, pos


def write_request_header(header: RequestHeader) -> bytes:
    client_id = header.client_id.encode()
    fixed = _FIXED.pack(header.api_key, header.api_version, header.correlation_id, len(client_id))
    tags = b"\0" if is_flexible(header.api_key, header.api_version) else b""
    return fixed + client_id + tags


def read_response_header(frame: Buffer, api_key: int, api_version: int) -> tuple[int, int]:
    """Decode a response header: the correlation id, and the position of the body."""
    if len(frame) < _CORRELATION.size:
        raise WireError(f"response header cut short after {len(frame)} bytes")
    (correlation_id,) = _CORRELATION.unpack_from(frame)
    pos = _CORRELATION.size
    if api_key != API_VERSIONS and is_flexible(api_key, api_version):
        pos = _skip_tags(frame, pos)
    return correlation_id, pos


def write_response_header(correlation_id: int, api_key: int, api_version: int) -> bytes:
    fixed = _CORRELATION.pack(correlation_id)
    if api_key != API_VERSIONS and is_flexible(api_key, api_version):
        return fixed + b"\0"
    return fixed


def answer_frame(
    correlation_id: int, api_key: int, api_version: int, body: Sequence[Part]
) -> list[Part]:
    """The frame of a response: size, header and body; a short one is joined. Raises WireError for
    a response that no size can tell."""
    has_tags = api_key != API_VERSIONS and is_flexible(api_key, api_version)
    size = sum(map(len, body)) + _CORRELATION.size + has_tags
    if size > JOINED:
        return frame([write_response_header(correlation_id, api_key, api_version), *body])
    head = _ANSWER.pack(size, correlation_id)
    return [b"".join([head, b"\0" * has_tags, *body])]  # type: ignore[list-item]  # all in memory


def _skip_tags(frame: Buffer, pos: int) -> int:
    count, pos = read_uvarint(frame, pos)
    for _ in range(count):
        _, pos = read_uvarint(frame, pos)
        length, pos = read_uvarint(frame, pos)
        pos += length
        if pos > len(frame):
            raise WireError(f"tagged field of {length} bytes goes past the end of the frame")
    return pos

"""A take as text: each request and answer, decoded."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.wire import WireError
from odradek.wire.api import request_class
from odradek.wire.headers import read_request_header

from tests.differential.engine.results import api_name
from tests.differential.engine.side import Asked, Key, decoded
from tests.differential.engine.transcript import shown

from .take import Came, Sent, Take


def show(take: Take) -> Iterator[str]:
    """The lines of its text."""
    yield take.name
    asked: dict[Key, Asked] = {}
    for line in take.lines:
        place = f"{line.step:<3} {line.ms:>6} ms"
        if isinstance(line, Sent):
            yield f"{place}  > {line.on} {line.what} {_request(line, asked)}"
        elif isinstance(line, Came):
            yield f"{place}  < {line.key[0]} {_answer(line, asked)}"
        else:
            yield f"{place}  {line.what}"


def _request(sent: Sent, asked: dict[Key, Asked]) -> str:
    try:
        header, pos = read_request_header(sent.data)
        request = request_class(header.api_key).decode(sent.data, header.api_version, pos)
    except (WireError, KeyError):
        return sent.data.hex()
    asked[sent.on, header.correlation_id] = Asked(sent.step, request, header.api_version)
    return shown(request)


def _answer(came: Came, asked: dict[Key, Asked]) -> str:
    about = asked.get(came.key)
    if came.word or about is None:
        return came.word or came.data.hex()
    answer = decoded(bytearray(came.data), about)
    return answer if isinstance(answer, str) else f"{api_name(type(about.request))} {shown(answer)}"

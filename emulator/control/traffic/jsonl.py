"""A journal as JSON Lines: a line about the file, then one for each request.

    {"odradek": "journal", "format": 1, "dropped": 0, "topics": {"<id>": "orders"}}
    {"number": 4, "connection": {"number": 2, "client": "127.0.0.1:53484",
      "broker": "127.0.0.1:9092", "nodeId": 1, "software": "apache-kafka-java 4.3.1"},
     "clientId": "shop", "api": "Produce", "apiKey": 0, "version": 13, "correlationId": 5,
     "timeMs": 1767225600000.123, "clockMs": 1767225600000, "durationMs": 1.2,
     "outcome": "answered", "reason": "", "notes": [],
     "request": {...}, "response": {...},
     "requestSize": 120, "requestFrame": "<base64>", "responseSize": 53, "responseFrame": ...}

`request` and `response` are for readers: Kafka's names, null if they could not be
decoded or there is none. Read back are the frames, as they went over the wire, header first.

A message as JSON, with the names of Kafka's schemas: `throttle_time_ms` is `throttleTimeMs`.

Bytes are base64, ids of topics as Kafka writes them. Records are there as their batches, since
their bytes are in the frame: `{"sizeInBytes": 130, "batches": [{"baseOffset": 0, ...}]}`. Only the
fields of the message's version are there.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from ....wire import Message, WireError, id_text, parse_id
from ....wire.batch import batches
from ....wire.schema import BYTES, Struct, Type
from ...base.addresses import parse_address
from ...base.call import UNKNOWN_SOFTWARE, ClientSoftware
from .exchange import NOWHERE, Address, Exchange, NotAJournal, Peer
from .traffic import Traffic


def plain(message: Message, version: int) -> dict[str, Any]:
    """The fields that a version of a message has."""
    return _struct(message, version)


@cache
def kafkas_name(name: str) -> str:
    """A field's name in Kafka's schemas, as JSON has it."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _struct(struct: Struct, version: int) -> dict[str, Any]:
    return {
        kafkas_name(field.name): _value(getattr(struct, field.name), kind, version)
        for field, kind in type(struct).fields()
        if field.is_in(version)
    }


def _value(value: Any, kind: Type, version: int) -> Any:
    if value is None:
        return None
    if kind.is_list:
        each = kind._replace(is_list=False)
        return [_value(item, each, version) for item in value]
    if kind.struct is not None:
        return _struct(value, version)
    assert kind.kind is not None
    if kind.kind.name == "uuid":
        return id_text(value)
    if kind.kind is BYTES:
        return b64encode(value).decode()
    if kind.kind.name == "records":
        return {"sizeInBytes": len(value), "batches": _batches(value)}
    return value


def _batches(records: Any) -> list[dict[str, Any]]:
    """The heads of batches, as far as they can be read; none of the older formats."""
    found = []
    try:
        for _, head in batches(records):
            found.append(
                {
                    "baseOffset": head.base_offset,
                    "recordCount": head.count,
                    "codec": head.codec.name.lower(),
                    "isTransactional": head.is_transactional,
                    "isControl": head.is_control,
                    "producerId": head.producer_id,
                    "producerEpoch": head.producer_epoch,
                    "baseSequence": head.base_sequence,
                }
            )
    except WireError as error:
        found.append({"damaged": str(error)})
    return found


FORMAT = 1
_PIECE = 3 << 16


def head(dropped: int, topic_names: dict[bytes, str]) -> str:
    topics = {id_text(topic_id): name for topic_id, name in topic_names.items()}
    return _line({"odradek": "journal", "format": FORMAT, "dropped": dropped, "topics": topics})


def line(exchange: Exchange) -> str:
    return "".join(line_in_pieces(exchange))


def line_in_pieces(exchange: Exchange) -> Iterator[str]:
    """The same, without a copy of what may be a very long frame."""
    yield _line(as_json(exchange) | {"requestSize": exchange.request_size})[: -len("}\n")]
    yield ', "requestFrame": "'
    yield from _base64(exchange.request_frame)
    yield f'", "responseSize": {exchange.response_size}, "responseFrame": '
    if exchange.response_frame is None:
        yield "null}\n"
    else:
        yield '"'
        yield from _base64(exchange.response_frame)
        yield '"}\n'


def as_json(exchange: Exchange) -> dict[str, Any]:
    """An exchange without the bytes of its frames."""
    peer = exchange.connection
    software = "" if peer.software == UNKNOWN_SOFTWARE else " ".join(peer.software)
    connection = {
        "number": peer.number,
        "client": str(peer.client),
        "broker": str(peer.broker),
        "nodeId": peer.node_id,
        "software": software,
    }
    return {
        "number": exchange.number,
        "connection": connection,
        "clientId": exchange.client_id,
        "api": exchange.api,
        "apiKey": exchange.api_key,
        "version": exchange.version,
        "correlationId": exchange.correlation_id,
        "timeMs": round(exchange.time_ms, 3),
        "clockMs": exchange.clock_ms,
        "durationMs": None if exchange.duration_ms is None else round(exchange.duration_ms, 3),
        "outcome": exchange.outcome,
        "reason": exchange.reason,
        "notes": exchange.notes,
        "request": _plain(exchange.request, exchange.version),
        "response": _plain(exchange.response, exchange.response_version),
    }


def is_head(first: bytes) -> bool:
    """Whether a file that begins with this line is such a journal."""
    return first.startswith(b'{"odradek": "journal"')


def read(lines: Iterable[str]) -> Traffic:
    """A journal from its lines. A last line that was cut is left out. Raises NotAJournal."""
    numbered = enumerate(lines, 1)
    about = _parsed(next(numbered, (1, "")))
    if about.get("odradek") != "journal" or about.get("format") != FORMAT:
        raise NotAJournal(f"it is not a journal of requests in format {FORMAT}")
    traffic = Traffic()
    traffic.dropped = int(about.get("dropped", 0))
    for topic_id, name in dict(about.get("topics", {})).items():
        traffic.topic_names[parse_id(topic_id)] = name
    peers: dict[int, Peer] = {}
    for number, text in numbered:
        if not text.endswith("\n"):
            break  # what wrote it was killed
        try:
            traffic.exchanges.append(_exchange(_parsed((number, text)), peers, traffic))
        except (KeyError, TypeError, ValueError, Base64Error) as error:
            raise NotAJournal(f"line {number}: {error!r}") from None
    return traffic


def _base64(frame: bytes) -> Iterator[str]:
    view = memoryview(frame)
    for begin in range(0, len(frame), _PIECE):
        yield b64encode(view[begin : begin + _PIECE]).decode()


def _plain(message: Message | None, version: int) -> dict[str, Any] | None:
    return None if message is None else plain(message, version)


def _line(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _parsed(numbered: tuple[int, str]) -> dict[str, Any]:
    number, text = numbered
    try:
        found = json.loads(text)
    except ValueError:
        raise NotAJournal(f"line {number} is not JSON") from None
    if not isinstance(found, dict):
        raise NotAJournal(f"line {number} is not an object")
    return found


def _exchange(found: dict[str, Any], peers: dict[int, Peer], traffic: Traffic) -> Exchange:
    answer = found["responseFrame"]
    return Exchange(
        int(found["number"]),
        _peer(found["connection"], peers, traffic),
        int(found["apiKey"]),
        int(found["version"]),
        int(found["correlationId"]),
        str(found["clientId"]),
        float(found["timeMs"]),
        int(found["clockMs"]),
        b64decode(found["requestFrame"], validate=True),
        int(found["requestSize"]),
        None if answer is None else b64decode(answer, validate=True),
        int(found["responseSize"]),
        None if found["durationMs"] is None else float(found["durationMs"]),
        str(found["outcome"]),
        str(found["reason"]),
        list(found["notes"]),
    )


def _peer(found: dict[str, Any], peers: dict[int, Peer], traffic: Traffic) -> Peer:
    number = int(found["number"])
    if number not in peers:
        name, _, version = str(found["software"]).partition(" ")
        peers[number] = Peer(
            number,
            _address(found["client"]),
            _address(found["broker"]),
            int(found["nodeId"]),
            ClientSoftware(name, version) if name else UNKNOWN_SOFTWARE,
            traffic.topic_names,
        )
    return peers[number]


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    if port == "0":
        return Address(host.strip("[]"), NOWHERE.port)
    return Address(*parse_address(text))

"""`odradek records`: what is in a topic, filtered; and, with --follow, what comes.

    odradek records localhost:9092 orders
    odradek records localhost:9092 orders --from -10 --follow
    odradek records localhost:9092 orders --from 15m --key '^42$' --value espresso --max 5
    odradek records localhost:9092 orders --json | jq .value

A line each: partition, offset, time, key, value, headers. Text that is no UTF-8 is shown with
escapes; in --json such a value is base64, under `value_base64`. Records of internal topics are
shown decoded. Partitions are read side by side: order holds within one.
"""

from __future__ import annotations

import argparse
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ...wire import WireError
from ...wire.records import Record
from ...wire.stored.topics import INTERNAL_TOPICS, read_pair
from .broker import Brokers, ConsoleError
from .offsets import parse_position, resolve
from .reading import Reader

_NULL = "null"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may follow `odradek records ADDRESS`."""
    parser.add_argument("topic", help="its name")
    parser.add_argument(
        "--partition",
        type=int,
        metavar="N",
        action="append",
        default=[],
        help="only this one; may be repeated",
    )
    parser.add_argument(
        "--from",
        dest="start",
        default="earliest",
        metavar="POSITION",
        help="earliest (the default), latest, an offset, -N, an age (15m, 2h, 3d) or a time",
    )
    parser.add_argument("--max", type=int, metavar="N", help="stop after N records shown")
    parser.add_argument("--follow", action="store_true", help="wait for more, until Ctrl-C")
    parser.add_argument("--key", metavar="REGEX", help="only records whose key matches")
    parser.add_argument("--value", metavar="REGEX", help="only records whose value matches")
    parser.add_argument("--header", metavar="NAME=REGEX", help="only records with such a header")
    parser.add_argument("--committed", action="store_true", help="no open or aborted transactions")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(brokers: Brokers, asked: argparse.Namespace) -> int:
    """Carry out the command. Raises ConsoleError."""
    if asked.max is not None and asked.max < 1:
        raise ConsoleError("--max is a number of records, at least 1")
    matches = _Filter(asked)
    try:
        position = parse_position(asked.start)
    except ValueError as error:
        raise ConsoleError(f"--from: {error}") from None
    topic = brokers.topic(asked.topic)
    there = {part.partition_index for part in topic.partitions}
    for index in asked.partition:
        if index not in there:
            raise ConsoleError(f"topic {asked.topic} has no partition {index}")
    if asked.partition:
        topic.partitions = [p for p in topic.partitions if p.partition_index in asked.partition]
    starts = resolve(brokers, [topic], position)
    reader = Reader(brokers, topic, starts, committed=asked.committed, follow=asked.follow)
    show = _as_json if asked.json else _as_line
    for count, (partition, record) in enumerate(matches(iter(reader)), 1):
        print(show(asked.topic, partition, record), flush=asked.follow)
        if count == asked.max:
            break
    return 0


class _Filter:
    """What the person asked to see, by regular expressions."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self._key = _compiled("--key", asked.key)
        self._value = _compiled("--value", asked.value)
        text: str = asked.header or ""
        self._header, equals, pattern = text.partition("=")
        self._header_value = _compiled("--header", pattern)
        if asked.header and not equals:
            raise ConsoleError(f"--header takes NAME=REGEX, not {asked.header!r}")

    def __call__(self, records: Iterator[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
        return (found for found in records if self._matches(found[1]))

    def _matches(self, record: Record) -> bool:
        return (
            _found(self._key, record.key)
            and _found(self._value, record.value)
            and (
                not self._header
                or any(
                    name == self._header and _found(self._header_value, value)
                    for name, value in record.headers
                )
            )
        )


def _compiled(option: str, pattern: str | None) -> re.Pattern[str] | None:
    try:
        return None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise ConsoleError(f"{option}: {pattern!r} is no regular expression: {error}") from None


def _found(pattern: re.Pattern[str] | None, data: bytes | None) -> bool:
    return pattern is None or (data is not None and pattern.search(_text(data)) is not None)


def _text(data: bytes | None) -> str:
    if data is None:
        return _NULL
    text = data.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _as_line(topic: str, partition: int, record: Record) -> str:
    key, value = _text(record.key), _text(record.value)
    decoded = _decoded(topic, record)
    if decoded is not None:
        key, value = decoded
    headers = " ".join(f"{name}={_text(value)}" for name, value in record.headers)
    line = f"{partition:>3} {record.offset:>8}  {_time(record.timestamp)}  {key:<8}  {value}"
    return f"{line}  [{headers}]" if headers else line


def _as_json(topic: str, partition: int, record: Record) -> str:
    shown: dict[str, Any] = {
        "topic": topic,
        "partition": partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
    }
    decoded = _decoded(topic, record)
    if decoded is not None:
        shown |= {"key": decoded[0], "value": decoded[1]}
    else:
        shown |= _field("key", record.key) | _field("value", record.value)
    shown["headers"] = [{"name": name} | _field("value", v) for name, v in record.headers]
    return json.dumps(shown)


def _field(name: str, data: bytes | None) -> dict[str, Any]:
    try:
        return {name: None if data is None else data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": b64encode(data or b"").decode()}


def _decoded(topic: str, record: Record) -> tuple[str, str] | None:
    """Key and value of a coordinator's record, as text; None if it is none."""
    kinds = INTERNAL_TOPICS.get(topic)
    if kinds is None or record.key is None:
        return None
    try:
        key, value = read_pair(kinds, record.key, record.value)
    except WireError:
        return None
    return repr(key), _NULL if value is None else repr(value)


def _time(timestamp: int) -> str:
    if timestamp < 0:
        return "-".ljust(23)
    try:
        return datetime.fromtimestamp(timestamp / 1000).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return str(timestamp).ljust(23)

"""`odradek records`: the records of a topic, filtered; with --follow also new ones.

    odradek records localhost:9092 orders
    odradek records localhost:9092 orders --from -10 --follow
    odradek records localhost:9092 orders --from 15m --key '^42$' --value espresso --max 5
    odradek records localhost:9092 orders --json | jq .value

One line for each: partition, offset, time, key, value, headers. Text that is not UTF-8 is shown
with escapes; in --json such a value is base64, as `value_base64`. Records of internal topics are
decoded. Several partitions are read at once: order holds within one.
"""

from __future__ import annotations

import argparse
import json
import re
from base64 import b64encode
from datetime import datetime
from typing import Any

from ....wire import WireError
from ....wire.records import Record
from ....wire.stored.topics import INTERNAL_TOPICS, read_pair
from .arguments import INT32, header, pattern, whole
from .client import Brokers, ConsoleError
from .escapes import one_line
from .offsets import parse_position, resolve
from .reading import Reader

_NULL = "null"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek records ADDRESS`."""
    parser.add_argument("topic", help="its name")
    parser.add_argument(
        "-p",
        "--partition",
        type=whole(0, INT32),
        metavar="N",
        action="append",
        default=[],
        help="only this one; may be repeated",
    )
    parser.add_argument(
        "-o",
        "--from",
        "--offset",
        dest="start",
        default="earliest",
        metavar="POSITION",
        type=parse_position,
        help="earliest (the default), latest, an offset, -N, an age (15m, 2h, 3d) or a time",
    )
    parser.add_argument(
        "-n",
        "-c",
        "--max",
        "--num",
        "--max-messages",
        type=whole(1, INT32),
        metavar="N",
        help="stop after N records shown",
    )
    parser.add_argument(
        "--from-beginning", action="store_true", help="as without --from, which is the default"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="wait for more, until Ctrl-C")
    for option, what in (("--key", "key"), ("--value", "value")):
        parser.add_argument(
            option, metavar="REGEX", type=pattern, help=f"only records whose {what} matches"
        )
    parser.add_argument(
        "--header", metavar="NAME=REGEX", type=header, help="only records with such a header"
    )
    parser.add_argument("--committed", action="store_true", help="no open or aborted transactions")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(brokers: Brokers, asked: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    topic = brokers.topic(asked.topic)
    there = {part.partition_index for part in topic.partitions}
    for index in asked.partition:
        if index not in there:
            raise ConsoleError(f"topic {asked.topic} has no partition {index}")
    if asked.partition:
        topic.partitions = [p for p in topic.partitions if p.partition_index in asked.partition]
    starts = resolve(brokers, [topic], asked.start, committed=asked.committed)
    reader = Reader(brokers, topic, starts, committed=asked.committed, follow=asked.follow)
    show = _as_json if asked.json else _as_line
    wanted = ((partition, record) for partition, record in reader if _matches(asked, record))
    for count, (partition, record) in enumerate(wanted, 1):
        print(show(asked.topic, partition, record), flush=asked.follow)
        if count == asked.max:
            break
    return 0


def _matches(asked: argparse.Namespace, record: Record) -> bool:
    """Whether the filters match a record."""
    if not (_found(asked.key, record.key) and _found(asked.value, record.value)):
        return False
    if asked.header is None:
        return True
    wanted, regex = asked.header
    return any(name == wanted and _found(regex, value) for name, value in record.headers)


def _found(regex: re.Pattern[str] | None, data: bytes | None) -> bool:
    return regex is None or (data is not None and regex.search(_text(data)) is not None)


def _text(data: bytes | None) -> str:
    if data is None:
        return _NULL
    return one_line(data.decode("utf-8", "backslashreplace"))


def _as_line(topic: str, partition: int, record: Record) -> str:
    key, value = _text(record.key), _text(record.value)
    decoded = _decoded(topic, record)
    if decoded is not None:
        key, value = decoded
    headers = " ".join(f"{one_line(name)}={_text(value)}" for name, value in record.headers)
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
    """Key and value of a coordinator's record, as text; None for other records."""
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

"""The small text files of a log directory: their bytes, read and written by pure functions.

Checkpoint text (offsets, leader epochs) is a version, a count, and that many lines in any order:

    0\\n<count>\\n    then    <topic> <partition> <offset>\\n    or    <epoch> <start offset>\\n

An empty file is valid and holds nothing; Kafka creates them so. Of two lines for one partition the
last counts.

`meta.properties` is a Java properties file (Latin-1, `#` or `!` comments, `=`, `:` or blanks
between name and value, backslash escapes, continued lines) with `version=1`, `cluster.id`,
`node.id` and `directory.id`. That of a broker with ZooKeeper has `version=0`, `broker.id` and,
since 2.4, `cluster.id`; the id that a cluster has here meanwhile is `odradek.cluster.id`.

`partition.metadata` is 43 bytes, `version: 0`, a newline and `topic_id: <22 characters>`, without a
newline at the end. The clean shutdown marker counts if it
exists; its text is informative.

Rules: these functions read all that Kafka reads. What would make a Kafka process exit raises
CheckpointError with the file's name and the line. They refuse a little more: negative numbers,
bytes that are not UTF-8, and a `partition.metadata` of another version or with other names.

Left out: when files are written and replaced (atomically), and the lock.
Source: bytes of a Kafka 4.3.1 data directory; java.util.Properties.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..wire.primitives import NO_ID, id_text, parse_id

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CLEANED_OFFSETS = "cleaner-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
META_PROPERTIES = "meta.properties"
PARTITION_METADATA = "partition.metadata"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
LOCK = ".lock"

_MAX_INT = (1 << 31) - 1
_MAX_LONG = (1 << 63) - 1

_NUMBER = re.compile(rb"[+-]?[0-9]+")
_OFFSET_LINE = re.compile(rb"(\S+)\s+(\S+)\s+(\S+)\s*")
_EPOCH_LINE = re.compile(rb"(\S+)\s+(\S+)\s*")


class CheckpointError(ValueError):
    """A file of the log directory is malformed. `line` counts from 1, 0 means the file as a whole.

    A Kafka process exits because of such a file; the message names it so that it can be repaired.
    """

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(file, line, problem)
        self.file = file
        self.line = line
        self.problem = problem

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}: {self.problem}"


def read_offsets(data: bytes, file: str) -> dict[tuple[str, int], int]:
    """Read `<topic> <partition> <offset>` lines: (topic, partition) -> offset.

    Raises CheckpointError, naming `file`.
    """
    offsets = {}
    for number, fields in _read_lines(data, file, _OFFSET_LINE):
        topic, partition, offset = fields
        try:
            name = topic.decode()
        except UnicodeDecodeError:
            raise CheckpointError(file, number, f"{_shown(topic)} is not UTF-8") from None
        key = name, _integer(partition, _MAX_INT, file, number)
        offsets[key] = _integer(offset, _MAX_LONG, file, number)
    return offsets


def format_offsets(offsets: Mapping[tuple[str, int], int]) -> bytes:
    """Write `<topic> <partition> <offset>` lines, in the mapping's order."""
    return _format_lines([f"{topic} {part} {end}" for (topic, part), end in offsets.items()])


def read_epochs(data: bytes, file: str = LEADER_EPOCHS) -> list[tuple[int, int]]:
    """Read `<epoch> <start offset>` lines, in the file's order.

    Raises CheckpointError, naming `file`.
    """
    return [
        (_integer(epoch, _MAX_INT, file, number), _integer(start, _MAX_LONG, file, number))
        for number, (epoch, start) in _read_lines(data, file, _EPOCH_LINE)
    ]


def format_epochs(entries: Iterable[tuple[int, int]]) -> bytes:
    """Write `<epoch> <start offset>` lines."""
    return _format_lines([f"{epoch} {start}" for epoch, start in entries])


def _format_lines(lines: Collection[str]) -> bytes:
    return "".join(f"{line}\n" for line in ("0", str(len(lines)), *lines)).encode()


def _read_lines(
    data: bytes, file: str, pattern: re.Pattern[bytes]
) -> Iterator[tuple[int, tuple[bytes, ...]]]:
    """Yield number and fields of each entry of checkpoint text."""
    lines = data.splitlines()
    if not lines:
        return
    version = _integer(lines[0], _MAX_INT, file, 1)
    if version != 0:
        raise CheckpointError(file, 1, f"version {version} instead of 0")
    if len(lines) == 1:
        return
    expected = _integer(lines[1], _MAX_INT, file, 2)
    for number, line in enumerate(lines[2:], 3):
        match = pattern.fullmatch(line)
        if match is None:
            raise CheckpointError(file, number, f"malformed line {_shown(line)}")
        yield number, match.groups()
    if expected != len(lines) - 2:
        raise CheckpointError(file, 2, f"{expected} entries announced, {len(lines) - 2} found")


def _integer(text: bytes, largest: int, file: str, line: int) -> int:
    """A decimal number from 0 to `largest`."""
    value = int(text) if _NUMBER.fullmatch(text) and len(text) < 40 else -1
    if not 0 <= value <= largest:
        problem = f"{_shown(text)} is not a number from 0 to {largest}"
        raise CheckpointError(file, line, problem)
    return value


def _shown(raw: bytes) -> str:
    return repr(raw.decode("utf-8", "backslashreplace"))


class MetaProperties(NamedTuple):
    """Which node's log directory this is. Kafka generates a directory id if there is none."""

    cluster_id: str
    node_id: int
    directory_id: bytes | None = None
    has_zookeeper: bool = False
    """Of a broker whose metadata is in ZooKeeper: version 0."""
    is_cluster_known: bool = True
    """Else the cluster's id is not ZooKeeper's: it is empty, or was made here."""


def read_meta_properties(data: bytes, file: str = META_PROPERTIES) -> MetaProperties:
    """Read `meta.properties`; other properties in it are ignored.

    Raises CheckpointError, naming `file`, if one of the required ones is missing or one is wrong.
    """
    properties = _read_properties(data, file)

    def required(name: str) -> tuple[str, int]:
        if name not in properties:
            raise CheckpointError(file, 0, f"{name} is missing")
        return properties[name]

    version, line = required("version")
    if version not in ("0", "1"):
        raise CheckpointError(file, line, f"version {version!r} instead of 1")
    has_zookeeper = version == "0"
    is_known = not has_zookeeper or "cluster.id" in properties
    cluster_id, _ = required("cluster.id") if is_known else properties.get(_OWN_ID, ("", 0))
    node_id, line = required("broker.id" if has_zookeeper else "node.id")
    node = _integer(node_id.encode(), _MAX_INT, file, line)
    found = MetaProperties(cluster_id, node, None, has_zookeeper, is_known)
    if has_zookeeper or "directory.id" not in properties:
        return found
    return found._replace(directory_id=_id(*properties["directory.id"], file))


_OWN_ID = "odradek.cluster.id"


def format_meta_properties(properties: MetaProperties) -> bytes:
    """Write `meta.properties`, without the date that Java puts at its head."""
    has_zookeeper = properties.has_zookeeper
    lines = {
        "version": "0" if has_zookeeper else "1",
        "cluster.id" if properties.is_cluster_known else _OWN_ID: _escape(properties.cluster_id),
        "broker.id" if has_zookeeper else "node.id": str(properties.node_id),
    }
    if properties.directory_id is not None and not has_zookeeper:
        lines["directory.id"] = id_text(properties.directory_id)
    return "".join(f"{name}={value}\n" for name, value in lines.items()).encode("ascii")


def _id(text: str, line: int, file: str) -> bytes:
    if not re.fullmatch(r"[A-Za-z0-9_-]{22}", text):
        raise CheckpointError(file, line, f"{text!r} is not an id of 22 characters")
    return parse_id(text)


_PROPERTY = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("\\")}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def _read_properties(data: bytes, file: str) -> dict[str, tuple[str, int]]:
    """Java properties: name -> value and the line it begins on."""
    properties = {}
    for number, line in _logical_lines(data):
        match = _PROPERTY.match(line)
        assert match is not None  # every part of the pattern may be empty
        try:
            name, value = map(_unescape, match.groups())
        except ValueError as error:
            raise CheckpointError(file, number, str(error)) from None
        properties[name] = value, number
    return properties


def _logical_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Lines without comments, those that end in a lone backslash joined to the next one."""
    begun, start = "", 0
    for number, raw in enumerate(data.splitlines(), 1):
        line = raw.decode("latin-1").lstrip(" \t\f")
        if not begun and (not line or line[0] in "#!"):
            continue
        start = start or number
        if (len(line) - len(line.rstrip("\\"))) % 2:
            begun += line[:-1]
            continue
        yield start, begun + line
        begun, start = "", 0
    if begun:
        yield start, begun


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code: str = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code == "u":
            raise ValueError(f"malformed \\uxxxx escape in {text!r}")
        return _CONTROLS.get(code, code)

    # Java's characters are UTF-16 units, so two escapes may make one character.
    units = _ESCAPE.sub(one, text).encode("utf-16-be", "surrogatepass")
    return units.decode("utf-16-be", "surrogatepass")


def _escape(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    escaped = "".join(chr(c) if c in _PLAIN else f"\\u{c:04x}" for c in codes)
    # When read, blanks before the value count as part of the separator.
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def read_partition_metadata(data: bytes, file: str = PARTITION_METADATA) -> bytes:
    """The topic id (16 bytes) in `partition.metadata`. Raises CheckpointError, naming `file`."""
    lines = [line.decode("latin-1") for line in data.splitlines()]
    for number, start in enumerate(("version:", "topic_id:"), 1):
        if len(lines) < number or not re.match(rf"{start}[ \t]", lines[number - 1]):
            raise CheckpointError(file, number, f"a line {start!r} is expected here")
    version, topic_id = (line.split(":", 1)[1].lstrip(" \t") for line in lines[:2])
    if version != "0":
        raise CheckpointError(file, 1, f"version {version!r} instead of 0")
    uuid = _id(topic_id, 2, file)
    if uuid == NO_ID:
        raise CheckpointError(file, 2, "the topic id is zero")
    return uuid


def format_partition_metadata(topic_id: bytes) -> bytes:
    """The 43 bytes of `partition.metadata`."""
    return f"version: 0\ntopic_id: {id_text(topic_id)}".encode("ascii")


def read_clean_shutdown(data: bytes) -> int | None:
    """The broker epoch in a clean shutdown marker, or None: any content counts as the marker.

    Kafka also finds the epoch in text that is not quite JSON, where this gives None.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    epoch = content.get("brokerEpoch") if isinstance(content, dict) else None
    return epoch if type(epoch) is int else None


def format_clean_shutdown(broker_epoch: int) -> bytes:
    """The content of a clean shutdown marker; an epoch of -1 is none known."""
    return f'{{"version":0,"brokerEpoch":{broker_epoch}}}'.encode("ascii")

"""How records are shown: a line of a table, JSON, the bytes as they are, or a template.

A template has kcat's fields (`%t %p %o %k %s %h %T %K %S %R`, where `%v` is `%s`) or names in
braces (`{topic} {partition} {offset} {key} {value} {headers} {timestamp} {time}`), and escapes
(`\\n \\t \\x00`). Nothing is added to it: a line ends where it says `\\n`.
"""

from __future__ import annotations

import argparse
import json
import re
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime
from typing import Any

from .arguments import likely_of
from .decoding import Decoded
from .output import one_line

NULL = "null"
_WORDS = ("table", "json", "raw")
_FIELD = re.compile(r"%%|%(\w)|\{(\w+)\}")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0abfnrtv\\])")
_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LETTERS = {
    "t": "topic",
    "p": "partition",
    "o": "offset",
    "k": "key",
    "s": "value",
    "v": "value",
    "h": "headers",
    "T": "timestamp",
    "K": "key_size",
    "S": "value_size",
    "V": "value_size",
    "R": "value_size",
}

Show = Callable[[Decoded], str | bytes]
"""The form of a record in the output: text, or bytes as they are."""


def format_of(text: str) -> Show:
    """For argparse: one of the words, or a template."""
    if text in _WORDS:
        words: dict[str, Show] = {"table": as_line, "json": as_json, "raw": as_raw}
        return words[text]
    if "%" not in text and "{" not in text:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no format{likely_of(text, _WORDS)}, or a template, as '%k %s\\n'"
        )
    return _template(text)


def as_line(found: Decoded) -> str:
    """Partition, offset, time, key, value, headers."""
    record = found.record
    headers = " ".join(f"{one_line(name)}={_text(value)}" for name, value in record.headers)
    line = (
        f"{found.partition:>3} {record.offset:>8}  {_time(record.timestamp)}  "
        f"{_text(found.key):<8}  {_text(found.value)}"
    )
    return f"{line}  [{headers}]\n" if headers else f"{line}\n"


def as_json(found: Decoded) -> str:
    """An object in a line, as `odradek produce --json` reads it."""
    record = found.record
    shown: dict[str, Any] = {
        "topic": found.topic,
        "partition": found.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
    }
    shown |= _field("key", found.key) | _field("value", found.value)
    shown["headers"] = [{"name": name, **_field("value", v)} for name, v in record.headers]
    return f"{json.dumps(shown)}\n"


def as_raw(found: Decoded) -> bytes:
    return _bytes(found.value) + b"\n"


def _template(text: str) -> Show:
    parts: list[str | bytes] = []
    end = 0
    for match in _FIELD.finditer(text):
        parts.append(_plain(text[end : match.start()]))
        letter, name = match.groups()
        if letter is None and name is None:
            parts.append(b"%")
        else:
            known = _LETTERS if name is None else _FIELDS
            if (letter or name) not in known:
                shown = match[0]
                every = [f"{{{each}}}" for each in _FIELDS]
                raise argparse.ArgumentTypeError(f"there is no field {shown}: {' '.join(every)}")
            parts.append(_LETTERS[letter] if name is None else name)
        end = match.end()
    parts.append(_plain(text[end:]))
    return lambda found: b"".join(
        part if isinstance(part, bytes) else _FIELDS[part](found) for part in parts
    )


def _plain(text: str) -> bytes:
    def meant(match: re.Match[str]) -> str:
        found = match[1]
        return chr(int(found[1:], 16)) if found[0] == "x" else _ESCAPES.get(found, found)

    return _ESCAPE.sub(meant, text).encode()


_FIELDS: dict[str, Callable[[Decoded], bytes]] = {
    "topic": lambda found: found.topic.encode(),
    "partition": lambda found: b"%d" % found.partition,
    "offset": lambda found: b"%d" % found.record.offset,
    "key": lambda found: _bytes(found.key),
    "value": lambda found: _bytes(found.value),
    "headers": lambda found: b",".join(
        name.encode() + b"=" + (b"NULL" if value is None else bytes(value))
        for name, value in found.record.headers
    ),
    "timestamp": lambda found: b"%d" % found.record.timestamp,
    "time": lambda found: _time(found.record.timestamp).strip().encode(),
    "key_size": lambda found: _size(found.record.key),
    "value_size": lambda found: _size(found.record.value),
}


def _size(data: bytes | None) -> bytes:
    return b"%d" % (-1 if data is None else len(data))


def _bytes(data: Any) -> bytes:
    """As it is, or as JSON where it was decoded; nothing for null."""
    if data is None:
        return b""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    return (data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)).encode()


def _text(data: Any) -> str:
    if data is None:
        return NULL
    if isinstance(data, (bytes, bytearray, memoryview)):
        return one_line(bytes(data).decode("utf-8", "backslashreplace"))
    return one_line(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False))


def _field(name: str, data: Any) -> dict[str, Any]:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        return {name: data}
    try:
        return {name: bytes(data).decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": b64encode(data).decode()}


def _time(timestamp: int) -> str:
    if timestamp < 0:
        return "-".ljust(23)
    try:
        return datetime.fromtimestamp(timestamp / 1000).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return str(timestamp).ljust(23)

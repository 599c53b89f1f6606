"""Every message there is, and ways to fill one: with defaults, with something in every field, or
with whatever Hypothesis thinks of.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

import pytest
from hypothesis import strategies as st
from odradek.wire.api import API_MODULES, request_class, response_class
from odradek.wire.schema import Field, Kind, Message, Struct, Type
from odradek.wire.stored import cluster, consumer_protocol, control
from odradek.wire.stored.topics import INTERNAL_TOPICS

from tests.support.drawn import IS_SAMPLE

REQUESTS = [request_class(key) for key in sorted(API_MODULES)]
RESPONSES = [response_class(key) for key in sorted(API_MODULES)]
COORDINATORS: list[type[Message]] = list(
    dict.fromkeys(
        cls for records in INTERNAL_TOPICS.values() for pair in records.values() for cls in pair
    )
)
CONSUMERS: list[type[Message]] = [
    consumer_protocol.ConsumerProtocolSubscription,
    consumer_protocol.ConsumerProtocolAssignment,
]
CLUSTER = [cluster.RECORDS[record_type] for record_type in sorted(cluster.RECORDS)]
CONTROL = list(control.CONTROL_RECORDS.values())

MESSAGES: list[type[Message]] = [
    *REQUESTS,
    *RESPONSES,
    *COORDINATORS,
    *CONSUMERS,
    *CLUSTER,
    *CONTROL,
]


def versions(cls: type[Message]) -> list[int]:
    """The versions of a message; of a sample the oldest, the newest, and where encodings change."""
    every = range(cls.first_version, cls.last_version + 1)
    if not IS_SAMPLE:
        return list(every)
    changes = {cls.first_flexible - 1, cls.first_flexible}
    return [n for n in every if n in (every[0], every[-1]) or n in changes]


def may_be_null(field: Field, t: Type, version: int) -> bool:
    """Whether null may be sent for the field in this version."""
    if field.nullable is not None:
        return field.nullable[0] <= version <= field.nullable[1]
    return t.nullable


def say(config: pytest.Config, text: str) -> None:
    """Print a line past pytest's capture."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\n{text}")


def full(cls: type[Message], version: int) -> Any:
    """A message with something that is not its default in every field of the version."""
    return _full(cls, version, count(1))


def _full(cls: type[Struct], version: int, numbers: Iterator[int]) -> Any:
    given = {}
    for field, t in cls.fields():
        if field.is_in(version):
            items = [_item(field, t, version, numbers) for _ in range(2 if t.is_list else 1)]
            given[field.name] = items if t.is_list else items[0]
    return cls(**given)


def _item(field: Field, t: Type, version: int, numbers: Iterator[int]) -> Any:
    if t.struct is not None:
        return _full(t.struct, version, numbers)
    assert t.kind is not None
    number = next(numbers)
    if field.name.endswith("error_code"):
        return number % 80 + 1
    made = {
        "bool": not field.default,
        "int8": number % 100 + 1,
        "float64": number + 0.5,
        "uuid": number.to_bytes(2, "big") * 8,
        "string": f"tekst {number} é",
        "bytes": b"bytes %d" % number,
        "records": b"records %d" % number,
    }
    return made.get(t.kind.name, number)


@cache
def values(kind: Kind) -> st.SearchStrategy[Any]:
    """Any value of a kind."""
    if kind.name == "string":
        return st.text(max_size=20)
    if kind.name == "uuid":
        return st.binary(min_size=16, max_size=16)
    if kind.name in ("bytes", "records"):
        return st.binary(max_size=50)
    if kind.name == "bool":
        return st.booleans()
    if kind.name == "float64":
        return st.floats(allow_nan=False)
    bits = kind.size * 8
    if kind.name.startswith("u"):
        return st.integers(0, 2**bits - 1)
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@cache
def structs(cls: type[Struct], version: int) -> st.SearchStrategy[Any]:
    """Any struct that can be sent in this version; fields not in it have their defaults."""
    given = {}
    for field, t in cls.fields():
        if not field.is_in(version):
            continue
        one = values(t.kind) if t.kind is not None else structs(t.struct, version)
        whole = st.lists(one, max_size=20 if t.kind else 2) if t.is_list else one
        given[field.name] = st.none() | whole if may_be_null(field, t, version) else whole
    return st.builds(cls, **given)

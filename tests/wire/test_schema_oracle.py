"""Kafka's own schemas say whether the tables are right.

They lie in Kafka's jars, as JSON. For every message and version, both sides are turned into the
same kind of rows (name, type, nullability, tag, default; nested structs as rows in turn), and the
rows must be equal: so no field may be missing, and none be too many, in any version.

ODRADEK_JARS may name a directory with the jars, instead of letting Maven find them.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.jars import Unavailable, jars
from odradek.wire.codec_source import default_of
from odradek.wire.schema import ALWAYS, Message, Struct, Type
from odradek.wire.stored.cluster import MetadataRecord
from odradek.wire.stored.keyed import Key

from .support import MESSAGES, REQUESTS, may_be_null, say, versions

pytestmark = pytest.mark.real

KAFKA = "4.3.1"

# Names of ours that are not Kafka's.
KAFKA_NAMES = {
    "LeaderChange": "LeaderChangeMessage",
    "SnapshotHeader": "SnapshotHeaderRecord",
    "SnapshotFooter": "SnapshotFooterRecord",
    "KRaftVersion": "KRaftVersionRecord",
    "KRaftVoters": "VotersRecord",
}

# What a field is when neither JSON nor table say so. Kafka's records are null; ours are empty,
# since clients expect that of a fetch.
NATURAL = {"bool": False, "string": "", "bytes": b"", "records": b"", "float64": 0.0}
NATURAL["uuid"] = bytes(16)

Json = dict[str, Any]


@pytest.fixture(scope="module")
def schemas() -> dict[str, Json]:
    """Every message schema in Kafka's jars, by name."""
    try:
        directory = (
            Path(os.environ["ODRADEK_JARS"]) if "ODRADEK_JARS" in os.environ else jars(KAFKA)
        )
    except Unavailable as reason:
        pytest.skip(f"Kafka's schemas cannot be had: {reason}")
    found = {}
    for path in directory.glob(f"kafka-*-{KAFKA}.jar"):
        with zipfile.ZipFile(path) as jar:
            for name in jar.namelist():
                if re.fullmatch(r"common/(message|metadata)/\w+\.json", name):
                    schema = json.loads(re.sub(r"(?m)^\s*//.*$", "", jar.read(name).decode()))
                    found[schema["name"]] = schema
    return found


@pytest.fixture(scope="module")
def compared(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Counts what was compared, and says so at the end."""
    counts: Counter[str] = Counter()
    yield counts
    text = ", ".join(f"{n} {what}" for what, n in counts.items())
    say(request.config, f"equal to Kafka {KAFKA}'s schemas: {text}")


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
def test_a_message_is_the_same_as_kafkas(
    cls: type[Message], schemas: dict[str, Json], compared: Counter[str]
) -> None:
    schema = schemas[KAFKA_NAMES.get(cls.__name__, cls.__name__)]

    assert (cls.first_version, cls.last_version) == _range(schema["validVersions"])
    if schema["type"] != "coordinator-value":  # its number is its key's
        assert _number(cls) == schema.get("apiKey")
    shared = {s["name"]: s["fields"] for s in schema.get("commonStructs", [])}
    flexible = _range(schema["flexibleVersions"])
    for version in versions(cls):
        assert cls.is_flexible(version) == _is_in(version, flexible)
        rows = list(_our_rows(cls, version))
        assert rows == list(_kafkas_rows(schema["fields"], shared, version, flexible))
        compared["versions"] += 1
        compared["fields"] += str(rows).count("Row(")
    compared["messages"] += 1


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
def test_every_field_is_in_some_version(cls: type[Message]) -> None:
    assert list(_fields_of_no_version(cls, set(versions(cls)))) == []


def test_every_api_of_a_broker_has_a_table(schemas: dict[str, Json]) -> None:
    of_brokers = {
        name
        for name, schema in schemas.items()
        if "broker" in schema.get("listeners", []) and schema["validVersions"] != "none"
    }

    assert of_brokers - {cls.__name__ for cls in REQUESTS} == set()


def test_every_record_of_the_metadata_log_has_a_table(schemas: dict[str, Json]) -> None:
    of_the_log = {name for name, schema in schemas.items() if schema["type"] == "metadata"}

    assert of_the_log - {cls.__name__ for cls in MESSAGES} == set()


class Row(tuple[Any, ...]):
    """One field of one version: name, type, nullable, tag, default."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Row" + super().__repr__()


def _range(text: str) -> tuple[int, int]:
    if text == "none":
        return (1, 0)
    first, _, last = text.removesuffix("+").partition("-")
    return int(first), ALWAYS[1] if text.endswith("+") else int(last or first)


def _is_in(version: int, versions: tuple[int, int]) -> bool:
    return versions[0] <= version <= versions[1]


def _number(cls: type[Message]) -> int | None:
    if issubclass(cls, Key):
        return cls.last_type
    if issubclass(cls, MetadataRecord):
        return cls.record_type
    return getattr(cls, "api_key", None)


def _snake(name: str) -> str:
    name = name.replace("KRaft", "Kraft")
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


def _our_rows(cls: type[Struct], version: int) -> Iterator[Row]:
    for field, t in cls.fields():
        if field.is_in(version):
            tag = field.tag if field.is_tagged(version) else None
            null = may_be_null(field, t, version)
            inner: Any = t.kind.name if t.kind is not None else None
            if t.struct is not None:
                inner = tuple(_our_rows(t.struct, version))
            default = default_of(field, t)
            if isinstance(default, Struct):
                assert default == type(default)()
                default = "struct"
            yield Row((field.name, t.is_list, inner, null, tag, default))


def _kafkas_rows(
    fields: list[Json], shared: dict[str, list[Json]], version: int, flexible: tuple[int, int]
) -> Iterator[Row]:
    for field in fields:
        tagged = _range(field.get("taggedVersions", "none"))
        if not _is_in(version, _range(field["versions"]) if "versions" in field else tagged):
            continue
        tag = field["tag"] if _is_in(version, tagged) and _is_in(version, flexible) else None
        null = _is_in(version, _range(field.get("nullableVersions", "none")))
        is_list = field["type"].startswith("[]")
        kind = field["type"].removeprefix("[]")
        inner: Any = kind
        if kind[0].isupper():
            of_struct = field.get("fields") or shared[kind]
            inner = tuple(_kafkas_rows(of_struct, shared, version, flexible))
        default = _kafkas_default(field, kind, is_list)
        yield Row((_snake(field["name"]), is_list, inner, null, tag, default))


def _kafkas_default(field: Json, kind: str, is_list: bool) -> Any:
    given = field.get("default", "")
    if given in ("null", None):
        return None
    if is_list:
        return []
    if kind[0].isupper():
        return "struct"
    if given == "":
        return NATURAL.get(kind, 0)
    if kind == "bool":
        return str(given).lower() == "true"
    if kind == "string":
        return given
    return float(given) if kind == "float64" else int(str(given), 0)


def _fields_of_no_version(cls: type[Struct], around: set[int]) -> Iterator[str]:
    for field, t in cls.fields():
        here = {version for version in around if field.is_in(version)}
        if not here:
            yield f"{cls.__qualname__}.{field.name}"
        yield from _of_struct(t, here)


def _of_struct(t: Type, here: set[int]) -> Iterator[str]:
    return _fields_of_no_version(t.struct, here) if t.struct is not None else iter(())

"""Two other implementations read our bytes, and write the very same ones.

kio and kafka-python both carry tables made from Kafka's schemas, and codecs of their own. Messages
and versions that an installed release of them lacks are passed over; at the end it is said how many
were compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from typing import Any

import pytest
from odradek.wire.api.api_versions import ApiVersionsResponse
from odradek.wire.schema import Message, Request

from tests.support.drawn import sample
from tests.support.looped import for_each
from tests.wire.support.messages import REQUESTS, RESPONSES, full, say, versions

each_call = for_each("cls", sample([*REQUESTS, *RESPONSES]))

# kafka-python keeps its messages in packages by purpose.
PACKAGES = ("admin", "consumer", "metadata", "producer", "sasl")


@pytest.fixture(scope="module")
def compared(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Counts what was compared, and says so at the end."""
    counts: Counter[str] = Counter()
    yield counts
    for peer, count in counts.items():
        say(request.config, f"{count} versions agree with {peer}")


@each_call
def test_kio_reads_and_writes_the_same_bytes(cls: type[Message], compared: Counter[str]) -> None:
    pytest.importorskip("kio", reason="kio, an independent implementation, is not installed")
    from kio.serial import entity_reader, entity_writer

    for version in versions(cls):
        theirs = _of_kio(cls, version)
        if theirs is None:
            continue
        for message in (cls(), full(cls, version)):
            encoded = message.encode(version)
            entity, size = entity_reader(theirs)(encoded, 0)
            assert size == len(encoded)
            with BytesIO() as out:
                entity_writer(theirs)(out, entity)
                assert out.getvalue() == encoded
        compared["kio"] += 1


@each_call
def test_kafka_python_reads_and_writes_the_same_bytes(
    cls: type[Message], compared: Counter[str]
) -> None:
    pytest.importorskip("kafka.protocol.admin", reason="kafka-python 3 is not installed")
    theirs = _of_kafka_python(cls)
    if theirs is None:
        return
    for version in versions(cls):
        if version > theirs.max_version:
            continue
        for message in (cls(), _without_error(full(cls, version))):
            encoded = message.encode(version)
            read = theirs.decode(encoded, version=version)
            read._header = None  # which it looks for when it writes
            assert bytes(read.encode(version=version)) == encoded
        compared["kafka-python"] += 1


def _without_error(message: Message) -> Message:
    """kafka-python reads an answer to ApiVersions that has an error as version 0, always."""
    if isinstance(message, ApiVersionsResponse):
        message.error_code = 0
    return message


def _of_kio(cls: type[Message], version: int) -> Any:
    from kio.index import KioIndexError, load_request_schema, load_response_schema

    load = load_request_schema if issubclass(cls, Request) else load_response_schema
    try:
        return load(cls.api_key, version)  # type: ignore[attr-defined]
    except KioIndexError:
        return None


def _of_kafka_python(cls: type[Message]) -> Any:
    for package in PACKAGES:
        found = getattr(import_module(f"kafka.protocol.{package}"), cls.__name__, None)
        if found is not None:
            return found
    return None

"""A registry that answers as an older release, and what stock serializers make of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from odradek import Emulator

from .compare import Answer, ask
from .draw import Ask

JSON = {"schema": "{}", "schemaType": "JSON"}
INT = {"schema": '"int"'}


@pytest.fixture(scope="module")
def served() -> Iterator[Emulator]:
    with Emulator(schema_registry=True) as kafka:
        kafka.schemas.register("a", '"int"')
        kafka.schemas.register("j", "{}", kind="JSON")
        yield kafka


def _ask(kafka: Emulator, method: str, path: str, body: Any = None) -> Answer:
    return ask(kafka.schema_registry_url, Ask(method, path, body))


def _as(kafka: Emulator, release: str, method: str, path: str, body: Any = None) -> Answer:
    kafka.schemas.answer_as(release)
    found = _ask(kafka, method, path, body)
    kafka.schemas.heal()
    return found


ABSENT = [
    ("5.4", "GET", "/schemas/types", 404),
    ("5.3", "GET", "/schemas/ids/1/subjects", 404),
    ("6.0", "GET", "/schemas", 404),
    ("7.1", "DELETE", "/config", 405),
    ("7.1", "GET", "/v1/metadata/version", 404),
    ("7.2", "GET", "/schemas/ids/1/schema", 404),
    ("7.9", "GET", "/schemas/guids/ef524ea1-b91e-7317-3d93-8ade36c1db32", 404),
]


@pytest.mark.parametrize(("release", "method", "path", "status"), ABSENT)
def test_what_a_release_has_not_is_not_there(
    served: Emulator, release: str, method: str, path: str, status: int
) -> None:
    found = _as(served, release, method, path)
    assert (found.status, found.body["error_code"]) == (status, status)
    if method == "GET":
        assert _as(served, "8.5", method, path).status == 200


def test_answers_are_without_what_came_later(served: Emulator) -> None:
    by_id, register = "/schemas/ids/1", "/subjects/a/versions"
    assert _as(served, "7.9", "GET", by_id).body == {"schema": '"int"'}
    assert _as(served, "5.5", "GET", "/schemas/ids/2").body == {
        "schemaType": "JSON",
        "schema": "{}",
    }
    assert _as(served, "7.4", "POST", register, INT).body == {"id": 1}
    assert _as(served, "7.5", "POST", register, INT).body == {
        "version": 1,
        "id": 1,
        "schema": '"int"',
    }
    assert _as(served, "7.9", "GET", "/subjects/a/versions/1").body == {
        "subject": "a",
        "version": 1,
        "id": 1,
        "schema": '"int"',
    }
    assert set(_as(served, "8.5", "GET", by_id).body) > {"guid", "subject", "ts"}


def test_what_a_release_does_not_know_is_refused_or_passed_over(served: Emulator) -> None:
    refused = _as(served, "5.4", "POST", "/subjects/a/versions", JSON)
    assert refused.status == 422
    assert refused.body["message"] == "Unrecognized field: schemaType"
    with_metadata = {**INT, "metadata": {"properties": {"a": "b"}}}
    assert _as(served, "7.3", "POST", "/subjects/a/versions", with_metadata).body == {"id": 1}
    again = {"schema": '{"type":"int"}'}
    assert _as(served, "7.0", "POST", "/subjects/a?normalize=true", again).status == 200
    prefix = "/subjects?subjectPrefix=j"
    assert _as(served, "6.2", "GET", prefix).body == ["a", "j"]
    assert _as(served, "7.0", "GET", prefix).body == ["j"]


@pytest.mark.parametrize("release", ["5.5", "6.0", "7.0", "7.4", "7.9", "8.5"])
def test_stock_serializers_of_avro_get_on_with_each(release: str) -> None:
    with Emulator(schema_registry=True) as kafka:
        kafka.schemas.answer_as(release)
        client = SchemaRegistryClient({"url": kafka.schema_registry_url, "max.retries": 0})
        schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
        context = SerializationContext("orders", MessageField.VALUE)
        written = AvroSerializer(client, json.dumps(schema))({"a": 5}, context)
        other = SchemaRegistryClient({"url": kafka.schema_registry_url, "max.retries": 0})
        assert AvroDeserializer(other)(written, context) == {"a": 5}


def test_the_newest_client_needs_a_registry_of_5_5() -> None:
    """It names the type of Avro, too; the Java client does not."""
    with Emulator(schema_registry=True) as kafka:
        client = SchemaRegistryClient({"url": kafka.schema_registry_url, "max.retries": 0})
        kafka.schemas.answer_as("5.4")
        with pytest.raises(SchemaRegistryError, match="Unrecognized field: schemaType"):
            client.register_schema("a", Schema('"int"', "AVRO"))
        kafka.schemas.answer_as("5.5")
        assert client.register_schema("a", Schema("{}", "JSON")) == 1


@pytest.mark.parametrize("given", ["4.0", "8.6", "x", "7", "7.x"])
def test_a_release_that_is_none_is_refused(served: Emulator, given: str) -> None:
    with pytest.raises(ValueError, match=r"are known, not|is written as"):
        served.schemas.answer_as(given)

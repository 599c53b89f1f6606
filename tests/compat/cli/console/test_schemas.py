"""Records with schemas of a registry: Avro, Protobuf, JSON; stock clients read and write them."""

from __future__ import annotations

import importlib
import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main

from tests.compat.cli.console.support import fill
from tests.support.clock import NOW
from tests.support.schema_registry import SchemaRegistry, Stored, schema_registry
from tests.support.written import record

pytest.importorskip("fastavro")
descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9,
                                   "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "raw", "type": "bytes", "default": ""},
        {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
    ],
}  # fmt: skip
VALUE = {
    "id": 7,
    "price": "12.50",
    "at": "2026-01-31T12:00:00+00:00",
    "note": "hot",
    "raw": "\x00ÿ",
    "tags": ["a", "b"],
}
PROTO = """\
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Head { int32 number = 1; }
message Order {
  string item = 1;
  google.protobuf.Timestamp at = 2;
  message Line { int32 amount = 1; }
  repeated Line lines = 3;
}
"""
Said = Callable[..., str]


def compiled() -> bytes:
    """PROTO, as protoc compiles it."""
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    one, many = 1, 3  # labels
    head = file.message_type.add(name="Head")
    head.field.add(name="number", number=1, label=one, type=5)
    order = file.message_type.add(name="Order")
    order.field.add(name="item", number=1, label=one, type=9)
    order.field.add(name="at", number=2, label=one, type=11, type_name=".google.protobuf.Timestamp")
    line = order.nested_type.add(name="Line")
    line.field.add(name="amount", number=1, label=one, type=5)
    order.field.add(name="lines", number=3, label=many, type=11, type_name=".shop.Order.Line")
    return bytes(file.SerializeToString())


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    with schema_registry({PROTO: compiled()}) as found:
        yield found


@pytest.fixture
def said(kafka: Emulator, capsys: pytest.CaptureFixture[str]) -> Said:
    def run(view: str, *arguments: str, status: int = 0) -> str:
        done = main([view, kafka.bootstrap_servers, *arguments])
        out = capsys.readouterr()
        assert done == status, out
        return out.err if status else out.out

    return run


def lines(path: Path, *values: Any) -> str:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in values))
    return str(path)


def values(text: str) -> list[Any]:
    return [json.loads(line)["value"] for line in text.splitlines()]


def test_avro_there_and_back(said: Said, registry: SchemaRegistry, tmp_path: Path) -> None:
    schema = tmp_path / "order.avsc"
    schema.write_text(json.dumps(ORDER))
    file = lines(tmp_path / "in", VALUE, VALUE | {"note": {"string": "cold"}, "tags": []})
    how = ["--registry", registry.url]
    said("produce", "orders", *how, "--schema", f"{schema}", "-p", "0", file)
    assert list(registry.subjects) == ["orders-value"]
    read = values(said("records", "orders", *how, "--json"))
    assert read == [VALUE, VALUE | {"note": "cold", "tags": []}]
    assert said("records", "orders", *how, "--where", ".note=cold", "--format", "%s").startswith(
        "{"
    )
    said("produce", "orders", *how, "-p", "1", file)  # by the newest of the subject
    assert values(said("records", "orders", *how, "--json", "-p", "1")) == read
    exported = tmp_path / "exported"
    exported.write_text(said("records", "orders", *how, "--json"))
    said("produce", "again", "--create-topic", "2", *how, "--subject", "orders-value", "--json",
         f"{exported}")  # fmt: skip
    assert values(said("records", "again", *how, "--json", "-p", "0")) == read


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({**VALUE, "notes": 1}, "line 1: value has no field 'notes'"),
        ({"id": 1}, "line 1: value lacks the field 'price'"),
        ({**VALUE, "at": "soon"}, "line 1: value.at is no timestamp-millis: 'soon'"),
        ({**VALUE, "id": "x"}, "this is not of the schema"),
        ({**VALUE, "note": 5}, "value.note is none of null, string"),
    ],
)
def test_what_does_not_fit_the_schema_is_named(
    said: Said, registry: SchemaRegistry, tmp_path: Path, value: Any, why: str
) -> None:
    registry.register("orders-value", Stored("AVRO", json.dumps(ORDER), []))
    file = lines(tmp_path / "in", value)
    assert why in said("produce", "orders", "--registry", registry.url, file, status=1)
    assert said("records", "orders") == ""


def test_protobuf_there_and_back(said: Said, registry: SchemaRegistry, tmp_path: Path) -> None:
    schema = tmp_path / "order.proto"
    schema.write_text(PROTO)
    how = ["--registry", registry.url]
    order = {"item": "tea", "at": "2026-01-31T12:00:00Z", "lines": [{"amount": 3}]}
    message = ["--schema", f"{schema}", "--message", "shop.Order"]
    said("produce", "orders", *how, *message, "-p", "0", lines(tmp_path / "in", order))
    said("produce", "orders", *how, "-p", "0", lines(tmp_path / "in", {"number": 4}))
    nested = ["--message", "Order.Line"]
    said("produce", "orders", *how, *nested, "-p", "0", lines(tmp_path / "in", {"amount": 5}))
    read = values(said("records", "orders", *how, "--json"))
    assert read == [order, {"number": 4}, {"amount": 5}]
    wrong = lines(tmp_path / "in", {"nummer": 4})
    assert "not of the schema" in said("produce", "orders", *how, wrong, status=1)
    none = ["--message", "Orders"]
    assert "no message Orders: Head, Order" in said("produce", "orders", *how, *none, status=1)


def test_json_with_a_schema_and_what_was_written_without(
    said: Said, kafka: Emulator, registry: SchemaRegistry, tmp_path: Path
) -> None:
    schema = tmp_path / "any.json"
    schema.write_text('{"type": "object"}')
    how = ["--registry", registry.url]
    said("produce", "orders", *how, "--schema", f"{schema}", "-p", "0",
         lines(tmp_path / "in", {"a": 1}))  # fmt: skip
    fill(kafka, 0, record(b"plain"), record(b"\x00\x00\x00\x00\x09of no schema"))
    shown = said("records", "orders", *how, "--json").splitlines()
    assert [json.loads(line).get("value") for line in shown] == [
        {"a": 1},
        "plain",
        "\x00\x00\x00\x00\tof no schema",
    ]


def test_keys_have_schemas_too(said: Said, registry: SchemaRegistry, tmp_path: Path) -> None:
    registry.register("orders-value", Stored("AVRO", '"long"', []))
    registry.register("orders-key", Stored("AVRO", '"string"', []))
    how = ["--registry", registry.url, "--key-subject", "orders-key", "-K", ":"]
    said("produce", "orders", *how, "--timestamp", str(NOW), str(_text(tmp_path, "5:7\n")))
    shown = json.loads(said("records", "orders", "--registry", registry.url, "--json"))
    assert (shown["key"], shown["value"]) == ("5", 7)


def _text(folder: Path, text: str) -> Path:
    path = folder / "lines"
    path.write_text(text)
    return path


def test_a_registry_that_is_not_there_or_refuses(said: Said, registry: SchemaRegistry) -> None:
    gone = ["--registry", "http://127.0.0.1:9"]
    assert "no schema registry at http://127.0.0.1:9" in said("produce", "orders", *gone, status=1)
    nothing = said("produce", "orders", "--registry", registry.url, status=1)
    assert "no subject orders-value: name a --schema FILE" in nothing
    assert "avro needs --registry" in said("records", "orders", "-s", "avro", status=1)
    assert "--schema needs --registry" in said("produce", "orders", "--schema", "a.avsc", status=1)
    registry.authorization = f"Basic {b64encode(b'me:s:ecret').decode()}"
    refused = said("produce", "orders", "--registry", registry.url, status=1)
    assert "refuses: Unauthorized" in refused
    address = registry.url.replace("//", "//me:s%3Aecret@")
    let_in = said("produce", "orders", "--registry", address, status=1)
    assert "no subject" in let_in
    assert "ecret" not in let_in


@pytest.mark.slow
@pytest.mark.client
def test_what_stock_clients_write_is_read_and_the_reverse(
    said: Said, kafka: Emulator, registry: SchemaRegistry, tmp_path: Path
) -> None:
    theirs = pytest.importorskip("confluent_kafka.schema_registry")
    avro = pytest.importorskip("confluent_kafka.schema_registry.avro")
    context = pytest.importorskip("confluent_kafka.serialization")
    client = theirs.SchemaRegistryClient({"url": registry.url})
    of_value = context.SerializationContext("orders", context.MessageField.VALUE)
    schema = {**ORDER, "fields": [ORDER["fields"][0], ORDER["fields"][3]]}
    written = avro.AvroSerializer(client, json.dumps(schema))({"id": 5, "note": None}, of_value)
    fill(kafka, 0, record(written))
    how = ["--registry", registry.url]
    assert values(said("records", "orders", *how, "--json")) == [{"id": 5, "note": None}]
    said("produce", "orders", *how, "-p", "1", lines(tmp_path / "in", {"id": 6, "note": "ours"}))
    (ours,) = kafka.topic("orders")[1].records()
    read = avro.AvroDeserializer(client)(ours.value, of_value)
    assert read == {"id": 6, "note": "ours"}


@pytest.mark.client
def test_what_stock_clients_write_as_protobuf(
    said: Said, kafka: Emulator, registry: SchemaRegistry, tmp_path: Path
) -> None:
    theirs = pytest.importorskip("confluent_kafka.schema_registry")
    protobuf = pytest.importorskip("confluent_kafka.schema_registry.protobuf")
    context = pytest.importorskip("confluent_kafka.serialization")
    messages = pytest.importorskip("google.protobuf.message_factory")
    pools = pytest.importorskip("google.protobuf.descriptor_pool")
    importlib.import_module("google.protobuf.timestamp_pb2")  # the pool then has its file
    pool = pools.Default()
    pool.AddSerializedFile(compiled())
    kind = messages.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    of_value = context.SerializationContext("orders", context.MessageField.VALUE)
    client = theirs.SchemaRegistryClient({"url": registry.url})
    options = {"use.deprecated.format": False}
    serialize = protobuf.ProtobufSerializer(kind, client, options)
    fill(kafka, 0, record(serialize(kind(item="tea"), of_value)))
    how = ["--registry", registry.url]
    assert values(said("records", "orders", *how, "--json")) == [{"item": "tea", "lines": []}]
    given = lines(tmp_path / "in", {"item": "ours", "lines": [{"amount": 2}]})
    said("produce", "orders", *how, "--message", "Order", "-p", "1", given)
    (ours,) = kafka.topic("orders")[1].records()
    read = protobuf.ProtobufDeserializer(kind, options)(ours.value, of_value)
    assert (read.item, read.lines[0].amount) == ("ours", 2)

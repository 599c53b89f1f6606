"""The registry beside an emulator: `kafka.schemas`, faults, views, snapshots, serializers."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from odradek import Emulator
from odradek.compat.schema_registry.errors import Refused
from odradek.compat.schemas.registry import SchemaError

from .compare import ask
from .draw import Ask
from .serving import registry

ORDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "item", "type": "string"}],
}


def _with(*fields: dict[str, Any]) -> dict[str, Any]:
    return {**ORDER, "fields": [*ORDER["fields"], *fields]}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(schema_registry=True, topics={"orders": 1}) as kafka:
        yield kafka


def test_a_stock_serializer_writes_and_views_decode(kafka: Emulator) -> None:
    client = SchemaRegistryClient({"url": kafka.schema_registry_url})
    serialize = AvroSerializer(client, json.dumps(ORDER))
    context = SerializationContext("orders", MessageField.VALUE)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    producer.produce("orders", serialize({"id": 1, "item": "nut"}, context))
    producer.produce("orders", b"plain")
    assert producer.flush(20) == 0

    values = kafka["orders"].decoded("auto").values()
    assert values == [{"id": 1, "item": "nut"}, "plain"]
    assert kafka.schemas.show("orders-value").id == 1

    kafka["orders"].produce(kafka.schemas.encode("orders-value", {"id": 2, "item": "bolt"}))
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "g",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["orders"])
    messages = [message for _ in range(3) if (message := consumer.poll(20)) is not None]
    consumer.close()
    read = AvroDeserializer(client)
    assert read(messages[2].value(), context) == {"id": 2, "item": "bolt"}


def _filled(kafka: Emulator) -> None:
    kafka.schemas.register("orders-value", ORDER)
    kafka["orders"].produce(kafka.schemas.encode("orders-value", {"id": 1, "item": "nut"}))
    kafka["orders"].produce("plain")


def test_views_read_values_by_their_schemas(kafka: Emulator) -> None:
    _filled(kafka)
    topic = kafka["orders"]
    first = {"id": 1, "item": "nut"}
    assert topic.values(decode="auto") == topic[0].values(decode="auto") == [first, "plain"]
    assert [each.value for each in topic.records(decode="auto")] == [first, "plain"]
    assert topic.last(decode="auto").value == "plain"
    topic.produce("x", key=kafka.schemas.encode("orders-value", first))
    assert topic.keys(decode="auto") == [None, None, first]
    with pytest.raises(ValueError, match="value is 'json' or 'text' or 'auto' or a function"):
        topic.values(decode="avro")


def test_assertions_and_waits_are_of_what_a_schema_says(kafka: Emulator) -> None:
    topic = kafka["orders"]
    late = {**ORDER, "fields": [*ORDER["fields"], {"name": "x", "type": "int", "default": 0}]}

    def produce() -> None:
        kafka.schemas.evolve("orders-value", late)
        topic.produce(kafka.schemas.encode("orders-value", {"id": 2, "item": "late", "x": 4}))

    _filled(kafka)
    assert topic.assert_produced(avro={"id": 1}).offset == 0
    timer = threading.Timer(0.1, produce)
    timer.start()
    assert topic.wait_for(avro={"id": 2, "x": 4}).offset == 2  # by a schema that came meanwhile
    timer.join()

    async def in_a_coroutine() -> None:
        assert (await topic.aassert_produced(avro={"item": "nut"})).offset == 0
        assert (await topic.await_for(avro={"item": "late"})).offset == 2

    asyncio.run(in_a_coroutine())
    topic.assert_nothing_produced(avro={"id": 9}, within=0.05)
    kafka.schemas.register("json", "{}", kind="JSON")
    topic.produce(kafka.schemas.encode("json", {"a": [1]}))
    topic.assert_produced(json_schema={"a": [1]})


PROTO = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "common.proto";
message Head { int32 number = 1; }
message Order {
  string item = 1;
  google.protobuf.Timestamp at = 2;
  map<string, int32> amounts = 3;
  oneof pick { Kind kind = 5; common.Money money = 6; }
  message Line { int32 amount = 1; }
  repeated Line lines = 7;
  optional int32 note = 8;
  map<int32, Line> more_lines = 9;
  enum Kind { NONE = 0; BIG = 1; }
}
"""
MONEY = 'syntax="proto3"; package common; message Money { int64 units = 1; }'


def test_protobuf_is_written_and_read_by_its_text_alone(kafka: Emulator) -> None:
    reference = {"name": "common.proto", "subject": "common", "version": 1}
    kafka.schemas.register("common", MONEY, kind="PROTOBUF")
    kafka.schemas.register("orders-value", PROTO, kind="PROTOBUF", references=[reference])
    order = {
        "item": "tea",
        "at": "2026-01-31T12:00:00Z",
        "amounts": {"a": 1},
        "money": {"units": "5"},
        "lines": [{"amount": 2}],
        "more_lines": {"1": {"amount": 3}},
    }
    topic = kafka["orders"]
    topic.produce(kafka.schemas.encode("orders-value", order, message="shop.Order"))
    topic.produce(kafka.schemas.encode("orders-value", {"number": 4}))
    assert topic.values(decode="auto") == [order, {"number": 4}]
    assert topic.assert_produced(protobuf={"money": {"units": "5"}}).offset == 0
    with pytest.raises(ValueError, match="has no field named"):
        kafka.schemas.encode("orders-value", {"items": 1}, message="Order")
    with pytest.raises(SchemaError, match="no message Orders: Head, Order"):
        kafka.schemas.encode("orders-value", {}, message="Orders")


def test_a_failure_says_how_values_differ_by_their_schemas(kafka: Emulator) -> None:
    _filled(kafka)
    topic = kafka["orders"]
    with pytest.raises(AssertionError) as failed:
        topic.assert_produced(avro={"id": 7}, within=0.05)
    assert "$.id: 1, expected 7" in str(failed.value)
    assert "b'plain': this was not written with a schema" in str(failed.value)
    with pytest.raises(AssertionError, match="a schema of AVRO, expected PROTOBUF"):
        topic.assert_produced(protobuf={"id": 1}, within=0.05)
    kafka.schemas.forget("orders-value")
    with pytest.raises(AssertionError, match="the registry has no schema 1, expected"):
        topic.assert_produced(avro={"id": 1}, within=0.05)
    with pytest.raises(ValueError, match=r"the value of <orders-0@0 .* no schema 1"):
        topic.values(decode="auto")


def test_values_are_read_by_the_topic_alone() -> None:
    """Without a registry that serves: also what a registry elsewhere has written."""
    with Emulator(topics=["orders"]) as kafka:
        with registry(kafka.bootstrap_servers) as other:
            ask(other.url, Ask("POST", "/subjects/a/versions", {"schema": '"string"'}))
        kafka["orders"].produce(b"\0\0\0\0\1\6tea")
        assert kafka["orders"].values(decode="auto") == ["tea"]
        kafka.delete_topic("_schemas")
        with pytest.raises(ValueError, match="no schema 1"):
            kafka["orders"].values(decode="auto")


def test_values_are_written_as_json_has_them_or_refused(kafka: Emulator) -> None:
    fields = [
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9,
                                   "scale": 2}},
        {"name": "note", "type": ["null", "string"], "default": None},
    ]  # fmt: skip
    kafka.schemas.register("a", {"type": "record", "name": "A", "fields": fields})
    written = kafka.schemas.encode("a", {"price": "1.50", "note": {"string": "x"}})
    assert kafka.schemas.encode("a", {"price": Decimal("1.50"), "note": "x"}) == written
    assert kafka.schemas.decode(written) == {"price": Decimal("1.50"), "note": "x"}
    with pytest.raises(ValueError, match="value has no field 'prize'"):
        kafka.schemas.encode("a", {"prize": 1})
    with pytest.raises(ValueError, match="the registry has no subject 'b'"):
        kafka.schemas.encode("b", 1)


def test_stock_serializers_of_json_and_protobuf(kafka: Emulator) -> None:
    from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
    from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
    from google.protobuf.timestamp_pb2 import Timestamp

    client = SchemaRegistryClient({"url": kafka.schema_registry_url})
    context = SerializationContext("orders", MessageField.VALUE)
    schema = '{"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}}}'
    written = JSONSerializer(schema, client)({"id": 1}, context)
    assert JSONDeserializer(schema, schema_registry_client=client)(written, context) == {"id": 1}
    kafka["orders"].produce(written)
    assert kafka["orders"].decoded("auto").values() == [{"id": 1}]

    context = SerializationContext("times", MessageField.VALUE)
    settings = {"use.deprecated.format": False}
    written = ProtobufSerializer(Timestamp, client, settings)(Timestamp(seconds=5), context)
    assert ProtobufDeserializer(Timestamp, settings)(written, context) == Timestamp(seconds=5)
    found = kafka.schemas.show("times-value")
    assert found.kind == "PROTOBUF"
    assert "int64 seconds = 1;" in found.schema


def test_schemas_evolve_or_the_test_learns_why_not(kafka: Emulator, tmp_path: Path) -> None:
    file = tmp_path / "order.avsc"
    file.write_text(json.dumps(ORDER))
    assert kafka.schemas.register("orders-value", file).version == 1
    kafka.schemas.assert_compatible(file, "orders-value")
    kafka.schemas.assert_compatible('"int"', "another")
    with pytest.raises(
        AssertionError, match="The field 'at' at path '/fields/2' in the new schema"
    ):
        kafka.schemas.assert_compatible(_with({"name": "at", "type": "long"}), "orders-value")
    optional = _with({"name": "at", "type": "long", "default": 0})
    assert kafka.schemas.evolve("orders-value", optional).version == 2
    with pytest.raises(AssertionError, match="has this schema already: version 2"):
        kafka.schemas.evolve("orders-value", optional)
    with pytest.raises(Refused, match="incompatible with an earlier schema"):
        kafka.schemas.register("orders-value", '"int"')
    kafka.schemas.set_compatibility("NONE", "orders-value")
    assert kafka.schemas.register("orders-value", '"int"').version == 3
    assert [each.version for each in kafka.schemas.versions("orders-value")] == [1, 2, 3]
    assert kafka.schemas.delete("orders-value", permanent=True) == [1, 2, 3]
    assert kafka.schemas.subjects() == []
    with pytest.raises(ValueError, match=r"a schema is a file of \.avsc"):
        kafka.schemas.register("x", tmp_path / "x.txt")


def test_it_is_slow_refuses_and_forgets_as_a_test_says(kafka: Emulator) -> None:
    url = kafka.schema_registry_url
    kafka.schemas.register("orders-value", ORDER)
    fault = kafka.schemas.refuse("timed_out", path="/schemas", times=1)
    assert ask(url, Ask("GET", "/subjects")).status == 200
    assert ask(url, Ask("GET", "/schemas/ids/1")).body["error_code"] == 50002
    assert fault.hits == 1
    assert ask(url, Ask("GET", "/schemas/ids/1")).status == 200
    slow = kafka.schemas.slow(0.3)
    began = time.monotonic()
    assert ask(url, Ask("GET", "/subjects")).status == 200
    assert time.monotonic() - began >= 0.3
    slow.end()
    kafka.schemas.refuse()
    with pytest.raises(SchemaRegistryError, match="503"):
        SchemaRegistryClient({"url": url, "max.retries": 0}).get_subjects()
    kafka.schemas.heal()
    kafka.schemas.forget("orders-value")
    assert ask(url, Ask("GET", "/schemas/ids/1")).body["error_code"] == 40403
    with pytest.raises(ValueError, match="no such error: 'odd'"):
        kafka.schemas.refuse("odd")


def test_a_snapshot_puts_the_registry_back(kafka: Emulator) -> None:
    kafka.schemas.register("a", ORDER)
    before = kafka.snapshot()
    kafka.schemas.register("b", ORDER)
    kafka.schemas.set_compatibility("FULL")
    kafka.restore(before)
    assert kafka.schemas.subjects() == ["a"]
    assert ask(kafka.schema_registry_url, Ask("GET", "/config")).body == {
        "compatibilityLevel": "BACKWARD"
    }


def test_it_outlives_a_restart_of_the_broker_and_ends_with_it() -> None:
    with Emulator() as kafka:
        url = kafka.schema_registry_url  # without the argument, from now on
        client = SchemaRegistryClient({"url": url})
        assert client.register_schema("a", Schema(json.dumps(ORDER), "AVRO")) == 1
        kafka.restart()
        assert kafka.schemas.subjects() == ["a"]
        kafka.kill()
        assert ask(url, Ask("GET", "/subjects")).body["error_code"] == 50001
        kafka.restart()
        assert client.get_subjects() == ["a"]
    with pytest.raises(OSError, match="refused"):
        ask(url, Ask("GET", "/subjects"))


def test_its_broker_may_want_log_ins_and_rights_that_nobody_has() -> None:
    users = {"ann": "secret"}
    with Emulator(security="SASL_PLAINTEXT", users=users, acls=True, brokers=3) as kafka:
        assert kafka.schemas.register("a", ORDER).version == 1
        assert ask(kafka.schema_registry_url, Ask("GET", "/subjects")).body == ["a"]


@pytest.mark.parametrize("given", [-1, 1 << 16])
def test_a_port_that_is_none_is_refused(given: int) -> None:
    with pytest.raises(ValueError, match="schema_registry is a port"):
        Emulator(schema_registry=given)


def test_what_is_off_is_not_imported() -> None:
    code = (
        "import sys; from odradek import Emulator\n"
        "with Emulator(): pass\n"
        "print([each for each in sys.modules if 'schema' in each and 'odradek' in each])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['odradek.wire.schema']"


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["serve", "registry"])
def test_the_commands_serve_one(verb: str) -> None:
    with Emulator() as kafka:
        more = {
            "serve": ["--port", "0", "--schema-registry", "0"],
            "registry": ["--of", kafka.bootstrap_servers, "--port", "0"],
        }[verb]
        command = [sys.executable, "-m", "odradek", verb, *more]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            url = running.stdout.readline().rpartition(" at ")[2].strip(" )\n")
            assert ask(url, Ask("GET", "/subjects")).body == []
            running.terminate()
            assert running.wait(20) == 0

"""Writes one value, and reads another, by confluent-kafka: confluent URL SCHEMA HEX."""

from __future__ import annotations

import json
import sys

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext


def main(url: str, schema: str, given: str) -> None:
    client = SchemaRegistryClient({"url": url})
    where = SerializationContext("orders", MessageField.VALUE)
    wrote = AvroSerializer(client, schema)({"id": 1, "item": "nut"}, where)
    assert wrote is not None
    read = AvroDeserializer(client)(bytes.fromhex(given), where)
    print(json.dumps({"wrote": wrote.hex(), "read": read}))


if __name__ == "__main__":
    main(*sys.argv[1:])

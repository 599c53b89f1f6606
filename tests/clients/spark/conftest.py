"""Spark's stock connector and a broker of the test's own: what is read, as a batch and as a stream.

These tests also pass on a real Kafka: `python -m pytest tests/clients/spark --kafka-bootstrap=...`.
"""

from __future__ import annotations

from typing import Any, Protocol

import pytest

Row = tuple[int, int, str | None]


class Load(Protocol):
    """Gives partition, offset and value, as text, of what these options of the connector choose."""

    def __call__(self, *topics: str, **options: str) -> Any: ...


def _options(kafka_options: dict[str, str], topics: tuple[str, ...]) -> dict[str, str]:
    return {**kafka_options, "subscribe": ",".join(topics)} if topics else kafka_options


def _loaded(reader: Any) -> Any:
    frame = reader.load()
    return frame.selectExpr("partition", "offset", "CAST(value AS STRING) AS value")


@pytest.fixture
def read(spark: Any, kafka_options: dict[str, str]) -> Load:
    """A batch: by default from the earliest offsets to the latest."""

    def load(*topics: str, **options: str) -> Any:
        reader = spark.read.format("kafka").options(**_options(kafka_options, topics))
        return _loaded(reader.options(**options))

    return load


@pytest.fixture
def read_stream(spark: Any, kafka_options: dict[str, str]) -> Load:
    """A stream, from the earliest offsets on."""

    def load(*topics: str, **options: str) -> Any:
        reader = spark.readStream.format("kafka").options(**_options(kafka_options, topics))
        return _loaded(reader.options(**{"startingOffsets": "earliest", **options}))

    return load

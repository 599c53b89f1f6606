"""Spark's stock connector at a broker with TLS and a log-in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek import Emulator
from odradek.fixtures.spark.idle_clients import close_idle_clients

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def secured() -> Iterator[Emulator]:
    """A broker of the test's own; Spark's clients are closed after it."""
    with Emulator(security="SASL_SSL", users={"alice": "alice's secret"}) as made:
        yield made
        close_idle_clients()


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "PLAIN"])
def test_a_batch_is_written_and_read_over_tls_by_a_user(
    spark: Any, secured: Emulator, mechanism: str
) -> None:
    orders = secured.create_topic("orders", partitions=3)
    options = secured.client_config("spark", user="alice", mechanism=mechanism)
    frame = spark.range(100).selectExpr("CAST(id AS STRING) AS value")
    frame.write.format("kafka").options(**options).option("topic", orders.name).save()
    assert sorted(int(record.value or b"") for record in orders.records()) == list(range(100))

    read = spark.read.format("kafka").options(**options, subscribe=orders.name).load()
    rows = read.selectExpr("CAST(value AS STRING) AS value").collect()
    assert sorted(int(row.value) for row in rows) == list(range(100))
    assert not secured.log_in_failures
    assert "as User:alice at SASL_SSL" in secured.timeline()


def test_a_wrong_password_reaches_the_job(spark: Any, secured: Emulator) -> None:
    secured.create_topic("orders")
    options = secured.client_config("spark", user="alice", mechanism="PLAIN")
    name = "kafka.sasl.jaas.config"
    options[name] = options[name].replace("alice's secret", "wrong")
    read = spark.read.format("kafka").options(**options, subscribe="orders").load()
    with pytest.raises(Exception, match="Authentication failed: Invalid username or password"):
        read.collect()
    failed = secured.log_in_failures[0]
    assert (failed.user, failed.mechanism, failed.reason) == ("alice", "PLAIN", "wrong password")

"""Topics that change while a query reads them: what is lost, and what only looks so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from odradek import Emulator, NewRecord, TopicView
from odradek.fixtures.spark import StreamTest, retention_now

from tests.clients.spark.support import sorted_rows

pytestmark = pytest.mark.spark

StreamOf = Callable[..., StreamTest]


@pytest.fixture
def orders(kafka: Emulator) -> TopicView:
    topic = kafka.create_topic("orders")
    topic.produce_all(["a", "b", "c"])
    return topic


def test_retention_that_passes_the_checkpoint_fails_the_query(
    stream_test: StreamOf, read_stream: Any, orders: TopicView
) -> None:
    stream = stream_test(read_stream(orders.name))
    stream.run_to_end()
    orders.produce_all(["d", "e", "f"])
    retention_now(orders, before=5)
    stream.start_stream(availableNow=True)
    stream.expect_failure("[Ss]ome data may have been lost|KAFKA_DATA_LOSS")
    assert len(stream.batches()) == 1


def test_retention_that_passes_the_checkpoint_is_passed_over_if_asked_to(
    stream_test: StreamOf, read_stream: Any, orders: TopicView
) -> None:
    stream = stream_test(read_stream(orders.name, failOnDataLoss="false"))
    stream.run_to_end()
    orders.produce_all(["d", "e", "f"])
    retention_now(orders, before=5)
    assert [tuple(row) for row in stream.run_to_end()] == [(0, 5, "f")]
    retention_now(orders)
    assert stream.run_to_end() == []
    orders.produce("g")
    assert [tuple(row) for row in stream.run_to_end()] == [(0, 6, "g")]


def test_retention_of_what_was_read_loses_nothing(
    stream_test: StreamOf, read_stream: Any, orders: TopicView
) -> None:
    stream = stream_test(read_stream(orders.name))
    stream.run_to_end()
    retention_now(orders)
    orders.produce("d")
    assert [tuple(row) for row in stream.run_to_end()] == [(0, 3, "d")]


def test_a_batch_of_offsets_that_are_gone(read: Any, orders: TopicView) -> None:
    gone = {"startingOffsets": json.dumps({orders.name: {"0": 0}})}
    retention_now(orders, before=2)
    with pytest.raises(Exception, match=r"[Ss]ome data may have been lost|KAFKA_DATA_LOSS"):
        read(orders.name, **gone).collect()
    assert sorted_rows(read(orders.name, failOnDataLoss="false", **gone)) == [(0, 2, "c")]


def test_a_topic_that_was_created_again_fails_the_query(
    stream_test: StreamOf, read_stream: Any, kafka: Emulator, orders: TopicView
) -> None:
    stream = stream_test(read_stream(orders.name))
    stream.run_to_end()
    kafka.recreate_topic(orders.name).produce("new")
    stream.start_stream(availableNow=True)
    stream.expect_failure("offset was changed from 3 to 1|KAFKA_DATA_LOSS")


def test_a_topic_that_was_created_again_is_read_from_its_start_if_asked_to(
    stream_test: StreamOf, read_stream: Any, kafka: Emulator, orders: TopicView
) -> None:
    stream = stream_test(read_stream(orders.name, failOnDataLoss="false"))
    stream.run_to_end()
    kafka.recreate_topic(orders.name).produce("new")
    stream.run_to_end()
    kafka.topic(orders.name).produce_all(["newer", "newest"])
    stream.run_to_end()
    assert sorted(row.value for row in stream.rows()) == ["a", "b", "c", "newer", "newest"]


def test_a_query_does_not_notice_a_topic_that_was_created_again_and_is_longer(
    stream_test: StreamOf, read_stream: Any, kafka: Emulator, orders: TopicView
) -> None:
    """It knows offsets, not the topic's id: what is below its offset is lost without a word."""
    stream = stream_test(read_stream(orders.name))
    stream.run_to_end()
    kafka.recreate_topic(orders.name).produce_all(["k", "l", "m", "n"])
    assert [tuple(row) for row in stream.run_to_end()] == [(0, 3, "n")]


def test_a_topic_that_is_created_again_while_the_query_runs(
    stream_test: StreamOf, read_stream: Any, kafka: Emulator, orders: TopicView
) -> None:
    """A query that is given a name fails if it looks while a real Kafka has no such topic. One that
    looks while the new topic is empty reads it from its start, else from its own offset on."""
    pattern = {"subscribePattern": f"{orders.name}.*", "failOnDataLoss": "false"}
    stream = stream_test(read_stream(**pattern).select("value"))
    stream.start_stream()
    stream.check_new_answer("a", "b", "c")
    kafka.recreate_topic(orders.name).produce_all(["k", "l", "m", "n"])
    stream.wait_for_rows(4)
    stream.process_all_available()
    assert [row.value for row in stream.rows()][3:] in (["n"], ["k", "l", "m", "n"])


def test_gaps_of_a_compacted_topic_are_no_lost_data(
    stream_test: StreamOf, read: Any, read_stream: Any, kafka: Emulator
) -> None:
    table = kafka.create_topic("table", configs={"cleanup.policy": "compact"})
    stream = stream_test(read_stream(table.name, maxOffsetsPerTrigger="5"))
    table.produce_all(NewRecord(f"{n}", key=f"{n % 3}") for n in range(20))
    table.produce_all([NewRecord("x", key="other"), NewRecord(None, key="0")])
    table.compact()
    kept = [(0, 18, "18"), (0, 19, "19"), (0, 20, "x"), (0, 21, None)]
    kept = [row for row in kept if row[1] != 18]
    kept.insert(0, (0, 17, "17"))
    kept.sort()
    seen = [(record.offset, record.value) for record in table.records()]
    assert sorted_rows(read(table.name)) == [
        (0, offset, value and value.decode()) for offset, value in seen
    ]
    assert len(seen) == 4
    stream.run_to_end()
    assert sorted(tuple(row) for row in stream.rows()) == sorted_rows(read(table.name))
    # A range that begins in a gap, and one that has nothing else.
    start = json.dumps({table.name: {"0": 3}})
    assert len(sorted_rows(read(table.name, startingOffsets=start))) == 4
    end = json.dumps({table.name: {"0": 15}})
    assert sorted_rows(read(table.name, startingOffsets=start, endingOffsets=end)) == []

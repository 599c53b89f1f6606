"""What is allowed to differ in old message sets, and that nothing more is."""

from __future__ import annotations

from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.produce import ProduceRequest

from tests.differential.allowed.recompressed import asks_for_too_much, is_cut_elsewhere
from tests.differential.ask.message_sets import edited, message_set
from tests.differential.engine.compare import Difference
from tests.differential.engine.steps import World

Topic = ProduceRequest.Topic


def produce(inner_size: int) -> ProduceRequest:
    """A gzip wrapper around a message whose size field says so."""
    one = edited(message_set(1, (0, b"", b"x" * 30)), size=inner_size)
    data = World("x").resolve(message_set(1, codec=1, inner=one))
    part = Topic.Partition(index=0, records=data)
    return ProduceRequest(
        acks=-1, timeout_ms=0, topic_data=[Topic(name="t", partition_data=[part])]
    )


def test_only_what_the_real_broker_has_no_memory_for_may_be_an_unknown_error() -> None:
    place = "responses[0].partition_responses[0].error_code"
    assert asks_for_too_much(produce(1 << 30), Difference(place, -1, 2))
    assert asks_for_too_much(produce(14), Difference(place, -1, 2))  # "xxxx" is the next one's size
    assert not asks_for_too_much(produce(1 << 20), Difference(place, -1, 2))
    assert not asks_for_too_much(produce(1 << 30), Difference(place, 87, 2))


def test_an_entry_may_be_cut_a_few_bytes_earlier_or_later() -> None:
    for real, ours, passes in (
        (b"\0" * 12, b"\0" * 13, True),
        (b"\0" * 12, b"\1" * 13, False),
        (b"\0" * 12, b"\0" * 28, True),
        (b"\0" * 12, b"\0" * 29, False),
        (b"", 5, False),
        (44, 43, True),
        (60, 43, False),
    ):
        difference = Difference("responses[0].records[2].left", real, ours)
        request = FetchRequest(max_wait_ms=0, min_bytes=0)
        assert is_cut_elsewhere(request, difference) is passes

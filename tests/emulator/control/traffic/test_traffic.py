"""The bounds of a journal, and what is dropped."""

from __future__ import annotations

from odradek.emulator.control.traffic.exchange import Address, Peer
from odradek.emulator.control.traffic.traffic import Traffic
from odradek.wire.api.metadata import MetadataRequest, MetadataResponse
from odradek.wire.headers import RequestHeader, write_request_header, write_response_header

FRAME = write_request_header(RequestHeader(3, 9, 5, "me")) + MetadataRequest(topics=None).encode(9)


def peer(traffic: Traffic) -> Peer:
    return traffic.peer(Address("127.0.0.1", 5), Address("127.0.0.1", 9092))


def numbers(traffic: Traffic) -> list[int]:
    return [each.number for each in traffic.exchanges]


def test_the_oldest_are_dropped_when_there_are_too_many() -> None:
    traffic = Traffic(most=2)
    one = peer(traffic)
    for _ in range(5):
        traffic.begin(one, FRAME)
    assert (numbers(traffic), traffic.dropped) == ([4, 5], 3)


def test_the_oldest_are_dropped_when_their_bytes_are_too_many() -> None:
    traffic = Traffic(most_bytes=3 * len(FRAME))
    one = peer(traffic)
    for _ in range(4):
        traffic.begin(one, FRAME)
    assert numbers(traffic) == [2, 3, 4]
    traffic.answered(traffic.exchanges[-1], [bytes(2 * len(FRAME))])
    assert (numbers(traffic), traffic.dropped) == ([4], 3)


def test_an_answer_to_one_that_was_dropped_takes_no_room() -> None:
    traffic = Traffic(most=1, most_bytes=2 * len(FRAME))
    one = peer(traffic)
    dropped = traffic.begin(one, FRAME)
    traffic.begin(one, FRAME)
    traffic.answered(dropped, [bytes(100 * len(FRAME))])
    assert dropped.outcome == "answered"
    assert numbers(traffic) == [2]


def test_one_that_is_larger_than_all_the_room_is_kept_alone() -> None:
    traffic = Traffic(most_bytes=1)
    traffic.begin(peer(traffic), FRAME)
    assert numbers(traffic) == [1]


def test_of_a_long_frame_only_the_beginning_is_kept() -> None:
    traffic = Traffic(frame_bytes=20)
    exchange = traffic.begin(peer(traffic), FRAME + bytes(100))
    traffic.answered(exchange, [b"abcd", b"x" * 1000])
    assert (len(exchange.request_frame), exchange.request_size) == (20, len(FRAME) + 100)
    assert exchange.response_frame == b"abcd" + b"x" * 16
    assert exchange.response_size == 1004
    assert exchange.client_id == "me"


def test_what_is_cleared_is_forgotten_and_numbers_go_on() -> None:
    traffic = Traffic(most=1)
    one = peer(traffic)
    traffic.begin(one, FRAME)
    traffic.begin(one, FRAME)
    traffic.clear()
    assert (numbers(traffic), traffic.dropped) == ([], 0)
    traffic.begin(one, FRAME)
    assert numbers(traffic) == [3]


def test_those_that_wait_when_the_broker_ends_are_closed() -> None:
    traffic = Traffic()
    exchange = traffic.begin(peer(traffic), FRAME)
    traffic.closed()
    assert exchange.outcome == "closed"


def test_topic_ids_are_learnt_from_metadata() -> None:
    traffic = Traffic()
    topic = MetadataResponse.Topic(name="orders", topic_id=b"i" * 16, partitions=[])
    answer = MetadataResponse(brokers=[], topics=[topic])
    head = write_request_header(RequestHeader(3, 12, 1, ""))
    request = MetadataRequest(topics=None).encode(12)
    exchange = traffic.begin(peer(traffic), head + request)
    traffic.answered(exchange, [write_response_header(1, 3, 12), answer.encode(12)])
    traffic.learn_topics()
    assert traffic.topic_names == {b"i" * 16: "orders"}
    assert exchange.topics == ["orders"]

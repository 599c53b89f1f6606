"""The journal's step in a cluster's chain: each request, and what became of it."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from odradek.emulator.base.call import NO_REPLY, Call
from odradek.emulator.base.chain import Outcome, Step
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.cluster import Cluster
from odradek.emulator.control.traffic.exchange import Exchange
from odradek.emulator.control.traffic.step import SECRET_APIS, TrafficStep
from odradek.emulator.control.traffic.traffic import Traffic
from odradek.emulator.handlers.registry import SERVED
from odradek.wire import Error, Request, Response
from odradek.wire.api import request_class
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.frames import Part

from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce, produce_request
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of
from tests.support.looped import for_each
from tests.wire.support.messages import full

METADATA = MetadataRequest(topics=[MetadataRequest.Topic(name="t")])


@pytest.fixture
def traffic(cluster: Cluster) -> Traffic:
    cluster.create_topic("t", 1, {})
    cluster.groups.ensure_topic()
    traffic = Traffic()
    cluster.chain.insert(0, TrafficStep(traffic))
    return traffic


def last(traffic: Traffic) -> Exchange:
    return traffic.exchanges[-1]


@for_each("key", sorted(SERVED.keys() - SECRET_APIS))
def test_a_request_of_every_api_is_kept_as_it_was_sent_and_its_answer_as_it_was_got(
    cluster: Cluster, traffic: Traffic, key: int
) -> None:
    _, version = cluster.release.advertised.get(key) or cluster.release.unadvertised[key]
    request = full(request_class(key), version)
    client = client_of(cluster)
    client.send(request, version)
    exchange = traffic.exchanges[-1]
    assert exchange.request == request
    assert (exchange.api_key, exchange.client_id, exchange.clock_ms) == (key, "test", NOW)
    assert [exchange.response] == (client.answers() or [None])
    assert exchange.response_size == len(exchange.response_frame or b"")


@pytest.mark.parametrize("key", sorted(SECRET_APIS), ids=lambda key: request_class(key).__name__)
def test_a_request_with_secrets_is_not_kept(
    cluster: Cluster, traffic: Traffic, client: Client, key: int
) -> None:
    _, version = cluster.release.advertised[key]
    client.send(full(request_class(key), version), version)
    assert not list(traffic.exchanges)


def test_what_a_produce_request_holds_is_kept_before_the_broker_writes_offsets_into_it(
    traffic: Traffic, client: Client
) -> None:
    data = batch(b"a", b"b")
    produce(client, data, acks=-1)
    produce(client, data, acks=-1)
    sent = [each.request.topic_data[0].partition_data[0].records for each in traffic.exchanges]
    assert list(map(bytes, sent)) == [data, data]


def test_nothing_is_answered_to_acks_0(traffic: Traffic, client: Client) -> None:
    client.send(produce_request(batch(b"a"), acks=0), 9)
    assert (last(traffic).outcome, last(traffic).response) == ("no reply", None)
    assert last(traffic).duration_ms is not None


def test_a_request_waits_until_it_is_answered(
    cluster: Cluster, traffic: Traffic, client: Client
) -> None:
    client.send(fetch_request(asked(), max_wait_ms=500), 12)
    assert (last(traffic).outcome, last(traffic).duration_ms) == ("waiting", None)
    assert isinstance(cluster.clock, ManualClock)
    cluster.advance(500)
    assert last(traffic).outcome == "answered"


def test_one_whose_connection_is_closed_meanwhile(traffic: Traffic, client: Client) -> None:
    client.send(fetch_request(asked(), max_wait_ms=500), 12)
    client.connection.close()
    assert last(traffic).outcome == "closed"


@pytest.mark.parametrize(
    ("frame", "api"),
    [(b"\x00\x63\x00\x00\x00\x00\x00\x07\xff\xff", "API 99"), (b"\0\3", "API -1"),
     (b"\x00\x03\x00\x01\x00\x00\x00\x07\xff\xff\x7f", "Metadata")],
    ids=["unknown", "no header", "bad body"],
)  # fmt: skip
def test_what_cannot_be_decoded_is_there_with_its_bytes(
    traffic: Traffic, client: Client, frame: bytes, api: str
) -> None:
    client.send_raw(frame)
    assert client.is_closed
    found = last(traffic)
    assert (found.outcome, found.api, found.request_frame) == ("malformed", api, frame)
    assert found.reason
    assert found.request is None
    assert found.reason in str(found)


def test_a_refused_version_of_api_versions_and_its_answer_in_version_0(
    traffic: Traffic, client: Client
) -> None:
    client.expect(7, 18, 0)
    client.send_raw(b"\x00\x12\x00\x7f\x00\x00\x00\x07\x00\x01x\x00\x00")
    assert (last(traffic).version, last(traffic).response_version) == (127, 0)
    assert last(traffic).errors == [Error.UNSUPPORTED_VERSION]
    assert last(traffic).response.api_keys


def test_the_software_of_a_client_is_known_from_its_api_versions(
    traffic: Traffic, client: Client
) -> None:
    client.ask(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 3)
    client.ask(METADATA, 9)
    assert last(traffic).connection.software == ("x", "1")
    assert last(traffic).connection.node_id == 1


def test_connections_have_numbers(cluster: Cluster, traffic: Traffic) -> None:
    one, other = client_of(cluster), client_of(cluster)
    for client in (one, other, one):
        client.ask(METADATA, 9)
    assert [each.connection.number for each in traffic.exchanges] == [1, 2, 1]


class Changing(Step):
    """A later step, which changes what is asked, answers for itself, or keeps an answer back."""

    def __init__(self, **does: Any) -> None:
        self._does = does

    def before(self, call: Call, request: Request) -> Outcome:
        call.note("a rule")
        request.topics.clear()  # type: ignore[attr-defined]
        return None

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        if self._does.get("keeps_back"):
            return NO_REPLY
        assert response is not None
        response.cluster_id = "changed"  # type: ignore[attr-defined]
        return None


def test_it_has_what_the_client_sent_and_got_and_what_rules_noted(
    cluster: Cluster, traffic: Traffic, client: Client
) -> None:
    cluster.chain.append(Changing())
    client.ask(METADATA, 9)
    assert last(traffic).request == METADATA
    assert last(traffic).response.cluster_id == "changed"
    assert last(traffic).notes == ["a rule"]
    assert str(last(traffic)).endswith("[a rule]")


def test_an_answer_that_a_rule_keeps_back(
    cluster: Cluster, traffic: Traffic, client: Client
) -> None:
    cluster.chain.append(Changing(keeps_back=True))
    client.send(METADATA, 9)
    assert (last(traffic).outcome, last(traffic).notes) == ("no reply", ["a rule"])


def test_notes_of_rules_go_nowhere_without_a_journal(cluster: Cluster, client: Client) -> None:
    cluster.chain.append(Changing())
    assert client.ask(METADATA, 9).cluster_id == "changed"


def test_a_request_that_was_answered_is_not_kept_until_garbage_is_collected(
    cluster: Cluster, traffic: Traffic
) -> None:
    traffic.bound(0, 0, 1)
    client = client_of(cluster)
    large = batch(bytes(500_000))
    client.ask(produce_request(large, "none"), 9)
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(5):
            client.ask(produce_request(large, "none"), 9)
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
        gc.enable()


def test_records_that_only_the_journal_looks_at_stay_in_their_file(
    cluster: Cluster, traffic: Traffic, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(cluster)
    produce(client, batch(bytes(200_000)))
    found: list[object] = []
    answered = Traffic.answered

    def noted(self: Traffic, exchange: Exchange, parts: Sequence[Part]) -> None:
        found.extend(type(part).__name__ for part in parts)
        answered(self, exchange, parts)

    monkeypatch.setattr(Traffic, "answered", noted)
    client.ask(fetch_request(asked(max_bytes=1 << 20), max_bytes=1 << 20), 12)
    assert "StoredBytes" in found
    found.clear()
    cluster.chain.append(Step())
    client.ask(fetch_request(asked(max_bytes=1 << 20), max_bytes=1 << 20), 12)
    assert "StoredBytes" not in found

"""A broker of an older release: what it says, and what becomes of other requests."""

from __future__ import annotations

from itertools import pairwise

import pytest
from odradek.emulator import Emulator, Error, Refused
from odradek.emulator.base.release import RELEASES
from odradek.emulator.blocking_connection import Connection as Negotiating
from odradek.emulator.situations.older import common
from odradek.emulator.situations.older_versions import KNOWN, versions_of
from odradek.storage import MemoryDisk
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest

from tests.requests.produce import batch, produce_request
from tests.support.connection import Connection, ask

API_VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")


@pytest.mark.parametrize("release", KNOWN)
def test_what_it_says(kafka: Emulator, release: str) -> None:
    older, last = versions_of(release), versions_of(release)[18][1]
    with kafka.situations.older_broker(release) as situation:
        answer = ask(kafka.bootstrap_servers, API_VERSIONS, min(last, 3))
        said = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
        assert situation.hits == 1
    assert said == common(dict(RELEASES["4.3"].advertised), older)
    assert all(lower <= upper for lower, upper in said.values())
    assert answer.finalized_features == []
    assert ask(kafka.bootstrap_servers, API_VERSIONS, 3).finalized_features


@pytest.mark.parametrize(("release", "itself"), [("2.1", []), ("2.4", [(18, 0, 3)])])
def test_a_version_of_the_question_that_is_too_new(
    kafka: Emulator, release: str, itself: list[tuple[int, int, int]]
) -> None:
    kafka.situations.older_broker(release)
    with Connection(kafka.bootstrap_servers) as client:
        answer = client.ask(API_VERSIONS, 4, answered_in=0)
        assert answer.error_code == Error.UNSUPPORTED_VERSION
        said = [(each.api_key, each.min_version, each.max_version) for each in answer.api_keys]
        assert said == itself
        assert client.ask(API_VERSIONS, 0).error_code == Error.NONE


def test_a_request_in_a_version_that_it_did_not_know(kafka: Emulator) -> None:
    request = produce_request(batch(b"x", time=kafka.now), "orders")
    with Connection(kafka.bootstrap_servers) as client:
        assert client.ask(request, 9).responses
        kafka.situations.older_broker("2.1").optional()
        with pytest.raises((EOFError, OSError)):
            client.ask(request, 9)
    assert ask(kafka.bootstrap_servers, request, 7).responses


def test_a_client_that_asks_first(kafka: Emulator) -> None:
    kafka.situations.older_broker("0.11")
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    client = Negotiating(host, int(port), 30)
    try:
        assert (client.version(ProduceRequest), client.version(MetadataRequest)) == (3, 4)
        with pytest.raises(Refused):
            client.version(DescribeConfigsRequest)  # 0.11 has v0, and 4.3 begins at v1
    finally:
        client.close()


def test_the_release_with_the_lowest_versions() -> None:
    with Emulator(version="3.9", disk=MemoryDisk()) as kafka:
        kafka.situations.older_broker("0.11")
        answer = ask(kafka.bootstrap_servers, API_VERSIONS, 0)
    found = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    assert found[DescribeConfigsRequest.api_key] == (0, 0)


def test_versions_only_grow() -> None:
    """Of what is served by releases one after the other, the last version never falls."""
    tables = [versions_of(each) for each in KNOWN] + [dict(RELEASES["3.9"].advertised)]
    for earlier, later in pairwise(tables):
        for key, (_, last) in earlier.items():
            assert later[key][1] >= last

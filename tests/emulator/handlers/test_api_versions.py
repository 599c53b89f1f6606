"""ApiVersions (semantics A5, A6): what is served, the features, and who may ask in which words."""

from __future__ import annotations

import pytest
from odradek.emulator.base.release import KAFKA_4_3
from odradek.emulator.cluster import Cluster
from odradek.emulator.handlers.registry import SERVED
from odradek.wire import Error
from odradek.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.wire.headers import RequestHeader, write_request_header

from tests.support.cluster import Client
from tests.support.versions import first_and_last


def ask(
    client: Client, version: int = 4, name: str = "tests", software_version: str = "1.0"
) -> ApiVersionsResponse:
    request = ApiVersionsRequest(
        client_software_name=name, client_software_version=software_version
    )
    answer: ApiVersionsResponse = client.ask(request, version)
    return answer


@pytest.mark.parametrize("version", [*first_and_last(ApiVersionsRequest), 3])
def test_what_is_served_is_reported_in_the_order_of_keys(client: Client, version: int) -> None:
    answer = ask(client, version)
    assert answer.error_code == 0
    keys = [each.api_key for each in answer.api_keys]
    assert keys == sorted(set(KAFKA_4_3.advertised) & set(SERVED))
    ranges = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    assert ranges == {key: KAFKA_4_3.advertised[key] for key in keys}
    assert ranges[0] == (0, 13), "librdkafka turns compression off without Produce 0"


@pytest.mark.parametrize(("version", "expected"), [(3, False), (4, True)])
def test_a_feature_that_begins_at_0_is_reported_from_version_4_on(
    client: Client, version: int, expected: bool
) -> None:
    answer = ask(client, version)
    lowest = {each.name: each.min_version for each in answer.supported_features}
    assert ("transaction.version" in lowest) is expected
    assert lowest["metadata.version"] > 0
    finalized = {each.name: each.max_version_level for each in answer.finalized_features}
    assert finalized["transaction.version"] == 2
    assert answer.finalized_features_epoch >= 0


@pytest.mark.parametrize("version", [0, 2])
def test_before_version_3_there_are_no_features(client: Client, version: int) -> None:
    answer = ask(client, version)
    assert (answer.supported_features, answer.finalized_features) == ([], [])


@pytest.mark.parametrize(
    ("name", "software_version"),
    [("", "1"), ("a", ""), ("a b", "1"), ("-a", "1"), ("a", "1."), ("ä", "1"), ("a", "1_0")],
)
def test_a_client_must_say_properly_what_it_is(
    client: Client, name: str, software_version: str
) -> None:
    answer = ask(client, 3, name, software_version)
    assert (Error(answer.error_code), answer.api_keys) == (Error.INVALID_REQUEST, [])
    assert ask(client, 2, name, software_version).error_code == 0, "it cannot say so before"


def test_a_version_that_is_too_new_is_answered_in_version_0(
    cluster: Cluster, client: Client
) -> None:
    header = RequestHeader(ApiVersionsRequest.api_key, 9, 1, "test")
    client.expect(1, ApiVersionsRequest.api_key, 0)
    client.send_raw(write_request_header(header) + b"whatever it has")
    (answer,) = client.answers()
    assert Error(answer.error_code) is Error.UNSUPPORTED_VERSION
    found = [(each.api_key, each.min_version, each.max_version) for each in answer.api_keys]
    assert found == [(18, 0, 4)]

"""All of a request is refused as Kafka's own `getErrorResponse` does it, for every API and version
that a release serves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek.compat.java.wire import JavaWire
from odradek.emulator.base.release import KAFKA_4_3, Release
from odradek.emulator.division.refusing import refused, whole
from odradek.emulator.handlers.registry import SERVED
from odradek.wire import Error, Request, Struct
from odradek.wire.api import response_class
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.produce import ProduceRequest

from tests.support.releases import KAFKA_3_9
from tests.wire.support.messages import full

pytestmark = pytest.mark.real

RELEASES = {"4.3.1": KAFKA_4_3, "3.9.2": KAFKA_3_9}
ERROR = Error.TOPIC_AUTHORIZATION_FAILED
# What Kafka answers there says nothing: an error for each of no users, partitions without replicas.
ALLOWED = {
    (DescribeUserScramCredentialsRequest, "results"),
    (ListPartitionReassignmentsRequest, "topics"),
}
# Before 4.0 the records of a partition that failed are null, and not empty.
EMPTY = {"records"}


@pytest.fixture(scope="module", params=RELEASES)
def java(request: pytest.FixtureRequest) -> Iterator[JavaWire]:
    with JavaWire(request.param) as java:
        yield java


def served(release: Release) -> Iterator[tuple[type[Request], int]]:
    for key, each in sorted(SERVED.items()):
        for version in range(each.request.last_version + 1):
            if release.serves(key, version):
                yield each.request, version


def a_request(request: type[Request], version: int) -> Any:
    """One that Kafka's class accepts."""
    made: Any = full(request, version)
    for name in ("key_type", "isolation_level"):
        if hasattr(made, name):
            setattr(made, name, 0)
    if isinstance(made, ProduceRequest):
        made.acks = -1
        for topic in made.topic_data:
            for partition in topic.partition_data:
                partition.records = b""
    return made


def plain(message: Any) -> Any:
    """Without the texts of errors, which are Kafka's own; lists in any order."""
    if isinstance(message, Struct):
        fields = [field.name for field, _ in type(message).fields()]
        return {
            name: plain(getattr(message, name) or None if name in EMPTY else getattr(message, name))
            for name in fields
            if name != "error_message"
        }
    if isinstance(message, list):
        return sorted(map(plain, message), key=repr)
    return bytes(message) if isinstance(message, memoryview) else message


def test_an_unknown_version_of_api_versions_is_answered_with_those_there_are(
    java: JavaWire,
) -> None:
    key, response = ApiVersionsRequest.api_key, response_class(ApiVersionsRequest.api_key)
    for version in range(ApiVersionsRequest.last_version + 1):
        made = full(ApiVersionsRequest, version)
        if version >= 3:
            made.client_software_name = made.client_software_version = "a"
        data = java.refuse(key, version, made.encode(version), Error.UNSUPPORTED_VERSION)
        assert data is not None
        ours = refused(made, version, frozenset({0}), Error.UNSUPPORTED_VERSION)
        assert plain(response.decode(data, version))["api_keys"] == plain(ours)["api_keys"]


def test_all_of_a_request_is_refused_as_by_kafka(java: JavaWire) -> None:
    compared = 0
    for request, version in served(RELEASES[java.version]):
        made, response = a_request(request, version), response_class(request.api_key)
        data = java.refuse(request.api_key, version, made.encode(version), ERROR)
        assert data is not None
        theirs = plain(response.decode(data, version))
        where = whole(request, version)
        if not where:
            assert request is DescribeLogDirsRequest
            assert str(ERROR.value) not in repr(theirs)
            continue
        encoded = refused(made, version, where, ERROR).encode(version)
        ours = plain(response.decode(encoded, version))
        for owner, name in ALLOWED:
            if request is owner:
                assert ours.pop(name) == []
                theirs.pop(name)
        assert ours == theirs, f"{request.__name__} v{version}"
        compared += 1
    assert compared > 200

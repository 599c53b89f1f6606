"""The table of every API and the operations it needs: with all of them, and without each of them,
because no rule allows it or because one denies it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.emulator.guards.guard import RULES
from odradek.emulator.handlers.registry import SERVED
from odradek.emulator.security.authorizer.acl import Kind
from odradek.wire import NO_ID, Error
from odradek.wire.api import request_class
from odradek.wire.schema import Struct

from tests.security.clients import ADMIN, client_as, make
from tests.security.rows import ROWS
from tests.security.table import ALLOWED, Case, cases, commit_of
from tests.support.looped import for_each

_ERRORS = {
    Kind.TOPIC: Error.TOPIC_AUTHORIZATION_FAILED,
    Kind.GROUP: Error.GROUP_AUTHORIZATION_FAILED,
    Kind.TRANSACTIONAL_ID: Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    Kind.CLUSTER: Error.CLUSTER_AUTHORIZATION_FAILED,
}
_OTHER_ERRORS = {
    "CreateTopics by the cluster": Error.TOPIC_AUTHORIZATION_FAILED,
    "InitProducerId by a topic": Error.CLUSTER_AUTHORIZATION_FAILED,
}
"""Rows that are refused for something else than what is missing."""
_OF_THE_GROUP = ("DeleteShareGroupOffsets",)
"""Rows whose group is not there, which is told before their topic."""
_IN_A_STATUS = "StreamsGroupHeartbeat that creates a topic"
"""A row that is answered without the right to create its topic, and told that it has none."""
_ONLY_BITS = ("DescribeCluster", "Metadata of the cluster")
"""Rows that are answered all the same."""
_OPEN = {
    *("ApiVersions", "SaslHandshake", "SaslAuthenticate"),
    *("GetTelemetrySubscriptions", "PushTelemetry"),
    *("CreateDelegationToken", "RenewDelegationToken"),
    *("ExpireDelegationToken", "DescribeDelegationToken"),
}
"""APIs that need nothing, or judge for themselves."""
_OF_ANSWERS = {"ListGroups", "ListTransactions", "AddRaftVoter"}
"""APIs whose rule is tested elsewhere: they leave something out, or have no simple request."""


@for_each("case", cases(), lambda case: case.name)
def test_every_case(cluster: Cluster, case: Case) -> None:
    if case.has_topic:
        cluster.create_topic(f"t{case.number}", 1, {})
    if case.has_offsets:
        client_as(cluster, ADMIN).ask(commit_of(case), 8)
    topic = cluster.topics.get(f"t{case.number}")
    make(cluster, *case.acls())
    request = case.row.request(case.about(NO_ID if topic is None else topic.id))
    client = client_as(cluster, case.user)
    client.send(request, case.row.version)
    _check(case, client.answers())


def _check(case: Case, answers: list[Any]) -> None:
    refusals = {error for answer in answers for error in _errors(answer)} & set(_ERRORS.values())
    if case.row.name in _ONLY_BITS:
        bits = answers[0].cluster_authorized_operations
        assert (bits != 0, refusals) == (case.state == ALLOWED, set())
    elif case.row.name == _IN_A_STATUS and case.missing == case.row.needs[-1]:
        assert "Unauthorized to CREATE" in answers[0].status[-1].status_detail
    elif case.missing is None or _learns_of_the_group(case):
        assert not refusals
    else:
        assert refusals == {_OTHER_ERRORS.get(case.row.name, _ERRORS[case.missing.kind])}


def _learns_of_the_group(case: Case) -> bool:
    assert case.missing is not None
    return case.row.name in _OF_THE_GROUP and case.missing.kind is Kind.TOPIC


def _errors(item: Struct) -> Iterator[Error]:
    for field, type_ in type(item).fields():
        value = getattr(item, field.name)
        if field.name in ("error_code", "partition_error_code"):
            yield Error(value)
        elif type_.struct is not None and isinstance(value, list):
            for each in value:
                yield from _errors(each)


def test_no_api_is_forgotten() -> None:
    in_table = {row.api for row in ROWS}
    for key in SERVED:
        name = request_class(key).__name__.removesuffix("Request")
        if name in _OPEN:
            assert key not in RULES, name
        else:
            assert key in RULES, f"{name} has no rule in emulator/guards"
            assert key in in_table or name in _OF_ANSWERS, f"{name} is not in the table"

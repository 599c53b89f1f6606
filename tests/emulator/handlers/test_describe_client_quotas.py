"""DescribeClientQuotas (semantics I11): which entities fit a filter, and filters without sense."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest

from tests.requests.quotas import CONSUMED, PRODUCED, USER, alter, entry, find
from tests.support.cluster import Client, client_of
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(DescribeClientQuotasRequest))
def test_every_quota_is_found_without_a_filter(client: Client, version: int) -> None:
    assert find(client, version=version) == {}
    alter(client, entry(USER, (PRODUCED, 5.0), (CONSUMED, 6.5e3)))
    found = {(("user", "u"),): {PRODUCED: 5.0, CONSUMED: 6500.0}}
    assert find(client, version=version) == found


@pytest.mark.parametrize(
    ("parts", "strict", "found"),
    [
        ([], False, 4),
        ([], True, 0),
        ([("user", 0, "u")], False, 2),
        ([("user", 0, "u")], True, 1),
        ([("user", 1, None)], False, 1),
        ([("user", 2, None)], False, 3),
        ([("user", 2, None), ("client-id", 2, None)], True, 2),
        ([("ip", 2, None)], False, 1),
    ],
)
def test_filters(
    client: Client, parts: list[tuple[str, int, str | None]], strict: bool, found: int
) -> None:
    alter(client, entry(USER, (PRODUCED, 1.0)))
    alter(client, entry([("user", "u"), ("client-id", "c")], (PRODUCED, 1.0)))
    alter(client, entry([("user", None), ("client-id", "c")], (PRODUCED, 1.0)))
    alter(client, entry([("ip", "127.0.0.1")], ("connection_creation_rate", 1e6)))
    assert len(find(client, *parts, strict=strict)) == found


@pytest.mark.parametrize(
    ("part", "error", "message"),
    [
        (("group", 2, None), 35, "Unsupported entity type group"),
        (("", 2, None), 42, "Invalid empty entity type."),
        (("user", 9, None), 42, "Unknown match type 9"),
        (
            ("user", 0, None),
            42,
            "Request specified MATCH_TYPE_EXACT, but set match string to null.",
        ),
        (
            ("user", 1, "x"),
            42,
            "Request specified MATCH_TYPE_DEFAULT, but also specified a match string.",
        ),
    ],
)
def test_filters_without_sense(
    cluster: Cluster, part: tuple[str, int, str | None], error: int, message: str
) -> None:
    made = DescribeClientQuotasRequest
    component = made.Component(entity_type=part[0], match_type=part[1], match=part[2])
    answer = client_of(cluster).ask(made(components=[component], strict=False), 1)
    assert (answer.error_code, answer.error_message, answer.entries) == (error, message, None)

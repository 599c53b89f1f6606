"""ListGroups (semantics G13): groups of every type, and the filters of states and types."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.list_groups import ListGroupsRequest

from tests.requests.committed_offsets import commit
from tests.requests.consumer_groups import beat
from tests.requests.groups import stable
from tests.support.cluster import Client
from tests.support.versions import first_and_last

CLASSIC = ("g", "consumer", "Stable", "classic")
SIMPLE = ("simple", "", "Empty", "classic")
CONSUMER = ("new", "consumer", "Stable", "consumer")


@pytest.fixture(autouse=True)
def _groups(cluster: Cluster, client: Client) -> None:
    """A classic group, one that only commits, and a consumer group."""
    cluster.create_topic("t", 1, {})
    cluster.groups.ensure_topic()
    stable(client)
    assert commit(client, 5, group="simple") is Error.NONE
    assert beat(client, group_id="new").error_code == 0


def listed(client: Client, version: int = 5, **filters: Any) -> list[tuple[str, str, str, str]]:
    answer = client.ask(ListGroupsRequest(**filters), version)
    assert answer.error_code == 0
    return sorted(
        (each.group_id, each.protocol_type, each.group_state, each.group_type)
        for each in answer.groups
    )


@pytest.mark.parametrize("version", [*first_and_last(ListGroupsRequest), 4])
def test_each_version_tells_more_of_a_group(client: Client, version: int) -> None:
    fields = 2 if version < 4 else 3 if version < 5 else 4
    nothing = ("",) * (4 - fields)
    assert listed(client, version) == [
        (*each[:fields], *nothing) for each in (CLASSIC, CONSUMER, SIMPLE)
    ]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"states_filter": ["Stable"]}, [CLASSIC, CONSUMER]),
        ({"states_filter": ["EMPTY", "nonsense"]}, [SIMPLE]),
        ({"states_filter": ["nonsense"]}, []),
        ({"types_filter": ["Consumer"]}, [CONSUMER]),
        ({"types_filter": ["classic"], "states_filter": ["stable"]}, [CLASSIC]),
        ({"types_filter": ["nonsense"]}, []),
    ],
)
def test_filters_ignore_case_and_what_they_do_not_know(
    client: Client, filters: dict[str, Any], found: list[tuple[str, str, str, str]]
) -> None:
    assert listed(client, **filters) == found

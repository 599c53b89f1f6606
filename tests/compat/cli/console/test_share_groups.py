"""`odradek groups` of share groups: members, where the group begins, lag.

The start is the one that is stored: it moves with the acknowledgement after the one that allows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.compat.cli.console.support import Shell
from tests.requests.produce import batch, produce
from tests.requests.share_groups import (
    ACCEPT,
    LEAVES,
    acquired,
    share_acknowledge,
    share_beat,
    share_fetch,
)
from tests.support.connection import Connection


@pytest.fixture
def member(kafka: Emulator) -> Iterator[Connection]:
    """Member a of group g, which has accepted one of four records of orders-1."""
    with Connection(kafka.bootstrap_servers) as member:
        member.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 6)
        named = MetadataRequest(topics=[MetadataRequest.Topic(name="orders")])
        part = (member.ask(named, 12).topics[0].topic_id, 1)
        assert share_beat(member, subscribed_topic_names=["orders"]).member_epoch == 2
        share_fetch(member, {part: ()})
        produce(member, batch(b"a", b"b", b"c", b"d"), topic="orders", partition=1)
        assert acquired(share_fetch(member, epoch=1)) == [(0, 3, 1)]
        share_acknowledge(member, {part: [(0, 0, [ACCEPT])]}, 2)
        kafka.advance(seconds=5)
        share_beat(member, "a", 2)
        yield member


def test_the_list_has_members_and_lag(shell: Shell, member: Connection) -> None:
    assert shell("groups")[1:] == [["g", "share", "Stable", "1", "3"]]


def test_one_with_its_members_and_partitions(shell: Shell, member: Connection) -> None:
    shown = shell("groups", "show", "g")
    assert " ".join(shown[0]) == "g: Stable, share, simple"
    assert shown[2][-1] == "orders:0-1"
    assert shown[4:] == [
        ["topic", "partition", "start", "next", "lag", "members"],
        ["orders", "0", "-", "0", "-", "1"],
        ["orders", "1", "0", "4", "3", "1"],
    ]


def test_as_json(kafka: Emulator, member: Connection, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["groups", kafka.bootstrap_servers, "show", "g", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["group"], body["state"], body["type"]) == ("g", "Stable", "share")
    assert [each["partitions"] for each in body["members"]] == [{"orders": [0, 1]}]
    assert body["offsets"][1] == {
        "topic": "orders",
        "partition": 1,
        "start": 0,
        "next": 4,
        "lag": 3,
        "members": 1,
    }


def test_one_without_members_is_deleted(shell: Shell, member: Connection) -> None:
    (refused,) = shell("groups", "delete", "g", "--yes", status=1)
    assert "stop its consumers first" in " ".join(refused)
    share_beat(member, "a", LEAVES)
    assert shell("groups", "show", "g")[0] == ["g:", "Empty,", "share,", "simple"]
    assert shell("groups", "delete", "g", "--yes") == [["deleted", "g"]]


def test_where_one_without_members_begins_is_set(shell: Shell, member: Connection) -> None:
    (refused,) = shell("groups", "reset", "g", "--to", "latest", status=1)
    assert "stop its consumers first" in " ".join(refused)
    share_beat(member, "a", LEAVES)
    reset = ("groups", "reset", "g", "--to", "3", "--topic", "orders:1")
    heads = ["topic", "partition", "before", "after"]
    assert shell(*reset, "--dry-run") == [heads, ["orders", "1", "0", "3"]]
    assert shell("groups", "show", "g")[3] == ["orders", "1", "0", "4", "3", "0"]
    assert shell(*reset) == [heads, ["orders", "1", "0", "3"]]
    assert shell("groups", "show", "g")[3] == ["orders", "1", "3", "4", "1", "0"]


def test_what_one_without_members_has_of_a_topic_is_deleted(
    shell: Shell, member: Connection
) -> None:
    forget = ("groups", "forget", "g", "--yes", "--topic")
    (refused,) = shell(*forget, "orders", status=1)
    assert "NON_EMPTY_GROUP" in " ".join(refused)
    share_beat(member, "a", LEAVES)
    (refused,) = shell(*forget, "orders:1", status=1)
    assert "a share group forgets whole topics" in " ".join(refused)
    assert shell(*forget, "orders") == [
        ["g", "has", "no", "offsets", "of", "orders", "any", "more"]
    ]
    assert shell("groups", "show", "g") == [
        ["g:", "Empty,", "share,", "simple"],
        ["topic", "partition", "start", "next", "lag", "members"],
    ]


def test_members_are_not_removed(shell: Shell, member: Connection) -> None:
    (refused,) = shell("groups", "kick", "g", "--all", status=1)
    assert "g is a share group: Kafka has no request" in " ".join(refused)

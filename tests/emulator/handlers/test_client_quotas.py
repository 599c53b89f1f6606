"""AlterClientQuotas and DescribeClientQuotas: stored, found, refused (semantics I11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.security.quotas import check_entity
from odradek.wire import Refused
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest

from tests.support.cluster import Client, client_of, open_cluster

Entity = list[tuple[str, str | None]]
PRODUCED, CONSUMED = "producer_byte_rate", "consumer_byte_rate"
USER: Entity = [("user", "u")]


def entry(entity: Entity, *ops: tuple[str, float | None]) -> AlterClientQuotasRequest.Entry:
    made = AlterClientQuotasRequest.Entry
    return made(
        entity=[made.Entity(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[made.Op(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )


def alter(
    client: Client, *entries: AlterClientQuotasRequest.Entry, dry: bool = False
) -> list[tuple[int, str | None]]:
    request = AlterClientQuotasRequest(entries=list(entries), validate_only=dry)
    return [(each.error_code, each.error_message) for each in client.ask(request, 1).entries]


def find(
    client: Client, *parts: tuple[str, int, str | None], strict: bool = False
) -> dict[tuple[tuple[str, str | None], ...], dict[str, float]]:
    made = DescribeClientQuotasRequest
    request = made(
        components=[
            made.Component(entity_type=kind, match_type=how, match=name)
            for kind, how, name in parts
        ],
        strict=strict,
    )
    answer = client.ask(request, 1)
    assert (answer.error_code, answer.error_message) == (0, "")
    return {
        tuple((part.entity_type, part.entity_name) for part in each.entity): {
            value.key: value.value for value in each.values
        }
        for each in answer.entries
    }


def test_quotas_are_kept_over_a_restart(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    client = client_of(cluster)
    assert alter(client, entry(USER, (PRODUCED, 5.0), (CONSUMED, 6.0))) == [(0, None)]
    assert alter(client, entry(USER, (CONSUMED, None))) == [(0, None)]
    cluster.close()

    again = open_cluster(tmp_path)
    assert find(client_of(again)) == {(("user", "u"),): {PRODUCED: 5.0}}
    again.close()


def test_an_entity_is_the_same_in_any_order(client: Client) -> None:
    alter(client, entry([("user", "u"), ("client-id", None)], (PRODUCED, 5.0)))
    alter(client, entry([("client-id", None), ("user", "u")], (PRODUCED, None)))
    assert find(client) == {}


def test_only_checking_changes_nothing(client: Client) -> None:
    assert alter(client, entry(USER, (PRODUCED, 5.0)), dry=True) == [(0, None)]
    assert find(client) == {}


@pytest.mark.parametrize(
    ("entity", "key", "value", "message"),
    [
        ([], PRODUCED, 1.0, "Invalid empty client quota entity"),
        ([("group", "x")], PRODUCED, 1.0, "Unhandled client quota entity type: group"),
        ([("user", "")], PRODUCED, 1.0, "Empty user not supported"),
        (
            [("ip", "::1"), ("user", "x")],
            PRODUCED,
            1.0,
            "Invalid quota entity combination, IP entity shouldnot be combined with User or "
            "ClientId",
        ),
        (USER, "nonsense", 1.0, "Invalid configuration key nonsense"),
        (
            USER,
            "connection_creation_rate",
            1.0,
            "Invalid configuration key connection_creation_rate",
        ),
        (USER, PRODUCED, -1.0, f"Quota {PRODUCED} must be greater than 0"),
        (USER, PRODUCED, 1.5, f"{PRODUCED} cannot be a fractional value."),
        (USER, PRODUCED, 1e19, f"Proposed value for {PRODUCED} is too large for a LONG."),
        (
            [("ip", "::1")],
            "connection_creation_rate",
            3e9,
            "Proposed value for connection_creation_rate is too large for an INT.",
        ),
    ],
)
def test_what_no_quota_can_be(
    client: Client, entity: Entity, key: str, value: float, message: str
) -> None:
    assert alter(client, entry(entity, (key, value))) == [(42, message)]
    assert find(client) == {}


@pytest.mark.parametrize("key", ["request_percentage", "controller_mutation_rate"])
def test_some_rates_may_be_fractions(client: Client, key: str) -> None:
    assert alter(client, entry(USER, (key, 0.5))) == [(0, None)]


def test_an_entity_named_twice_is_done_once_and_refused(client: Client) -> None:
    twice = "Ignoring duplicate entity ClientQuotaEntity(entries={client-id=null, user=u})"
    both: Entity = [("user", "u"), ("client-id", None)]
    found = alter(client, entry(both, (PRODUCED, 5.0)), entry(both[::-1], (CONSUMED, 6.0)))
    assert found == [(42, twice)]
    assert list(find(client).values()) == [{PRODUCED: 5.0}]


def test_a_key_named_twice_is_refused(client: Client) -> None:
    ((code, message),) = alter(client, entry(USER, (PRODUCED, 5.0), (PRODUCED, 6.0)))
    assert (code, message) == (42, "Ignoring duplicate entity ClientQuotaEntity(entries={user=u})")
    assert find(client) == {}


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


def test_of_several_empty_names_the_user_is_told_of_first() -> None:
    with pytest.raises(Refused, match="Empty user not supported"):
        check_entity({"ip": "", "user": ""})

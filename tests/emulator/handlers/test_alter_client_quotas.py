"""AlterClientQuotas (semantics I11): what is stored, and what no quota can be."""

from __future__ import annotations

import pytest
from odradek.emulator.security.quotas import check_entity
from odradek.storage import MemoryDisk
from odradek.wire import Refused
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest

from tests.requests.quotas import CONSUMED, PRODUCED, USER, Entity, alter, entry, find
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(AlterClientQuotasRequest))
def test_a_quota_is_set_and_taken_away(client: Client, version: int) -> None:
    assert alter(client, entry(USER, (PRODUCED, 5.0)), version=version) == [(0, None)]
    assert find(client) == {(("user", "u"),): {PRODUCED: 5.0}}
    assert alter(client, entry(USER, (PRODUCED, None)), version=version) == [(0, None)]
    assert find(client) == {}


def test_quotas_are_kept_over_a_restart(disk: MemoryDisk) -> None:
    cluster = open_cluster(disk)
    client = client_of(cluster)
    assert alter(client, entry(USER, (PRODUCED, 5.0), (CONSUMED, 6.0))) == [(0, None)]
    assert alter(client, entry(USER, (CONSUMED, None))) == [(0, None)]
    cluster.close()

    again = open_cluster(disk)
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


def test_of_several_empty_names_the_user_is_reported_first() -> None:
    with pytest.raises(Refused, match="Empty user not supported"):
        check_entity({"ip": "", "user": ""})

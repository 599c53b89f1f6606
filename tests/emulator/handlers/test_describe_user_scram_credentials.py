"""DescribeUserScramCredentials (semantics I10): users with their mechanisms, never their keys."""

from __future__ import annotations

from odradek.wire import Error
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest

from tests.requests.users import SHA_256, SHA_512, alter, describe, user
from tests.support.cluster import Client
from tests.support.versions import first_and_last

(VERSION,) = first_and_last(DescribeUserScramCredentialsRequest)


def test_without_names_everybody_is_described(client: Client) -> None:
    empty = client.ask(DescribeUserScramCredentialsRequest(users=[]), VERSION)
    assert (empty.error_code, empty.results) == (0, [])
    alter(client, user("a"), user("b", SHA_512, 16384))
    alter(client, user("a", SHA_512, 5000))
    assert describe(client) == {"a": [(SHA_256, 4096), (SHA_512, 5000)], "b": [(SHA_512, 16384)]}


def test_nobody_is_an_error_of_that_name(client: Client) -> None:
    alter(client, user("a"))
    assert describe(client, "x", "a") == {"x": Error.RESOURCE_NOT_FOUND, "a": [(SHA_256, 4096)]}


def test_users_are_described_once(client: Client) -> None:
    alter(client, user("a"), user("b"))
    assert describe(client, "b", "a", "x") == {
        "a": [(1, 4096)],
        "b": [(1, 4096)],
        "x": Error.RESOURCE_NOT_FOUND,
    }
    assert describe(client, "a", "a") == {"a": Error.DUPLICATE_RESOURCE}

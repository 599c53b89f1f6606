"""AlterUserScramCredentials (semantics I10): what is stored, and what is refused."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk

from tests.requests.users import Answers, Deletion, Upsertion, alter, describe, drop, user
from tests.support.cluster import Client, client_of, open_cluster

TWICE = "A user credential cannot be altered twice in the same request"
GONE = "Attempt to delete a user credential that does not exist"


def test_credentials_are_kept_over_a_restart(disk: MemoryDisk) -> None:
    cluster = open_cluster(disk)
    client = client_of(cluster)
    assert alter(client, user("a"), user("b", 2, 16384)) == [("a", 0, None), ("b", 0, None)]
    assert alter(client, user("a", 2, 5000)) == [("a", 0, None)]
    assert alter(client, drop("b", 2)) == [("b", 0, None)]
    cluster.close()

    again = open_cluster(disk)
    assert describe(client_of(again)) == {"a": [(1, 4096), (2, 5000)]}
    again.close()


def test_the_keys_are_those_that_kafka_stores(cluster: Cluster, client: Client) -> None:
    alter(client, user("u"))
    stored = cluster.metadata.image.scram["u"][1]
    assert stored.stored_key == (
        b"\xe5\xf1T\xc5]\x00\x0fn\xb1ZJ\t&\x0e\xdb]Z\xdf\xb0-|\xa0\xef\xfd\xb5\xea\t\xc7\xd3\xc9\xb5="
    )
    assert stored.server_key == (
        b"\x1cKX\x02\xf3\xb0N\xe6\xd6\xd3h\xc9/\xeeL\x10Icm\xb3\xa6\xb1xP\xb8j\xfdxZ\x89H\xed"
    )


@pytest.mark.parametrize(
    ("changes", "answers"),
    [
        ([user("a", iterations=4095)], [("a", 93, "Too few iterations")]),
        ([user("a", iterations=16385)], [("a", 93, "Too many iterations")]),
        ([user("", 0)], [("", 93, "Username must not be empty")]),
        ([user("a", 3)], [("a", 33, "Unknown SCRAM mechanism")]),
        ([user("a", password=b"")], [("a", -1, None)]),
        ([drop("a")], [("a", 91, GONE)]),
        ([user("a"), user("a", 2)], [("a", 92, TWICE)]),
        ([user("a", 1, 1), user("a", 2)], [("a", 93, "Too few iterations")]),
        ([user("a", 1), user("a", 2, 1)], [("a", 92, TWICE)]),
        ([drop("a"), user("a", 2)], [("a", 91, GONE)]),
        ([user("a", 9), user("b")], [("b", 0, None), ("a", 33, "Unknown SCRAM mechanism")]),
    ],
)
def test_what_is_refused(
    client: Client, changes: list[Upsertion | Deletion], answers: Answers
) -> None:
    assert alter(client, *changes) == answers
    assert set(describe(client)) == {name for name, code, _ in answers if not code}

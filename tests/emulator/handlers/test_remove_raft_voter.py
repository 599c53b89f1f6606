"""RemoveRaftVoter (semantics I17, J): the only voter stays."""

from __future__ import annotations

from odradek.wire import Error

from tests.requests.quorum import keep_voters_in_the_log, remove
from tests.support.cluster import Client


def test_voters_in_configs_cannot_change(client: Client) -> None:
    assert remove(client, 1) == Error.UNSUPPORTED_VERSION


def test_who_does_not_vote_cannot_be_removed(client: Client) -> None:
    keep_voters_in_the_log(client)
    assert remove(client, 2) == Error.VOTER_NOT_FOUND
    assert remove(client, 1) == Error.VOTER_NOT_FOUND, "in another directory"

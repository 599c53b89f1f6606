"""The quorum's voters: AddRaftVoter, RemoveRaftVoter, and where voters are kept."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.add_raft_voter import AddRaftVoterRequest
from odradek.wire.api.remove_raft_voter import RemoveRaftVoterRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest

from tests.requests.asker import Asker

SOME = bytes(15) + b"\7"
"""The id of a voter's directory."""


def keep_voters_in_the_log(client: Asker) -> None:
    """Raise kraft.version, from which on the log says who votes."""
    update = UpdateFeaturesRequest.FeatureUpdate(feature="kraft.version", max_version_level=1)
    client.ask(UpdateFeaturesRequest(feature_updates=[update], validate_only=False), 1)


def add(
    client: Asker, voter: int = 2, directory: bytes = SOME, version: int = 1, **more: Any
) -> tuple[int, str]:
    listener = AddRaftVoterRequest.Listener(name="controller", host="h", port=1)
    fields: dict[str, Any] = {"cluster_id": None, "timeout_ms": 1, "listeners": [listener], **more}
    request = AddRaftVoterRequest(voter_id=voter, voter_directory_id=directory, **fields)
    answer = client.ask(request, version)
    return answer.error_code, answer.error_message


def remove(client: Asker, voter: int, directory: bytes = SOME) -> int:
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=voter, voter_directory_id=directory)
    code: int = client.ask(request, 0).error_code
    return code

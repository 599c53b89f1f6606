"""`quorum-state`: the last epoch and vote of a KRaft node, in JSON beside its metadata log.

    {"clusterId":"","leaderId":7,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,
     "currentVoters":[{"voterId":7}],"data_version":0}

Without it Kafka opens a log all the same, but warns that the log is ahead of the vote. So it is
written, naming this node as the leader of the epoch in which the log is written, unless it is there
and no older. One that cannot be read, over which Kafka would end, is replaced.

Left out: elections; the form with `data_version` 1, of quorums whose voters are in the log, is kept
as it is, since no epoch is begun here. Source: KIP-595; directories of Kafka 4.3.1.
"""

from __future__ import annotations

import json

from ...storage.disk.directory import Directory
from ..base.logger import log

QUORUM_STATE = "quorum-state"


def keep_quorum_state(home: Directory, node_id: int, epoch: int) -> None:
    """See that the directory of the metadata log has a vote of `epoch` or later. Raises OSError."""
    if _stored_epoch(home) >= epoch:
        return
    state = {
        "clusterId": "",
        "leaderId": node_id,
        "leaderEpoch": epoch,
        "votedId": -1,
        "appliedOffset": 0,
        "currentVoters": [{"voterId": node_id}],
        "data_version": 0,
    }
    home.write_atomic(QUORUM_STATE, json.dumps(state, separators=(",", ":")).encode())


def _stored_epoch(home: Directory) -> int:
    """The epoch on disk; -1 if there is none that can be read."""
    if not home.exists(QUORUM_STATE):
        return -1
    try:
        epoch = json.loads(home.read_bytes(QUORUM_STATE))["leaderEpoch"]
    except (ValueError, KeyError, TypeError) as error:
        log.warning(
            "%s of the metadata log is replaced, it cannot be read: %r", QUORUM_STATE, error
        )
        return -1
    return epoch if isinstance(epoch, int) else -1

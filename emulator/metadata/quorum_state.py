"""`quorum-state`: the last epoch and vote of a KRaft node, in JSON, next to its metadata log.

    {"clusterId":"","leaderId":7,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,
     "currentVoters":[{"voterId":7}],"data_version":0}

Without it Kafka opens a log, but warns that the log is ahead of the vote. So it is written, with
this node as the leader of the epoch in which the log is written, unless there is one of that epoch
or a later one. A file that cannot be read, with which Kafka would not start, is replaced.

Left out: elections; the form with `data_version` 1, of quorums whose voters are in the log, is kept
as it is, since no epoch is begun here. Source: KIP-595; directories of Kafka 4.3.1.
"""

from __future__ import annotations

import json

from ...storage.disk.directory import Directory
from ..base.logger import log

QUORUM_STATE = "quorum-state"


def keep_quorum_state(home: Directory, node_id: int, epoch: int) -> None:
    """Write the file unless there is one of `epoch` or later. Raises OSError."""
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


def is_malformed(home: Directory) -> bool:
    """Whether there is a file that cannot be read. Raises OSError."""
    try:
        return home.exists(QUORUM_STATE) and type(_read(home)) is not int
    except (ValueError, KeyError, TypeError):
        return True


def _read(home: Directory) -> object:
    return json.loads(home.read_bytes(QUORUM_STATE))["leaderEpoch"]


def _stored_epoch(home: Directory) -> int:
    """The epoch on disk; -1 if there is none that can be read."""
    if not home.exists(QUORUM_STATE):
        return -1
    try:
        epoch = _read(home)
    except (ValueError, KeyError, TypeError) as error:
        log.warning(
            "%s of the metadata log is replaced, it cannot be read: %r", QUORUM_STATE, error
        )
        return -1
    return epoch if isinstance(epoch, int) else -1

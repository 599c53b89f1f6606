"""The cluster's administration, drawn from a seed: quotas, credentials, features, moves, producers.

Between changes, what was set is described. Features are lowered and raised, and have their first
levels again at the end of a sequence; quotas and credentials stay, on both sides.
"""

from __future__ import annotations

from random import Random
from typing import Any

from odradek.wire import Request
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_producers import DescribeProducersRequest
from odradek.wire.api.describe_quorum import DescribeQuorumRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.remove_raft_voter import RemoveRaftVoterRequest
from odradek.wire.api.renew_delegation_token import RenewDelegationTokenRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest
from odradek.wire.api.unregister_broker import UnregisterBrokerRequest

from ..ask import cluster as ask
from ..ask.batches import batch
from ..ask.records import new_producer, produce
from ..engine.served import Served
from ..engine.steps import Ask, Steps, seen
from .requests import draw_request

_NEW = {
    "group.version": 1,
    "transaction.version": 2,
    "share.version": 1,
    "streams.version": 1,
    "eligible.leader.replicas.version": 1,
}
_ADMINISTRATION: tuple[type[Request], ...] = (
    DescribeLogDirsRequest,
    ElectLeadersRequest,
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    DescribeClientQuotasRequest,
    DescribeUserScramCredentialsRequest,
    DescribeQuorumRequest,
    DescribeProducersRequest,
)
# What one broker without authorizer, SASL and tokens can only refuse.
_REFUSED: tuple[type[Request], ...] = (
    SaslHandshakeRequest,
    DescribeAclsRequest,
    CreateAclsRequest,
    DeleteAclsRequest,
    AlterReplicaLogDirsRequest,
    SaslAuthenticateRequest,
    CreateDelegationTokenRequest,
    RenewDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    DescribeDelegationTokenRequest,
    UnregisterBrokerRequest,
    RemoveRaftVoterRequest,
)
_UP, _SAFE, _UNSAFE = 1, 2, 3
_ENTITIES: tuple[list[tuple[str, str | None]], ...] = (
    [("user", "~u")],
    [("user", "~v")],
    [("client-id", "~c")],
    [("user", "~u"), ("client-id", "~c")],
    [("user", "~u"), ("client-id", None)],
    [("client-id", "~c"), ("user", None)],
    [("ip", "10.9.8.7")],
)
_KEYS = (ask.PRODUCED, ask.CONSUMED, ask.PERCENTAGE, ask.MUTATIONS, ask.CONNECTIONS, "nonsense")
_VALUES = (ask.FAST, ask.FAST, 2e6, 3e6, 1.5, 0.0, -1.0, 1e19, 3e9, 1e6 + 1e-7)


def administration(random: Random, served: Served) -> Steps:
    """Thirty changes and descriptions; at the end the features get their first levels again."""
    steps: Steps = [new_producer()]
    for _ in range(30):
        how = random.choice((_quotas, _quotas, _users, _users, _features, _written, _drawn, _drawn))
        steps += how(random, served)
    back = [(name, level, _UP) for name, level in _NEW.items()]
    return [*steps, Ask(ask.features(*back))]


def _quotas(random: Random, served: Served) -> Steps:
    entries = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        keys = random.choices(_KEYS, k=random.choice((1, 1, 2, 3)))
        ops: list[Any] = [
            (key, random.choice(_VALUES), True)
            if random.random() < 0.3
            else (key, random.choice(_VALUES))
            for key in keys
        ]
        entries.append(ask.quota(random.choice(_ENTITIES), *ops))
    request = ask.alter_quotas(*entries, validate_only=random.random() < 0.1)
    parts: list[tuple[str, int, str | None]] = [
        (kind, *random.choice(((0, "~u"), (0, "~c"), (1, None), (2, None))))
        for kind in random.sample(("user", "client-id", "ip"), random.choice((0, 1, 1, 2)))
    ]
    look = ask.quotas(*parts, strict=random.random() < 0.4)
    return [_any_version(random, served, request), _any_version(random, served, look)]


def _users(random: Random, served: Served) -> Steps:
    changes: list[Any] = []
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        name, mechanism = random.choice(("~u", "~v", "~w", "~x")), random.choice((1, 1, 2, 2, 0, 3))
        if random.random() < 0.35:
            changes.append(ask.drop_user(name, mechanism))
        else:
            iterations = random.choice((4096, 4096, 8192, 16384, 4095, 16385))
            password = random.choice((b"p" * 32, b"p" * 64, b"p" * 32, b""))
            changes.append(ask.set_user(name, mechanism, iterations, b"salt", password))
    names = random.choices(("~u", "~v", "~w", "~x", "~none"), k=random.choice((1, 2, 3)))
    return [Ask(ask.alter_users(*changes)), Ask(ask.users(*names))]


def _features(random: Random, served: Served) -> Steps:
    updates = []
    for name in random.choices((*_NEW, "metadata.version", "nonsense"), k=random.choice((1, 1, 2))):
        levels = (29, 30, 30, 31) if name == "metadata.version" else (0, 0, 1, 1, 2, 3, -1)
        kind = random.choice((_UP, _UP, _UP, _SAFE, _SAFE, _UNSAFE, 0))
        updates.append((name, random.choice(levels), kind))
    request = ask.features(*updates, validate_only=random.random() < 0.2)
    return [_any_version(random, served, request)]


def _written(random: Random, served: Served) -> Steps:
    """A producer that writes, in order most of the time, and descriptions of producers and logs."""
    records = batch(
        *(b"x" for _ in range(random.choice((1, 2)))),
        producer_id=seen("pid"),
        producer_epoch=random.choice((0, 0, 0, 1)),
        base_sequence=random.choice((0, 0, 1, 2, 3)),
    )
    name, index = random.choice((("~a", 0), ("~a", 1), ("~b", 0)))
    look = ask.producers(("~a", [0, 1]), ("~b", [0]))
    return [Ask(produce(records, name, index)), Ask(look), Ask(ask.log_dirs(("~a", [0, 1])))]


def _drawn(random: Random, served: Served) -> Steps:
    api = random.choice([each for each in (*_ADMINISTRATION, *_REFUSED) if each in served.ranges])
    version = random.choice(served.versions(api))
    return [Ask(draw_request(random, api, version), version)]


def _any_version(random: Random, served: Served, request: Any) -> Ask:
    return Ask(request, random.choice(served.versions(type(request))))

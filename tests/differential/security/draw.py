"""Sequences of several users: requests of every API, while the super user changes their rights.

A sequence is one of another kind (draw/sequences.py), or requests of any API, whose connections are
given to users; between its steps rules are made and removed. It begins and ends without rules.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.delete_share_group_state import DeleteShareGroupStateRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest
from odradek.wire.api.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.wire.api.initialize_share_group_state import InitializeShareGroupStateRequest
from odradek.wire.api.read_share_group_state import ReadShareGroupStateRequest
from odradek.wire.api.read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from odradek.wire.api.renew_delegation_token import RenewDelegationTokenRequest
from odradek.wire.api.write_share_group_state import WriteShareGroupStateRequest

from ..draw import any_requests, classic_groups, cluster, configs, consumer_groups, logs
from ..draw import transactions as transactional
from ..draw.requests import NOT_AT_RANDOM, draw_request
from ..draw.sequences import beginning
from ..engine.served import Served
from ..engine.steps import Ask, Close, Raw, Sequence, Steps

USERS = ("alice", "bob", "carol")
_ALL_RULES = DeleteAclsRequest.Filter(
    resource_type_filter=1,
    resource_name_filter=None,
    pattern_type_filter=1,
    principal_filter=None,
    host_filter=None,
    operation=1,
    permission_type=1,
)
NO_RULES = Ask(DeleteAclsRequest(filters=[_ALL_RULES]), 3)
_KINDS = {
    "any": any_requests.any_api,
    "offsets": any_requests.offsets,
    "log": logs.log,
    "sessions": logs.sessions,
    "groups": classic_groups.members,
    "consumers": consumer_groups.members,
    "transactions": transactional.transactions,
    "configs": configs.configurations,
    "cluster": cluster.administration,
}
_RESOURCES = (
    *[(2, "~a")] * 6,
    *[(2, "~b")] * 3,
    *((2, "~c"), (2, "~d"), (2, "~"), (2, "*"), (2, "*")),
    *[(3, "~g")] * 4,
    *((3, "~h"), (3, "~"), (3, "*")),
    *[(4, "kafka-cluster")] * 4,
    *((5, "~x"), (5, "~y"), (5, "~"), (5, "*")),
)
_OPERATIONS = {
    2: (2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 10, 11),
    3: (2, 2, 3, 3, 6, 8, 10, 11),
    4: (2, 5, 7, 8, 8, 9, 10, 11, 12),
    5: (2, 4, 4, 8),
}
_OF_TOKENS = (
    CreateDelegationTokenRequest,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
"""APIs that judge by the listener, and not by rules."""
_OF_SHARE_STATE = (
    DescribeShareGroupOffsetsRequest,
    InitializeShareGroupStateRequest,
    ReadShareGroupStateRequest,
    ReadShareGroupStateSummaryRequest,
    WriteShareGroupStateRequest,
    DeleteShareGroupStateRequest,
)
"""APIs of a coordinator that is found by nobody here, and so is not there at a real broker."""
_RESOURCE_TYPES = (2, 4, 8, 16, 32)
_ODD = ("zed", "User:", ":x", "Group:g", "User:*", "")


def draw(seed: int, served: Served) -> Sequence:
    random = Random(seed)
    name = random.choice(("any", "any", "any", *_KINDS))
    steps: Steps = [NO_RULES, *beginning(random)]
    steps += [_rules(random, random.choice((1, 2, 3, 6))) for _ in range(random.choice((0, 1, 2)))]
    drawn = _any_api(random, served) if name == "any" else _KINDS[name](random, served)
    users: dict[str, str] = {}
    for step in drawn:
        request = getattr(step, "request", None)
        if isinstance(request, _OF_TOKENS) or _is_never_answered(request):
            continue
        if random.random() < 0.12:
            steps.append(_change(random, served))
        if isinstance(step, Ask | Raw | Close):
            user = users.setdefault(step.on, random.choice(USERS))
            step = replace(step, on=f"{user}/{step.on}")
        steps.append(step)
    return Sequence(f"{name} of several users, seed {seed}", (*steps, NO_RULES))


def _any_api(random: Random, served: Served) -> Steps:
    """Each request by whoever comes."""
    left_out = {*NOT_AT_RANDOM, *_OF_TOKENS, *_OF_SHARE_STATE}
    apis = [api for api in served.ranges if api not in left_out]
    steps: Steps = []
    for _ in range(40):
        api = random.choice(apis)
        version = random.choice(served.versions(api))
        request = draw_request(random, api, version)
        for step in logs.acknowledged(request, version):
            assert isinstance(step, Ask)
            steps.append(replace(step, on=random.choice("123")))
    return steps


def _is_never_answered(request: object) -> bool:
    """Whether a real broker never answers: users of nobody if they are refused, and resources of
    several unknown types with one name, which are one to it."""
    if isinstance(request, AlterConfigsRequest):
        odd = [r.resource_name for r in request.resources if r.resource_type not in _RESOURCE_TYPES]
        return len(set(odd)) < len(odd)
    return isinstance(request, DescribeUserScramCredentialsRequest) and request.users is None


def _change(random: Random, served: Served) -> Ask:
    """A change of the rules by the super user, or by somebody who may try."""
    dice = random.random()
    on = "main" if random.random() < 0.9 else f"{random.choice(USERS)}/acls"
    if dice < 0.6:
        return replace(_rules(random, random.choice((1, 1, 2, 4))), on=on)
    if dice < 0.8:
        filters = [_filter(random) for _ in range(random.choice((1, 1, 2)))]
        return Ask(DeleteAclsRequest(filters=filters), random.choice((1, 2, 3)), on)
    one = _filter(random)
    request = DescribeAclsRequest(
        **{field.name: getattr(one, field.name) for field, _ in DescribeAclsRequest.fields()}
    )
    return Ask(request, random.choice((1, 2, 3)), on)


def _rules(random: Random, count: int) -> Ask:
    creations = []
    for _ in range(count):
        kind, name = random.choice(_RESOURCES)
        prefixed = name.startswith("~") and (name == "~" or random.random() < 0.15)
        is_odd = random.random() < 0.03
        creations.append(
            CreateAclsRequest.Creation(
                resource_type=random.choice((1, 77, kind)) if is_odd else kind,
                resource_name=random.choice(("", name)) if random.random() < 0.03 else name,
                resource_pattern_type=random.choice((1, 2, 9)) if is_odd else 3 + prefixed,
                principal=random.choice(_ODD)
                if random.random() < 0.05
                else f"User:{random.choice((*USERS, *USERS, '*'))}",
                host=random.choice(("*", "*", "*", "*", "127.0.0.1", "10.0.0.1")),
                operation=random.choice(_OPERATIONS[kind]),
                permission_type=random.choice((3, 3, 3, 3, 2)),
            )
        )
    return Ask(CreateAclsRequest(creations=creations), 3)


def _filter(random: Random) -> DeleteAclsRequest.Filter:
    kind, name = random.choice(_RESOURCES)
    return DeleteAclsRequest.Filter(
        resource_type_filter=random.choice((1, kind, kind, kind, 77)),
        resource_name_filter=random.choice((None, name, name)),
        pattern_type_filter=random.choice((1, 2, 2, 3, 4, 9)),
        principal_filter=random.choice((None, None, "User:alice", "User:*")),
        host_filter=random.choice((None, None, "*")),
        operation=random.choice((1, 1, 3, 4, 2, 99)),
        permission_type=random.choice((1, 1, 2, 3)),
    )

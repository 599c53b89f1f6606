"""Sections A10, I9, I17: what a cluster without authorizer, SASL and tokens answers; its voters."""

from __future__ import annotations

from odradek.wire import NO_ID
from odradek.wire.api.add_raft_voter import AddRaftVoterRequest
from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest
from odradek.wire.api.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.wire.api.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.wire.api.remove_raft_voter import RemoveRaftVoterRequest
from odradek.wire.api.renew_delegation_token import RenewDelegationTokenRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest

from ..engine.steps import Ask, Steps
from . import case

# Resource type, pattern type, operation, permission; 0 is not known.
_CODES = (
    (2, 3, 3, 3),
    (1, 1, 1, 1),
    (99, 3, 77, 55),
    (2, 9, 1, 1),
    (-1, -1, -1, -1),
    (0, 3, 3, 3),
    (2, 0, 3, 3),
    (2, 3, 0, 3),
    (2, 3, 3, 0),
)


@case("I9", each=DescribeAclsRequest)
def acls_are_not_described() -> Steps:
    return [
        Ask(
            DescribeAclsRequest(
                resource_type_filter=kind,
                resource_name_filter=name,
                pattern_type_filter=pattern,
                principal_filter=name,
                host_filter=name,
                operation=operation,
                permission_type=permission,
            ),
            on=f"c{number}{name}",
        )
        for number, (kind, pattern, operation, permission) in enumerate(_CODES)
        for name in (None, "", "x")
    ]


@case("I9", each=CreateAclsRequest)
def acls_are_not_created() -> Steps:
    def rule(codes: tuple[int, ...], name: str = "x") -> CreateAclsRequest.Creation:
        return CreateAclsRequest.Creation(
            resource_type=codes[0],
            resource_name=name,
            resource_pattern_type=codes[1],
            principal=name,
            host=name,
            operation=codes[2],
            permission_type=codes[3],
        )

    good = rule(_CODES[0])
    return [
        Ask(CreateAclsRequest(creations=[])),
        Ask(CreateAclsRequest(creations=[good, rule(_CODES[0], ""), good])),
        *(
            Ask(CreateAclsRequest(creations=[good, rule(codes)]), on=f"c{number}")
            for number, codes in enumerate(_CODES)
        ),
    ]


@case("I9", each=DeleteAclsRequest)
def acls_are_not_deleted() -> Steps:
    def wanted(codes: tuple[int, ...], name: str | None = None) -> DeleteAclsRequest.Filter:
        return DeleteAclsRequest.Filter(
            resource_type_filter=codes[0],
            resource_name_filter=name,
            pattern_type_filter=codes[1],
            principal_filter=name,
            host_filter=name,
            operation=codes[2],
            permission_type=codes[3],
        )

    good = wanted(_CODES[0])
    return [
        Ask(DeleteAclsRequest(filters=[])),
        Ask(DeleteAclsRequest(filters=[good, wanted(_CODES[0], ""), good])),
        *(
            Ask(DeleteAclsRequest(filters=[good, wanted(codes)]), on=f"c{number}")
            for number, codes in enumerate(_CODES)
        ),
    ]


@case("I17", each=CreateDelegationTokenRequest)
def tokens_are_not_created() -> Steps:
    made = CreateDelegationTokenRequest
    owners = ((None, None), ("", ""), ("User", "x"), ("Foo", "x"), ("User", ""), (None, "x"))
    renewers: tuple[list[CreateDelegationTokenRequest.Renewer], ...] = (
        [],
        [made.Renewer(principal_type="Foo", principal_name="")],
    )
    return [
        Ask(
            made(
                owner_principal_type=kind,
                owner_principal_name=name,
                renewers=each,
                max_lifetime_ms=lifetime_ms,
            )
        )
        for kind, name in (*owners, ("User", None), ("", "x"))
        for each in renewers
        for lifetime_ms in (-1, 1000)
    ]


@case("I17", each=RenewDelegationTokenRequest)
def tokens_are_not_renewed() -> Steps:
    return [
        Ask(RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period))
        for hmac in (b"", b"x" * 64)
        for period in (-1, 0, 1000)
    ]


@case("I17", each=ExpireDelegationTokenRequest)
def tokens_do_not_expire() -> Steps:
    return [
        Ask(ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period))
        for hmac in (b"", b"x" * 64)
        for period in (-1, 0, 1000)
    ]


@case("I17", each=DescribeDelegationTokenRequest)
def tokens_are_not_described() -> Steps:
    made = DescribeDelegationTokenRequest
    owner = made.Owner(principal_type="User", principal_name="x")
    return [Ask(made(owners=owners)) for owners in (None, [], [owner, owner])]


@case("A10", each=SaslHandshakeRequest)
def no_handshake() -> Steps:
    return [
        Ask(SaslHandshakeRequest(mechanism=name)) for name in ("PLAIN", "", "x", "SCRAM-SHA-256")
    ]


@case("A10", each=SaslAuthenticateRequest)
def authentication_is_refused() -> Steps:
    return [Ask(SaslAuthenticateRequest(auth_bytes=data)) for data in (b"", b"\0user\0password")]


@case("J", each=AddRaftVoterRequest)
def no_voter_is_added() -> Steps:
    """As long as the voters are kept in configs."""
    made = AddRaftVoterRequest

    def add(cluster: str | None, voter: int, directory: bytes, *names: str) -> Ask:
        listeners = [made.Listener(name=name, host="h", port=1) for name in names]
        return Ask(
            made(
                cluster_id=cluster,
                timeout_ms=1000,
                voter_id=voter,
                voter_directory_id=directory,
                listeners=listeners,
            )
        )

    some = bytes(15) + b"\7"
    return [
        add(cluster, voter, directory, *names)
        for cluster in (None, "", "another")
        for voter, directory in ((2, some), (1, some), (-1, some), (2, NO_ID))
        for names in ((), ("CONTROLLER",), ("PLAINTEXT",), ("controller", "x"), ("a", "b"))
    ]


@case("J", each=RemoveRaftVoterRequest)
def no_voter_is_removed() -> Steps:
    some = bytes(15) + b"\7"
    return [
        Ask(
            RemoveRaftVoterRequest(cluster_id=cluster, voter_id=voter, voter_directory_id=directory)
        )
        for cluster in (None, "", "another")
        for voter, directory in ((2, some), (1, some), (-1, some), (2, NO_ID))
    ]

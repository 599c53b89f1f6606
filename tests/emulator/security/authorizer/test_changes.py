"""Rules made, found and removed by clients (semantics M15)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.security.authorizer.acl import (
    Acl,
    AclFilter,
    Kind,
    Operation,
    Pattern,
    Permission,
)
from odradek.wire import Error
from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest

from tests.security.clients import create_request, make
from tests.support.cluster import Client
from tests.support.versions import first_and_last

Users = Callable[[str], Client]
ACL = Acl(Kind.TOPIC, "t", Pattern.LITERAL, "User:a", "*", Operation.READ, Permission.ALLOW)


def deletion(each: AclFilter) -> DeleteAclsRequest.Filter:
    return DeleteAclsRequest.Filter(
        resource_type_filter=each.kind,
        resource_name_filter=each.name,
        pattern_type_filter=each.pattern,
        principal_filter=each.principal,
        host_filter=each.host,
        operation=each.operation,
        permission_type=each.permission,
    )


def described(client: Client, each: AclFilter, version: int = 3) -> set[Acl]:
    one = deletion(each)
    fields = {field.name: getattr(one, field.name) for field, _ in DescribeAclsRequest.fields()}
    answer = client.ask(DescribeAclsRequest(**fields), version)
    assert (answer.error_code, answer.error_message) == (Error.NONE, "")
    return {
        Acl(
            found.resource_type,
            found.resource_name,
            found.pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission_type,
        )
        for found in answer.resources
        for acl in found.acls
    }


@pytest.mark.parametrize("version", first_and_last(CreateAclsRequest))
def test_a_rule_is_made_found_and_removed_in_any_version(
    cluster: Cluster, user: Users, version: int
) -> None:
    admin = user("admin")
    assert admin.ask(create_request(ACL), version).results[0].error_code == Error.NONE
    assert described(admin, AclFilter(pattern=Pattern.LITERAL), version) == {ACL}
    request = DeleteAclsRequest(filters=[deletion(AclFilter(pattern=Pattern.LITERAL))])
    (found,) = admin.ask(request, version).filter_results
    assert [each.principal for each in found.matching_acls] == ["User:a"]
    assert described(admin, AclFilter(pattern=Pattern.LITERAL), version) == set()


def test_a_repeated_rule_changes_nothing(cluster: Cluster, user: Users) -> None:
    make(cluster, ACL, ACL)
    end = cluster.metadata.end_offset
    make(cluster, ACL)
    assert cluster.metadata.end_offset == end
    assert len(cluster.metadata.image.acls) == 1


@pytest.mark.parametrize(
    ("acl", "sentence"),
    [
        (ACL._replace(kind=Kind.CLUSTER), "The only valid name for the CLUSTER resource is kafka"),
        (ACL._replace(name=""), "Invalid empty resource name"),
        (ACL._replace(principal="zed"), "Could not parse principal from `zed` (no colon is pre"),
        (ACL._replace(kind=77), "Invalid resourceType UNKNOWN"),
        (ACL._replace(pattern=9), "Invalid patternType UNKNOWN"),
        (ACL._replace(operation=99), "Invalid operation UNKNOWN"),
        (ACL._replace(permission=-1), "Invalid permissionType UNKNOWN"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_alone(
    cluster: Cluster, user: Users, acl: Acl, sentence: str
) -> None:
    bad, good = user("admin").ask(create_request(acl, ACL), 3).results
    assert bad.error_code == Error.INVALID_REQUEST
    assert bad.error_message.startswith(sentence)
    assert good.error_code == Error.NONE


def test_what_only_a_filter_says_refuses_all(cluster: Cluster, user: Users) -> None:
    for acl in (
        ACL._replace(kind=Kind.ANY),
        ACL._replace(pattern=Pattern.ANY),
        ACL._replace(pattern=Pattern.MATCH),
        ACL._replace(operation=Operation.ANY),
        ACL._replace(permission=Permission.ANY),
    ):
        results = user("admin").ask(create_request(ACL, acl), 3).results
        found = [(each.error_code, each.error_message) for each in results]
        assert found == [(Error.UNKNOWN_SERVER_ERROR, None)] * 2
    assert not cluster.metadata.image.acls


def test_0_closes_the_connection_of_anybody(cluster: Cluster, user: Users) -> None:
    for name in ("admin", "alice"):
        client = user(name)
        client.send(create_request(ACL._replace(kind=0)), 3)
        assert (client.answers(), client.is_closed) == ([], True)


def test_filters_find_by_each_part(cluster: Cluster, user: Users) -> None:
    prefix = ACL._replace(name="to", pattern=Pattern.PREFIXED, principal="User:b")
    all_of = ACL._replace(name="*", host="10.0.0.1", operation=Operation.ALL)
    group = ACL._replace(kind=Kind.GROUP, permission=Permission.DENY)
    acls = {ACL, prefix, all_of, group}
    make(cluster, *acls)
    admin = user("admin")
    for given, expected in (
        (AclFilter(), acls),
        (AclFilter(kind=Kind.TOPIC), acls - {group}),
        (AclFilter(name="t"), {ACL, group}),
        (AclFilter(Kind.TOPIC, "topic", Pattern.MATCH), {prefix, all_of}),
        (AclFilter(Kind.TOPIC, "t", Pattern.MATCH), {ACL, all_of}),
        (AclFilter(pattern=Pattern.PREFIXED), {prefix}),
        (AclFilter(principal="User:b"), {prefix}),
        (AclFilter(host="10.0.0.1"), {all_of}),
        (AclFilter(operation=Operation.ALL), {all_of}),
        (AclFilter(permission=Permission.DENY), {group}),
        (AclFilter(kind=77), set()),
    ):
        assert described(admin, given) == expected, given


def test_each_filter_lists_what_it_fits(cluster: Cluster, user: Users) -> None:
    make(cluster, ACL, ACL._replace(name="u"))
    filters = [AclFilter(), AclFilter(name="u"), AclFilter(name="v"), AclFilter(operation=99)]
    request = DeleteAclsRequest(filters=[deletion(each) for each in filters])
    results = user("admin").ask(request, 3).filter_results
    assert [len(each.matching_acls) for each in results] == [2, 1, 0, 0]
    assert [each.error_code for each in results] == [0, 0, 0, Error.INVALID_REQUEST]
    assert not cluster.metadata.image.acls

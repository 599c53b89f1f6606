"""Access rules: DescribeAcls, CreateAcls, DeleteAcls."""

from __future__ import annotations

from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest


def describe_request(kind: int = 2, operation: int = 3) -> DescribeAclsRequest:
    """Ask for rules about resources of this type."""
    return DescribeAclsRequest(
        resource_type_filter=kind,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=operation,
        permission_type=3,
    )


def create_request(kind: int = 2) -> CreateAclsRequest:
    """Make the same rule twice."""
    rule = CreateAclsRequest.Creation(
        resource_type=kind,
        resource_name="t",
        principal="User:x",
        host="*",
        operation=3,
        permission_type=3,
    )
    return CreateAclsRequest(creations=[rule, rule])


def delete_request(kind: int = 2) -> DeleteAclsRequest:
    """Delete the same rules twice."""
    wanted = DeleteAclsRequest.Filter(
        resource_type_filter=kind,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=3,
        permission_type=3,
    )
    return DeleteAclsRequest(filters=[wanted, wanted])

"""Clients without a socket that have logged in, at a cluster with an authorizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from odradek.emulator.base.call import Principal
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.broker_rules import STANDARD_AUTHORIZER
from odradek.emulator.security.authorizer.acl import Acl
from odradek.storage.disk.directory import Directory
from odradek.wire import Error
from odradek.wire.api.create_acls import CreateAclsRequest

from tests.support.cluster import Client, client_of, open_cluster

ADMIN = "admin"


def open_secured(data_dir: Path | Directory | None = None, **configs: Any) -> Cluster:
    """A cluster with an authorizer, whose super user is `admin`."""
    given = {
        "authorizer_class_name": STANDARD_AUTHORIZER,
        "super_users": f"User:{ADMIN}",
        **configs,
    }
    return open_cluster(data_dir, **given)


def client_as(cluster: Cluster, user: str, host: str = "127.0.0.1") -> Client:
    """A connection on which a user has logged in."""
    client = client_of(cluster)
    client.connection.principal = Principal("User", user)
    client.connection.client_host = host
    return client


def create_request(*acls: Acl) -> CreateAclsRequest:
    return CreateAclsRequest(
        creations=[
            CreateAclsRequest.Creation(
                resource_type=acl.kind,
                resource_name=acl.name,
                resource_pattern_type=acl.pattern,
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission,
            )
            for acl in acls
        ]
    )


def make(cluster: Cluster, *acls: Acl) -> None:
    """Make these rules, all of which are good."""
    answer = client_as(cluster, ADMIN).ask(create_request(*acls), 3)
    assert [Error(each.error_code) for each in answer.results] == [Error.NONE] * len(acls)

"""Records of the metadata log that tests of its image, changes and snapshots share."""

from __future__ import annotations

from odradek.wire.stored.cluster import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UserScramCredentialRecord,
)

ID = bytes(range(16))
EPOCH = 7


def broker(node_id: int = 1) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=node_id,
        incarnation_id=ID,
        broker_epoch=EPOCH,
        end_points=[],
        features=[],
        rack=None,
    )


def controller(node_id: int = 1) -> RegisterControllerRecord:
    return RegisterControllerRecord(
        controller_id=node_id,
        incarnation_id=ID,
        zk_migration_ready=False,
        end_points=[],
        features=[],
    )


def credential(name: str = "u", mechanism: int = 1) -> UserScramCredentialRecord:
    return UserScramCredentialRecord(
        name=name,
        mechanism=mechanism,
        salt=b"s",
        stored_key=b"k",
        server_key=b"v",
        iterations=4096,
    )


def acl(acl_id: bytes = ID) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=acl_id,
        resource_type=2,
        resource_name="t",
        pattern_type=3,
        principal="User:x",
        host="*",
        operation=3,
        permission_type=3,
    )


def token(token_id: str = "a") -> DelegationTokenRecord:
    return DelegationTokenRecord(
        owner="User:x",
        requester="User:x",
        renewers=[],
        issue_timestamp=1,
        max_timestamp=2,
        expiration_timestamp=2,
        token_id=token_id,
    )

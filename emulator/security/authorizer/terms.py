"""What access rules speak of: operations, kinds of resources, patterns of names, permissions.

The numbers are those of the protocol, the names those of Kafka's tools. Source: KIP-11, KIP-290,
KIP-373, KIP-939; Kafka's `AclOperation`, `ResourceType`, `PatternType`, `AclPermissionType`.
"""

from __future__ import annotations

from enum import IntEnum


class Operation(IntEnum):
    """What somebody does to a resource."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Kind(IntEnum):
    """What kind of resource it is."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Pattern(IntEnum):
    """How the name of a rule is compared with that of a resource."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(IntEnum):
    """What a rule says."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


WILDCARD = "*"
"""As a literal name every resource, as a host every address, as the name of a user everybody."""
CLUSTER_NAME = "kafka-cluster"
"""The name of the one resource of the kind CLUSTER."""

_O = Operation
OPERATIONS = {
    Kind.TOPIC: (
        *(_O.READ, _O.WRITE, _O.CREATE, _O.DELETE, _O.ALTER, _O.DESCRIBE),
        *(_O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS),
    ),
    Kind.GROUP: (_O.READ, _O.DELETE, _O.DESCRIBE, _O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS),
    Kind.CLUSTER: (
        *(_O.CREATE, _O.ALTER, _O.DESCRIBE, _O.CLUSTER_ACTION),
        *(_O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS, _O.IDEMPOTENT_WRITE),
    ),
    Kind.TRANSACTIONAL_ID: (_O.WRITE, _O.DESCRIBE, _O.TWO_PHASE_COMMIT),
    Kind.DELEGATION_TOKEN: (_O.DESCRIBE,),
    Kind.USER: (_O.CREATE_TOKENS, _O.DESCRIBE_TOKENS),
}
"""Which operations a kind of resource has."""
IMPLIES = {
    Operation.DESCRIBE: frozenset({_O.READ, _O.WRITE, _O.DELETE, _O.ALTER}),
    Operation.DESCRIBE_CONFIGS: frozenset({_O.ALTER_CONFIGS}),
}
"""Operations that are allowed where any of these is. What is denied implies nothing."""

"""An ACL as a sentence, both ways: `alice may READ topic orders`.

    WHO may|may not OPERATION[,OPERATION] WHAT [from HOST]

WHO is a principal, whose type is User if none is given, or `everyone`. WHAT is `topic orders`,
`every topic`, `topics orders-*` (whose names begin so), the same of group, transactional-id, token
and user, or `the cluster`.

Source: KIP-11, KIP-290 (patterns).
"""

from __future__ import annotations

import re
from typing import NamedTuple

LITERAL, PREFIXED = 3, 4
RESOURCES = {"topic": 2, "group": 3, "cluster": 4, "transactional-id": 5, "token": 6, "user": 7}
OPERATIONS = {
    "ALL": 2,
    "READ": 3,
    "WRITE": 4,
    "CREATE": 5,
    "DELETE": 6,
    "ALTER": 7,
    "DESCRIBE": 8,
    "CLUSTER_ACTION": 9,
    "DESCRIBE_CONFIGS": 10,
    "ALTER_CONFIGS": 11,
    "IDEMPOTENT_WRITE": 12,
    "CREATE_TOKENS": 13,
    "DESCRIBE_TOKENS": 14,
    "TWO_PHASE_COMMIT": 15,
}
DENY, ALLOW = 2, 3
CLUSTER_NAME = "kafka-cluster"
EVERYONE = "User:*"
ANY_HOST = "*"
_RESOURCE_NAMES = {number: name for name, number in RESOURCES.items()}
_OPERATION_NAMES = {number: name for name, number in OPERATIONS.items()}
_KINDS = "|".join(name for name in RESOURCES if name != "cluster")
_SENTENCE = re.compile(
    rf"""(?P<who>.+?)\s+may(?P<not>\s+not)?\s+(?P<operations>[\w,\s]+?)\s+
    (?:the\s+(?P<cluster>cluster)|every\s+(?P<every>{_KINDS})|(?P<kind>{_KINDS})(?P<many>s)?\s+
    (?P<name>\S+))
    (?:\s+from\s+(?P<host>\S+))?\s*""",
    re.VERBOSE | re.IGNORECASE,
)


class Acl(NamedTuple):
    """One entry."""

    principal: str
    permission: int
    operation: int
    resource: int
    pattern: int
    name: str
    host: str = ANY_HOST

    def __str__(self) -> str:
        who = "everyone" if self.principal == EVERYONE else self.principal.removeprefix("User:")
        verb = "may not" if self.permission == DENY else "may"
        operation = _OPERATION_NAMES.get(self.operation, f"operation {self.operation}")
        where = "" if self.host == ANY_HOST else f" from {self.host}"
        return f"{who} {verb} {operation} {self._what()}{where}"

    def _what(self) -> str:
        kind = _RESOURCE_NAMES.get(self.resource, f"resource {self.resource}")
        if kind == "cluster":
            return "the cluster"
        if self.pattern == PREFIXED:
            return f"{kind}s {self.name}*"
        return f"every {kind}" if self.name == "*" else f"{kind} {self.name}"

    def told(self) -> dict[str, str]:
        """For `--json`, with the names of Kafka's tools."""
        return {
            "principal": self.principal,
            "permission": "DENY" if self.permission == DENY else "ALLOW",
            "operation": _OPERATION_NAMES.get(self.operation, str(self.operation)),
            "resource_type": _RESOURCE_NAMES.get(self.resource, str(self.resource)),
            "resource_name": self.name,
            "pattern_type": "PREFIXED" if self.pattern == PREFIXED else "LITERAL",
            "host": self.host,
        }


def read_sentence(text: str) -> list[Acl]:
    """The entries that a sentence stands for, one of each operation. Raises ValueError."""
    found = _SENTENCE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not like: alice may READ topic orders")
    kind = "cluster" if found["cluster"] else (found["every"] or found["kind"]).lower()
    name = CLUSTER_NAME if found["cluster"] else "*" if found["every"] else found["name"]
    pattern = LITERAL
    if found["many"]:
        if not name.endswith("*"):
            raise ValueError(f"{text!r}: {kind}s are a pattern, as {kind}s {name}*")
        name, pattern = name.removesuffix("*"), PREFIXED
    return [
        Acl(
            principal(found["who"]),
            DENY if found["not"] else ALLOW,
            operation(each),
            RESOURCES[kind],
            pattern,
            name,
            found["host"] or ANY_HOST,
        )
        for each in re.split(r"[,\s]+(?:and\s+)?", found["operations"].strip())
    ]


def principal(text: str) -> str:
    """With its type, which is User if none is given."""
    if text.lower() in ("everyone", "*"):
        return EVERYONE
    return text if ":" in text else f"User:{text}"


def operation(text: str) -> int:
    """By its name, as Kafka's tools write it (`DescribeConfigs`) or as here. Raises ValueError."""
    from difflib import get_close_matches

    name = text if text.isupper() else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).upper()
    if name not in OPERATIONS:
        close = get_close_matches(name, OPERATIONS, 1)
        hint = f"is {close[0]} meant?" if close else ", ".join(OPERATIONS)
        raise ValueError(f"there is no operation {text!r}: {hint}")
    return OPERATIONS[name]

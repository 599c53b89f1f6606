"""`odradek acls`: who may do what: list, add, remove; as sentences, or with kafka-acls' options.

odradek acls localhost:9092
odradek acls localhost:9092 list --topic orders
odradek acls localhost:9092 add 'alice may READ,DESCRIBE topic orders'
odradek acls localhost:9092 add 'bob may not WRITE topics orders-* from 10.0.0.7'
odradek acls localhost:9092 add --allow-principal User:alice --producer --topic orders
odradek acls localhost:9092 remove 'alice may READ topic orders'

What `list` prints is what `add` and `remove` read.

An ACL as a sentence, both ways: `alice may READ topic orders`.

    WHO may|may not OPERATION[,OPERATION] WHAT [from HOST]

WHO is a principal, whose type is User if none is given, or `everyone`. WHAT is `topic orders`,
`every topic`, `topics orders-*` (whose names begin so), the same of group, transactional-id, token
and user, or `the cluster`.

Source: KIP-11, KIP-290 (patterns).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import NamedTuple

from ....wire import Error
from ....wire.api.create_acls import CreateAclsRequest
from ....wire.api.delete_acls import DeleteAclsRequest
from ....wire.api.describe_acls import DescribeAclsRequest
from .aliases import add_action
from .client import Brokers, ConsoleError, check
from .confirm import add_yes, confirm
from .output import one_line
from .tables import add_json, print_json

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

    def as_object(self) -> dict[str, str]:
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


_ANY = 1  # of filters: resource type, pattern, operation, permission
_MATCH = 2
_NAMED = ("topic", "group", "transactional-id", "delegation-token", "user-principal")
_KIND_OF = {"delegation-token": "token", "user-principal": "user"}
_PATTERNS = {"literal": LITERAL, "prefixed": PREFIXED}
_PRODUCER = ("WRITE", "DESCRIBE", "CREATE")
_CONSUMER = ("READ", "DESCRIBE")
_NO_AUTHORIZER = (
    "the broker has no authorizer: everybody may do everything (authorizer.class.name is not set)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek acls ADDRESS`."""
    parser.set_defaults(json=False, principal=None, operation=[], **_no_resource())
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="without one: list them")
    listed = add_action(actions, "list", "those that match", "show", "describe")
    listed.add_argument("--principal", metavar="NAME", type=principal, help="only of this one")
    for each in (parser, listed):
        add_json(each)
    add = add_action(actions, "add", "entries", "create", "allow")
    remove = add_action(actions, "remove", "entries", "delete", "rm")
    for each in (listed, add, remove):
        _add_resource(each)
    for each in (add, remove):
        each.add_argument("sentence", nargs="*", type=_sentence, help="alice may READ topic orders")
        for name in ("allow", "deny"):
            each.add_argument(
                f"--{name}-principal",
                metavar="NAME",
                type=principal,
                action="append",
                default=[],
                help=f"whom to {name}; may be repeated",
            )
            each.add_argument(
                f"--{name}-host", metavar="IP", action="append", default=[], help="from where"
            )
        each.add_argument(
            "--producer", action="store_true", help=f"{', '.join(_PRODUCER)} of topics"
        )
        each.add_argument(
            "--consumer", action="store_true", help="READ and DESCRIBE of topics, READ of a group"
        )
        each.add_argument(
            "--idempotent", action="store_true", help="IDEMPOTENT_WRITE of the cluster"
        )
    add_yes(remove)


def _no_resource() -> dict[str, object]:
    empty: dict[str, object] = {name.replace("-", "_"): [] for name in _NAMED}
    return empty | {"cluster": False, "resource_pattern_type": None}


def _add_resource(parser: argparse.ArgumentParser) -> None:
    for name in _NAMED:
        parser.add_argument(
            f"--{name}", metavar="NAME", action="append", default=[], help="may be repeated"
        )
    parser.add_argument("--cluster", action="store_true", help="the cluster itself")
    parser.add_argument(
        "--resource-pattern-type",
        choices=(*_PATTERNS, "any", "match"),
        help="of the names: literal (the default), prefixed; of list any, match",
    )
    parser.add_argument(
        "--operation",
        metavar="NAME",
        type=_operation,
        action="append",
        default=[],
        help="READ, ...",
    )


def _sentence(text: str) -> list[Acl]:
    try:
        return read_sentence(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _operation(text: str) -> int:
    try:
        return operation(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    match options.action:
        case None | "list":
            for acl in _found(brokers, options):
                print_json(acl.as_object()) if options.json else print(one_line(str(acl)))
        case "add":
            _add(brokers, _given(options))
        case "remove":
            _remove(brokers, options)
    return 0


def _resources(options: argparse.Namespace) -> list[tuple[int, str]]:
    found = [
        (RESOURCES[_KIND_OF.get(kind, kind)], name)
        for kind in _NAMED
        for name in getattr(options, kind.replace("-", "_"))
    ]
    return found + [(RESOURCES["cluster"], CLUSTER_NAME)] * options.cluster


def _found(brokers: Brokers, options: argparse.Namespace) -> list[Acl]:
    patterns: dict[str, int] = {**_PATTERNS, "any": _ANY, "match": _MATCH}
    pattern = patterns[options.resource_pattern_type or "any"]
    wanted: list[tuple[int, str | None]] = [*_resources(options)] or [(_ANY, None)]
    found: set[Acl] = set()
    for kind, name in wanted:
        for number in options.operation or [_ANY]:
            request = DescribeAclsRequest(
                resource_type_filter=kind,
                resource_name_filter=name,
                pattern_type_filter=pattern,
                principal_filter=options.principal,
                host_filter=None,
                operation=number,
                permission_type=_ANY,
            )
            answer = brokers.ask(request)
            _check(answer.error_code, "acls", answer.error_message)
            for of in answer.resources:
                where = of.resource_type, of.pattern_type, of.resource_name
                found |= {
                    Acl(each.principal, each.permission_type, each.operation, *where, each.host)
                    for each in of.acls
                }
    return sorted(found, key=str)


def _given(options: argparse.Namespace) -> list[Acl]:
    """The entries of the sentences and of the options. Raises ConsoleError."""
    entries = [acl for sentence in options.sentence for acl in sentence]
    who = [(DENY, name, options.deny_host or [ANY_HOST]) for name in options.deny_principal]
    who += [(ALLOW, name, options.allow_host or [ANY_HOST]) for name in options.allow_principal]
    entries += [
        Acl(name, permission, number, kind, pattern, resource, host)
        for permission, name, hosts in who
        for number, kind, resource, pattern in _wanted(options)
        for host in hosts
    ]
    if not entries:
        raise ConsoleError("which? a sentence, or --allow-principal with --operation and --topic")
    return list(dict.fromkeys(entries))


def _wanted(options: argparse.Namespace) -> Iterator[tuple[int, int, str, int]]:
    """Operation and resource of each entry that the options name, as kafka-acls does it."""
    pattern = _PATTERNS.get(options.resource_pattern_type or "literal", LITERAL)
    cluster = RESOURCES["cluster"]
    if not (options.producer or options.consumer):
        for kind, name in _resources(options):
            for number in options.operation or [OPERATIONS["ALL"]]:
                yield number, kind, name, LITERAL if kind == cluster else pattern
    for is_asked, of, names in (
        (options.producer, "topic", _PRODUCER),
        (options.producer, "transactional-id", ("WRITE", "DESCRIBE")),
        (options.consumer, "topic", _CONSUMER),
        (options.consumer, "group", ("READ",)),
    ):
        for resource in getattr(options, of.replace("-", "_")) if is_asked else ():
            for each in names:
                yield OPERATIONS[each], RESOURCES[of], resource, pattern
    if options.idempotent:
        yield OPERATIONS["IDEMPOTENT_WRITE"], cluster, CLUSTER_NAME, LITERAL


def _add(brokers: Brokers, entries: list[Acl]) -> None:
    creations = [
        CreateAclsRequest.Creation(
            resource_type=each.resource,
            resource_name=each.name,
            resource_pattern_type=each.pattern,
            principal=each.principal,
            host=each.host,
            operation=each.operation,
            permission_type=each.permission,
        )
        for each in entries
    ]
    answer = brokers.ask_controller(CreateAclsRequest(creations=creations))
    for entry, result in zip(entries, answer.results, strict=True):
        _check(result.error_code, str(entry), result.error_message)
        print(one_line(f"added: {entry}"))
    brokers.until(lambda: set(entries) <= set(_all(brokers)), "they are not in force yet")


def _remove(brokers: Brokers, options: argparse.Namespace) -> None:
    entries = _given(options)
    there = set(_all(brokers))
    if missing := [each for each in entries if each not in there]:
        raise ConsoleError(f"there is no such entry: {missing[0]}")
    confirm(options, f"remove: {'; '.join(map(str, entries))}")
    filters = [
        DeleteAclsRequest.Filter(
            resource_type_filter=each.resource,
            resource_name_filter=each.name,
            pattern_type_filter=each.pattern,
            principal_filter=each.principal,
            host_filter=each.host,
            operation=each.operation,
            permission_type=each.permission,
        )
        for each in entries
    ]
    answer = brokers.ask_controller(DeleteAclsRequest(filters=filters))
    for entry, result in zip(entries, answer.filter_results, strict=True):
        _check(result.error_code, str(entry), result.error_message)
        print(one_line(f"removed: {entry}"))
    brokers.until(lambda: not set(entries) & set(_all(brokers)), "they are still in force")


def _all(brokers: Brokers) -> list[Acl]:
    options = argparse.Namespace(principal=None, operation=[], **_no_resource())
    return _found(brokers, options)


def _check(code: int, what: str, message: str | None) -> None:
    if code == Error.SECURITY_DISABLED:
        raise ConsoleError(_NO_AUTHORIZER)
    check(code, what, message)

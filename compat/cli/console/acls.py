"""`odradek acls`: who may do what: list, add, remove; as sentences, or with kafka-acls' options.

odradek acls localhost:9092
odradek acls localhost:9092 list --topic orders
odradek acls localhost:9092 add 'alice may READ,DESCRIBE topic orders'
odradek acls localhost:9092 add 'bob may not WRITE topics orders-* from 10.0.0.7'
odradek acls localhost:9092 add --allow-principal User:alice --producer --topic orders
odradek acls localhost:9092 remove 'alice may READ topic orders'

What `list` prints is what `add` and `remove` read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ....wire import Error
from ....wire.api.create_acls import CreateAclsRequest
from ....wire.api.delete_acls import DeleteAclsRequest
from ....wire.api.describe_acls import DescribeAclsRequest
from .acl_sentences import (
    ALLOW,
    ANY_HOST,
    CLUSTER_NAME,
    DENY,
    LITERAL,
    OPERATIONS,
    PREFIXED,
    RESOURCES,
    Acl,
    operation,
    principal,
    read_sentence,
)
from .asking import add_yes, confirm
from .client import Brokers, ConsoleError, check
from .escapes import one_line
from .habits import add_action
from .tables import add_json, print_json

_ANY = 1  # of filters: resource type, pattern, operation, permission
_MATCH = 2
_NAMED = ("topic", "group", "transactional-id", "delegation-token", "user-principal")
_KINDS = {"delegation-token": "token", "user-principal": "user"}
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


def run(brokers: Brokers, asked: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    match asked.action:
        case None | "list":
            for acl in _found(brokers, asked):
                print_json(acl.told()) if asked.json else print(one_line(str(acl)))
        case "add":
            _add(brokers, _given(asked))
        case "remove":
            _remove(brokers, asked)
    return 0


def _resources(asked: argparse.Namespace) -> list[tuple[int, str]]:
    """Type and name of each resource that was named."""
    found = [
        (RESOURCES[_KINDS.get(kind, kind)], name)
        for kind in _NAMED
        for name in getattr(asked, kind.replace("-", "_"))
    ]
    return found + [(RESOURCES["cluster"], CLUSTER_NAME)] * asked.cluster


def _found(brokers: Brokers, asked: argparse.Namespace) -> list[Acl]:
    """The entries that match."""
    patterns: dict[str, int] = {**_PATTERNS, "any": _ANY, "match": _MATCH}
    pattern = patterns[asked.resource_pattern_type or "any"]
    wanted: list[tuple[int, str | None]] = [*_resources(asked)] or [(_ANY, None)]
    found: set[Acl] = set()
    for kind, name in wanted:
        for number in asked.operation or [_ANY]:
            request = DescribeAclsRequest(
                resource_type_filter=kind,
                resource_name_filter=name,
                pattern_type_filter=pattern,
                principal_filter=asked.principal,
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


def _given(asked: argparse.Namespace) -> list[Acl]:
    """The entries of the sentences and of the options. Raises ConsoleError."""
    entries = [acl for sentence in asked.sentence for acl in sentence]
    who = [(DENY, name, asked.deny_host or [ANY_HOST]) for name in asked.deny_principal]
    who += [(ALLOW, name, asked.allow_host or [ANY_HOST]) for name in asked.allow_principal]
    entries += [
        Acl(name, permission, number, kind, pattern, resource, host)
        for permission, name, hosts in who
        for number, kind, resource, pattern in _wanted(asked)
        for host in hosts
    ]
    if not entries:
        raise ConsoleError("which? a sentence, or --allow-principal with --operation and --topic")
    return list(dict.fromkeys(entries))


def _wanted(asked: argparse.Namespace) -> Iterator[tuple[int, int, str, int]]:
    """Operation and resource of each entry that the options name, as kafka-acls does it."""
    pattern = _PATTERNS.get(asked.resource_pattern_type or "literal", LITERAL)
    cluster = RESOURCES["cluster"]
    if not (asked.producer or asked.consumer):
        for kind, name in _resources(asked):
            for number in asked.operation or [OPERATIONS["ALL"]]:
                yield number, kind, name, LITERAL if kind == cluster else pattern
    for is_asked, of, names in (
        (asked.producer, "topic", _PRODUCER),
        (asked.producer, "transactional-id", ("WRITE", "DESCRIBE")),
        (asked.consumer, "topic", _CONSUMER),
        (asked.consumer, "group", ("READ",)),
    ):
        for resource in getattr(asked, of.replace("-", "_")) if is_asked else ():
            for each in names:
                yield OPERATIONS[each], RESOURCES[of], resource, pattern
    if asked.idempotent:
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


def _remove(brokers: Brokers, asked: argparse.Namespace) -> None:
    entries = _given(asked)
    there = set(_all(brokers))
    if missing := [each for each in entries if each not in there]:
        raise ConsoleError(f"there is no such entry: {missing[0]}")
    confirm(asked, f"remove: {'; '.join(map(str, entries))}")
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
    asked = argparse.Namespace(principal=None, operation=[], **_no_resource())
    return _found(brokers, asked)


def _check(code: int, what: str, message: str | None) -> None:
    if code == Error.SECURITY_DISABLED:
        raise ConsoleError(_NO_AUTHORIZER)
    check(code, what, message)

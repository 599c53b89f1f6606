"""`odradek quotas`: how much clients may send, fetch and ask for: list, set, remove.

odradek quotas localhost:9092
odradek quotas localhost:9092 set --user alice producer_byte_rate=1000000
odradek quotas localhost:9092 set --user --client-id app consumer_byte_rate=500000
odradek quotas localhost:9092 remove --user alice producer_byte_rate
odradek quotas localhost:9092 remove --user alice                 all of that entity

`--user`, `--client-id` and `--ip` without a name mean the default: everybody who has no quota of
their own. Bytes are a second; request_percentage is of one thread of the broker (KIP-13, KIP-124,
KIP-546, KIP-612).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from ....wire.api.alter_client_quotas import AlterClientQuotasRequest
from ....wire.api.describe_client_quotas import DescribeClientQuotasRequest
from .aliases import add_action
from .arguments import setting
from .client import Brokers, ConsoleError, check, likely
from .confirm import add_yes, confirm
from .tables import add_json, print_json, print_table

KEYS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)
_TYPES = ("user", "client-id", "ip")
_DEFAULT = ""  # of the options: a name cannot be empty
_EXACT, _IS_DEFAULT, _ANY = 0, 1, 2

Entity = tuple[tuple[str, str | None], ...]
"""Types and names in the order of _TYPES; a name is None for the default."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek quotas ADDRESS`."""
    parser.set_defaults(json=False, **dict.fromkeys(_dests()))
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="without one: list them")
    listed = add_action(actions, "list", "those that match", "show", "describe")
    for each in (parser, listed):
        add_json(each)
    put = add_action(actions, "set", "quotas of an entity", "add", "alter")
    put.add_argument("quota", nargs="+", type=_quota, metavar="NAME=NUMBER", help=", ".join(KEYS))
    remove = add_action(actions, "remove", "quotas of an entity; without names all", "delete", "rm")
    remove.add_argument("name", nargs="*", type=_key, metavar="NAME", help="which ones")
    for each in (listed, put, remove):
        for kind in _TYPES:
            each.add_argument(
                f"--{kind}",
                nargs="?",
                const=_DEFAULT,
                metavar="NAME",
                help="without a name: the default",
            )
    add_yes(remove)


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    entity = _entity(options)
    match options.action:
        case None | "list":
            _list(brokers, entity, as_json=options.json)
        case "set":
            _alter(brokers, _needed(entity), options.quota)
        case "remove":
            _remove(brokers, _needed(entity), options)
    return 0


def _dests() -> Iterable[str]:
    return (kind.replace("-", "_") for kind in _TYPES)


def _key(text: str) -> str:
    if text not in KEYS:
        raise argparse.ArgumentTypeError(
            f"there is no quota {text!r}{likely(text, KEYS) or ': ' + ', '.join(KEYS)}"
        )
    return text


def _quota(text: str) -> tuple[str, float]:
    name, value = setting(text)
    try:
        number = float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{name} is a number, not {value!r}") from None
    return _key(name), number


def _entity(options: argparse.Namespace) -> Entity:
    given = zip(_TYPES, (getattr(options, dest) for dest in _dests()), strict=True)
    return tuple((kind, name or None) for kind, name in given if name is not None)


def _needed(entity: Entity) -> Entity:
    if not entity:
        raise ConsoleError("of whom? --user, --client-id or --ip, with a name or without")
    return entity


def _called(entity: Entity) -> str:
    return ", ".join(f"{kind} {name}" if name else f"any other {kind}" for kind, name in entity)


def _found(brokers: Brokers, entity: Entity) -> list[tuple[Entity, dict[str, float]]]:
    """The entities that match, with their quotas. Raises ConsoleError."""
    component = DescribeClientQuotasRequest.Component
    components = [
        component(entity_type=kind, match_type=_EXACT if name else _IS_DEFAULT, match=name)
        for kind, name in entity
    ]
    request = DescribeClientQuotasRequest(components=components, strict=False)
    answer = brokers.ask(request)
    check(answer.error_code, "quotas", answer.error_message)
    found = []
    for entry in answer.entries or []:
        names = {each.entity_type: each.entity_name for each in entry.entity}
        who = tuple((kind, names[kind]) for kind in _TYPES if kind in names)
        found.append((who, {each.key: each.value for each in entry.values}))
    return sorted(found, key=lambda each: [(kind, name or "") for kind, name in each[0]])


def _list(brokers: Brokers, entity: Entity, *, as_json: bool) -> None:
    found = _found(brokers, entity)
    if as_json:
        for who, quotas in found:
            print_json({"entity": dict(who), "quotas": dict(sorted(quotas.items()))})
        return
    rows = [
        [_called(who), key, _number(value)]
        for who, quotas in found
        for key, value in sorted(quotas.items())
    ]
    print_table(["whose", "quota", "at most"], rows)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value}"


def _remove(brokers: Brokers, entity: Entity, options: argparse.Namespace) -> None:
    own = next((quotas for who, quotas in _found(brokers, entity) if who == entity), {})
    missing = [name for name in options.name if name not in own]
    if missing or not own:
        raise ConsoleError(
            f"{_called(entity)} has no quota{' ' if missing else ''}{''.join(missing[:1])}"
        )
    names = options.name or sorted(own)
    confirm(options, f"remove {', '.join(names)} of {_called(entity)}")
    _alter(brokers, entity, [(name, None) for name in names])


def _alter(brokers: Brokers, entity: Entity, quotas: Sequence[tuple[str, float | None]]) -> None:
    made = AlterClientQuotasRequest.Entry
    entry = made(
        entity=[made.Entity(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[made.Op(key=key, value=value or 0.0, remove=value is None) for key, value in quotas],
    )
    request = AlterClientQuotasRequest(entries=[entry], validate_only=False)
    answer: Any = brokers.ask_controller(request)
    for each in answer.entries:
        check(each.error_code, f"quotas of {_called(entity)}", each.error_message)
    wanted = dict(quotas)
    brokers.until(lambda: _is_so(brokers, entity, wanted), "the quotas are not in force yet")
    for key, value in quotas:
        outcome = "removed" if value is None else f"at most {_number(value)}"
        print(f"{_called(entity)}: {key} {outcome}")


def _is_so(brokers: Brokers, entity: Entity, wanted: dict[str, float | None]) -> bool:
    """A broker follows the controller a moment later."""
    own = next((quotas for who, quotas in _found(brokers, entity) if who == entity), {})
    return all(own.get(key) == value for key, value in wanted.items())

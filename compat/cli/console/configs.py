"""`odradek configs`: the configs of a topic, a broker or a group, and their sources; change them.

odradek configs localhost:9092 topic orders                 what was set
odradek configs localhost:9092 topic orders --all           everything, with its source
odradek configs localhost:9092 topic orders --set retention.ms=60000 --unset segment.ms
odradek configs localhost:9092 broker 1 --all
odradek configs localhost:9092 broker --set log.retention.ms=60000     (all brokers)
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from ....wire.api.describe_configs import DescribeConfigsRequest
from ....wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from .arguments import named, setting
from .client import Brokers, check
from .tables import print_rows

TOPIC = 2
BROKER = 4
GROUP = 32
KINDS = {"topic": TOPIC, "broker": BROKER, "group": GROUP}

_SET = 0
_UNSET = 1
_SOURCES = {
    1: "topic",
    2: "broker",
    3: "all brokers",
    4: "server.properties",
    5: "default",
    6: "logger",
    7: "client metrics",
    8: "group",
}
# Sources of what was set for just this resource (or, in v0, is not a default).
_OWN_SOURCES = {TOPIC: (1,), BROKER: (2, 3), GROUP: (8,)}
_SENSITIVE = "(hidden)"
_SETTLES_S = 2.0
_RETRY_S = 0.05


@dataclass(frozen=True)
class Config:
    """One config of a resource: its value, the source of that, whether it was set there."""

    name: str
    value: str
    source: str
    is_set: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek configs ADDRESS`."""
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    topic = kinds.add_parser("topic", help="of a topic")
    topic.add_argument("name", help="its name")
    broker = kinds.add_parser("broker", help="of a broker, or of all brokers")
    broker.add_argument("name", nargs="?", default="", help="its id (default: all brokers)")
    group = kinds.add_parser("group", help="of a group")
    group.add_argument("name", help="its name")
    for each in (topic, broker, group):
        each.add_argument("--all", action="store_true", help="show defaults too")
        each.add_argument("--json", action="store_true", help="one JSON object a line")
        each.add_argument(
            "-c",
            "--set",
            "--add-config",
            metavar="CONFIG=VALUE",
            action="append",
            default=[],
            type=setting,
            help="set a config; may be repeated",
        )
        each.add_argument(
            "--unset",
            "--delete-config",
            metavar="CONFIG",
            action="append",
            default=[],
            type=named,
            help="go back to the default; may be repeated",
        )


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    kind = KINDS[options.kind]
    if options.set or options.unset:
        _alter(brokers, kind, options.name, options.set, options.unset)
        changed = {key: True for key, _ in options.set}
        _settled(brokers, kind, options.name, changed | dict.fromkeys(options.unset, False))
    configs = read_configs(brokers, kind, options.name)
    shown = [config for config in configs if options.all or config.is_set]
    if shown or options.json:
        rows = [[config.name, config.value, config.source] for config in shown]
        print_rows(["config", "value", "source"], rows, as_json=options.json)
    else:
        print(f"nothing is set for {_called(kind, options.name)}; --all shows defaults")
    return 0


def read_configs(brokers: Brokers, kind: int, name: str) -> list[Config]:
    """All configs of a resource, by name. Raises ConsoleError."""
    resource = DescribeConfigsRequest.Resource(
        resource_type=kind, resource_name=name, configuration_keys=None
    )
    request = DescribeConfigsRequest(resources=[resource])
    (result,) = brokers.ask(request, node=_node(kind, name)).results
    check(result.error_code, _called(kind, name), result.error_message)
    return sorted(
        (
            Config(
                config.name,
                _SENSITIVE if config.is_sensitive else config.value or "",
                _SOURCES.get(config.config_source, "" if config.is_default else "set"),
                config.config_source in _OWN_SOURCES[kind],
            )
            for config in result.configs
        ),
        key=lambda config: config.name,
    )


def _alter(
    brokers: Brokers, kind: int, name: str, to_set: list[tuple[str, str]], to_unset: list[str]
) -> None:
    config = IncrementalAlterConfigsRequest.Resource.Config
    changes = [config(name=key, config_operation=_SET, value=value) for key, value in to_set]
    changes += [config(name=key, config_operation=_UNSET, value=None) for key in to_unset]
    resource = IncrementalAlterConfigsRequest.Resource(
        resource_type=kind, resource_name=name, configs=changes
    )
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    (result,) = brokers.ask(request, node=_node(kind, name)).responses
    names = [key for key, _ in to_set] + to_unset
    check(result.error_code, _called(kind, name), with_likely(result.error_message, names))


def with_likely(message: str | None, names: Iterable[str]) -> str | None:
    """A broker's message about configs, with the likely name of one of a topic that there is
    not."""
    from ....emulator.config.configs import BrokerConfig, ConfigError  # much, and seldom needed

    if message is None or "Unknown topic config name" not in message:
        return message
    try:
        BrokerConfig({}).check_topic_names(names)
    except ConfigError as error:
        _, semicolon, hint = str(error).partition("; ")
        return message + semicolon + hint
    return message


def _settled(brokers: Brokers, kind: int, name: str, changed: dict[str, bool]) -> None:
    """Wait until the changes are visible: a broker follows the controller a moment later."""
    deadline = time.monotonic() + _SETTLES_S
    while time.monotonic() < deadline:
        found = {config.name: config.is_set for config in read_configs(brokers, kind, name)}
        if all(found.get(key, False) == is_set for key, is_set in changed.items()):
            return
        time.sleep(_RETRY_S)


def _called(kind: int, name: str) -> str:
    if kind == BROKER and not name:
        return "all brokers"
    return f"{next(word for word, number in KINDS.items() if number == kind)} {name}"


def _node(kind: int, name: str) -> int | None:
    """The configs of a broker are read and changed at that broker only."""
    return int(name) if kind == BROKER and re.fullmatch("[0-9]{1,9}", name) else None

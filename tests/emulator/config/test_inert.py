"""Which configs act: each is read by some module, or stands on the list of those that do not act.

The test looks at the source: a config acts where a module names it, in full or by a pattern like
`f"{prefix}.num.partitions"`; a broker config that gives a topic or a group its default acts where
that one's does.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import odradek.emulator
from odradek.emulator.config.broker_table import broker_definitions
from odradek.emulator.config.group import group_definitions
from odradek.emulator.config.inert import (
    inert_broker_configs,
    inert_group_configs,
    inert_topic_configs,
    page,
)
from odradek.emulator.config.topic_table import topic_definitions
from odradek.emulator.groups.consumer.calls import ConsumerCalls
from odradek.emulator.groups.share.calls import ShareCalls
from odradek.emulator.groups.streams.calls import StreamsCalls

# These say what configs there are, and what values they may have; nobody obeys them there.
TABLES = {
    "config/broker_rules.py",
    "config/broker_table.py",
    "config/configs.py",
    "metadata/config_changes.py",
    "config/rows.py",
    "config/topic_table.py",
    "config/group.py",
    "cli/serving/properties.py",
    "handlers/describe_configs.py",
    "config/inert.py",
    "client_security/settings.py",  # of clients
}
# Follow from the start and are passed on as something else than a config; or give another one its
# default; or are bounds of what a group may have.
OTHERWISE = {
    "advertised.listeners",
    "broker.id",
    "log.dirs",
    "node.id",
    "process.roles",
}


@cache
def source() -> str:
    home = Path(odradek.emulator.__file__).parent
    files = [path for path in home.rglob("*.py") if str(path.relative_to(home)) not in TABLES]
    return "\n".join(path.read_text() for path in sorted(files))


@cache
def names_read() -> set[str]:
    """The names in `get("...")`, where a text or a listener's own value is looked up, and in the
    tables of what is read at once."""
    tables = "".join(re.findall(r"^_CONFIGS = \(([^)]*)\)", source(), re.M))
    found = re.findall(r'(?:get|own|_of)\(\s*"([a-z0-9._]+)"', source())
    return {*found, *re.findall(r'"([a-z0-9._]+)"', tables), *times_read()}


def times_read() -> set[str]:
    """What `times_of` reads of each type of groups: the names that all have, and its own."""
    (of_all,) = re.findall(r"names = \(([^)]*), \*own\)", source())
    names = re.findall(r'"([a-z0-9._]+)"', of_all)
    return {
        f"{calls.group_class.type_name}.{name}"
        for calls in (ConsumerCalls, ShareCalls, StreamsCalls)
        for name in (*names, *calls.own_times)
    }


@cache
def patterns() -> list[re.Pattern[str]]:
    """The names that are put together of parts."""
    found = set(re.findall(r'get\(\s*f"([a-z0-9._{}]+)"', source()))
    return [re.compile(re.sub(r"\\{[^}]*}", ".+", re.escape(each))) for each in found]


def is_read(name: str) -> bool:
    return name in names_read() or any(each.fullmatch(name) for each in patterns())


def test_every_topic_config_is_read_or_inert() -> None:
    home = Path(odradek.emulator.__file__).parent
    read = (home / "config/configs.py").read_text()
    for name in topic_definitions():
        assert (f'"{name}"' in read.split("class TopicConfig")[1].split("def parse_topic")[0]) != (
            name in inert_topic_configs()
        ), name


def test_every_group_config_is_read_or_inert() -> None:
    for name in group_definitions():
        assert is_read(name) != (name in inert_group_configs()), name


def test_every_broker_config_acts_or_is_inert() -> None:
    by_topics = {
        broker.name
        for row in topic_definitions().values()
        for broker in row.brokers
        if not row.reason
    }
    by_groups = {
        broker.name
        for row in group_definitions().values()
        for broker in row.brokers
        if not row.reason
    }
    bounds = {name for name in broker_definitions() if re.match(r"group\.\w+\.(min|max)\.", name)}
    both, neither = [], []
    for name in broker_definitions():
        acts = (
            is_read(name)
            or name in by_topics
            or name in OTHERWISE
            or name in by_groups
            or name in bounds
        )
        if acts and name in inert_broker_configs():
            both.append(name)
        elif not acts and name not in inert_broker_configs():
            neither.append(name)
    assert (both, neither) == ([], [])


def test_the_page_names_each_inert_config_once() -> None:
    names = [line.strip() for line in page().splitlines() if line.startswith("    ")]
    assert sorted(names) == sorted(
        [*inert_topic_configs(), *inert_group_configs(), *inert_broker_configs()]
    )

"""`odradek versions`: the releases of Kafka that can be emulated, and what changed between two.

    odradek versions                          # every release, in a line
    odradek versions 2.7                      # one: APIs, features, and what it does otherwise
    odradek versions --from 2.7 --to 4.0      # what an upgrade changes for clients and operators

It reads the tables of `emulator/releases/`, which running brokers of those releases have filled.
"""

from __future__ import annotations

import argparse
import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from itertools import pairwise
from typing import Any

from ...emulator.base import release as release_module
from ...emulator.base.release import KAFKA_4_3, Range, Release, release_named, releases
from ...emulator.config.definition import Definition
from ...emulator.config.release_tables import config_tables
from ...emulator.releases.tables import NEWEST, table
from ...wire.api import API_MODULES, api_name
from .console.output import fail, with_output

_NEWEST_ASKED = "4.3.1"
_OF_BROKERS = {
    4: "LeaderAndIsr",
    5: "StopReplica",
    6: "UpdateMetadata",
    7: "ControlledShutdown",
    56: "AlterPartition",
}
"""APIs between brokers, which releases without KRaft advertise, too."""
_FORMATS = ((2, "0, 1, 2"), (1, "0, 1"), (0, "0"))
_PRODUCE, _FETCH = 0, 1
_UPDATE_FEATURES = 57
_OF_FEATURES = {
    "updates_features_one_by_one",
    "unknown_features_have_level_0",
    "names_both_levels_of_a_downgrade",
}
"""Capabilities that say something of releases that have UpdateFeatures."""
_OF_KRAFT = {"records_zookeeper_migration", "quorum_keeps_kraft_version"}


def add_versions(commands: Any) -> None:
    """Add the sub-command to argparse's subparsers."""
    summary = "the releases of Kafka that can be emulated, and what changed between two"
    parser: argparse.ArgumentParser = commands.add_parser(
        "versions",
        help=summary,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("release", nargs="?", metavar="RELEASE", help="one release, as 2.7")
    parser.add_argument("--from", dest="older", metavar="RELEASE", help="the release before")
    parser.add_argument("--to", dest="newer", metavar="RELEASE", help=f"the one after ({NEWEST})")


def run_versions(options: argparse.Namespace) -> int:
    try:
        if options.older or options.newer:
            older, newer = (
                release_named(each or NEWEST) for each in (options.older, options.newer)
            )
            lines = changes(older, newer)
        elif options.release:
            lines = described(release_named(options.release))
        else:
            lines = overview()
    except ValueError as error:
        return fail(str(error), 2)
    return with_output(lambda: print("\n".join(lines)) or 0)


def overview() -> list[str]:
    """A line for each release, the newest first."""
    rows = [("release", "asked", "metadata", "APIs", "Produce", "Fetch", "magic", "levels")]
    for each in releases():
        level = each.features.get("metadata.version")
        rows.append(
            (
                each.name,
                _NEWEST_ASKED if each is KAFKA_4_3 else table(each.name).version,
                "KRaft" if each.has_kraft else "ZooKeeper",
                str(len(each.advertised)),
                span(_answered(each, _PRODUCE)),
                span(_answered(each, _FETCH)),
                _magic(each),
                span(level) if level else "-",
            )
        )
    return _columns(rows)


def described(release: Release) -> list[str]:
    """One release: its APIs and features, and what it does otherwise than the newest."""
    rows = [(name_of(key), str(key), span(v)) for key, v in release.advertised.items()]
    lines = [f"Kafka {release.name}", "", *_columns([("API", "key", "versions"), *rows])]
    if release.features:
        levels = [(name, span(levels)) for name, levels in release.features.items()]
        lines += ["", *_columns([("feature", "levels"), *levels])]
    other = [each for each in capabilities() if _differs(release, KAFKA_4_3, each)]
    lines += ["", f"Otherwise than Kafka {NEWEST}:" if other else f"The newest: {NEWEST}."]
    return [*lines, *(f"  {_said(release, each)}" for each in other)]


def changes(older: Release, newer: Release) -> list[str]:
    lines = [f"From Kafka {older.name} to {newer.name}"]
    for title, found in (
        ("APIs", list(_ranges(older.advertised, newer.advertised, name_of))),
        ("Features", list(_ranges(older.features, newer.features, str))),
        (
            "Behaviour",
            [_said(newer, c) for c in capabilities() if _differs(newer, older, c)],
        ),
        ("Configs of brokers", list(_configs(_of_brokers(older), _of_brokers(newer)))),
        ("Configs of topics", list(_configs(_of_topics(older), _of_topics(newer)))),
    ):
        if found:
            lines += ["", title, *(f"  {each}" for each in found)]
    return lines if len(lines) > 1 else [*lines, "", "Nothing that clients can tell."]


def name_of(key: int) -> str:
    return api_name(key) if key in API_MODULES else _OF_BROKERS.get(key, f"API {key}")


def span(versions: Range | None) -> str:
    """A range of versions: "3", "0-11"; "-" for none."""
    if versions is None:
        return "-"
    first, last = versions
    return str(first) if first == last else f"{first}-{last}"


@cache
def capabilities() -> Mapping[str, str]:
    """Every capability of a release and the sentence that says what it is, in the source."""
    source = ast.parse(inspect.getsource(release_module))
    body = next(n for n in source.body if isinstance(n, ast.ClassDef) and n.name == "Release").body
    words = {
        before.target.id: " ".join(after.value.value.split())
        for before, after in pairwise(body)
        if isinstance(before, ast.AnnAssign)
        and isinstance(before.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }
    names = [field.name for field in fields(Release) if field.type == "bool"]
    return {name: words.get(name, name) for name in names}


def _has(release: Release, capability: str) -> bool:
    return bool(getattr(release, capability))


def _differs(release: Release, other: Release, capability: str) -> bool:
    """Whether a release has a capability otherwise than another, and what it is about at all."""
    if capability in _OF_FEATURES and _UPDATE_FEATURES not in release.advertised:
        return False
    if capability in _OF_KRAFT and not release.has_kraft:
        return False
    return _has(release, capability) != _has(other, capability)


def _said(release: Release, capability: str) -> str:
    return f"{'yes' if _has(release, capability) else 'no '}  {capabilities()[capability]}"


def _answered(release: Release, key: int) -> Range | None:
    versions = [version for version in range(64) if release.serves(key, version)]
    return (versions[0], versions[-1]) if versions else None


def _magic(release: Release) -> str:
    first, last = _answered(release, _PRODUCE) or (0, 0)
    if first >= 3:
        return "2"
    return next(text for magic, text in _FORMATS if last >= (3, 2, 0)[2 - magic])


def _ranges(older: Mapping[Any, Range], newer: Mapping[Any, Range], name: Any) -> Iterator[str]:
    for key in sorted(older.keys() | newer.keys(), key=lambda key: (isinstance(key, str), key)):
        before, after = older.get(key), newer.get(key)
        if before is None:
            yield f"new   {name(key)} {span(after)}"
        elif after is None:
            yield f"gone  {name(key)} {span(before)}"
        elif before != after:
            yield f"      {name(key)} {span(before)} -> {span(after)}"


def _of_brokers(release: Release) -> dict[str, Definition]:
    tables = config_tables(release)
    return {n: row for n, row in tables.broker.items() if tables.is_settable(n)}


def _of_topics(release: Release) -> dict[str, Definition]:
    return config_tables(release).topic


def _configs(older: Mapping[str, Definition], newer: Mapping[str, Definition]) -> Iterator[str]:
    for name in sorted(older.keys() | newer.keys()):
        before, after = older.get(name), newer.get(name)
        if before is None and after is not None:
            yield f"new   {name} = {_default(after)}"
        elif before is not None and after is None:
            yield f"gone  {name}"
        elif before is not None and after is not None and _default(before) != _default(after):
            yield f"      {name} = {_default(before)} -> {_default(after)}"


def _default(row: Definition) -> str:
    return {None: "null", "": '""'}.get(row.default_text, row.default_text or "")


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)) for row in rows)
    return [line.rstrip() for line in lines]

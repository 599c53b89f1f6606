"""The configs that are kept, judged and shown, and that nothing here obeys; each with the reason.

`python -m odradek.compat.cli.inert_configs` prints them. Their rows name the reason by its key. A
test holds the tables against the source: every config either has a reason or is read somewhere, and
none does both. So what begins to obey a config has to remove the reason from its row.
"""

from __future__ import annotations

from collections.abc import Mapping

from .broker_table import broker_definitions
from .definition import Definition
from .group import group_definitions
from .topic_table import topic_definitions

REASONS = {
    "one-thread": "one thread serves everything",
    "no-queues": "requests do not queue up between threads",
    "one-process": "there are no connections between brokers",
    "shared-data": "the brokers share their data: nothing is copied",
    "no-tiers": "there is no tiered storage",
    "plaintext": "the listener speaks plain text",
    "given-address": "it follows from the address that the emulator is started with",
    "no-classes": "no classes are loaded",
    "no-metrics": "there are no metrics",
    "no-throttling": "nothing is throttled",
    "os-sockets": "sockets are the operating system's",
    "no-purgatory": "requests are parked in no purgatory",
    "no-telemetry": "clients are not asked for metrics",
    "one-directory": "there is one data directory, and it does not fail over",
    "written-at-once": "log starts are written when they move",
    "growing-files": "files grow as they are written",
    "frugal-cleaner": "the cleaner takes no more than it needs",
    "coordinators": "coordinators write at once, and load at once",
    "uncompressed": "their records are not compressed",
    "no-two-phase-commit": "there is no two-phase commit",
    "no-unstable": "there are no unstable versions",
}


def inert_broker_configs() -> dict[str, str]:
    return _inert(broker_definitions())


def inert_topic_configs() -> dict[str, str]:
    return _inert(topic_definitions())


def inert_group_configs() -> dict[str, str]:
    return _inert(group_definitions())


def _inert(definitions: Mapping[str, Definition]) -> dict[str, str]:
    rows = sorted(definitions.items())
    return {name: REASONS[row.reason] for name, row in rows if row.reason}


def page() -> str:
    lines = []
    for title, found in (
        ("Topics", inert_topic_configs()),
        ("Groups", inert_group_configs()),
        ("Brokers", inert_broker_configs()),
    ):
        lines += [title, ""]
        for reason in dict.fromkeys(found.values()):
            lines.append(f"  {reason}:")
            lines += [f"    {name}" for name, why in found.items() if why == reason]
        lines.append("")
    return "\n".join(lines)

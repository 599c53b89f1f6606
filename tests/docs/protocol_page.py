"""docs/protocol.md, made from the source: `python -m tests.docs.protocol_page` writes it.

Which APIs are served, in which versions, beside those that Kafka serves; and what each leaves out,
in the words of its handler's docstring ("Not emulated: ...").
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from odradek.emulator.base.release import KAFKA_4_3, Range, Release
from odradek.emulator.handlers.registry import SERVED
from odradek.wire.api import API_MODULES, api_name

from tests.support.releases import KAFKA_3_9

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"
HEAD = """\
# The protocol: APIs and versions

Odradek serves the requests that clients and tools send to brokers. Per release of Kafka the table
shows the versions that a real broker of that release advertises (read off running brokers) and
those that Odradek serves when it emulates that release: `Emulator(version="3.9")`,
`odradek serve --kafka-version 3.9`. An API that is not served is not advertised either, so clients
know that it is not there.

`python -m odradek.wire NAME VERSION` prints the fields of any request and response.

This page is made from the source by `python -m tests.docs.protocol_page`; a test compares the two.
"""


def span(versions: Range | None) -> str:
    if versions is None:
        return "-"
    first, last = versions
    return str(first) if first == last else f"{first}-{last}"


def served(release: Release, key: int) -> Range | None:
    """The versions in which Odradek answers, as a release."""
    if key not in SERVED:
        return None
    answered = [version for version in range(64) if release.serves(key, version)]
    return (answered[0], answered[-1]) if answered else None


def versions_table() -> list[str]:
    releases = [KAFKA_4_3, KAFKA_3_9]
    head = ["API", "key"]
    for release in releases:
        head += [f"Kafka {release.name}", f"Odradek as {release.name}"]
    rows = [head, ["---"] * len(head)]
    for key in sorted({key for release in releases for key in release.advertised}):
        row = [api_name(key), str(key)]
        for release in releases:
            row += [span(release.advertised.get(key)), span(served(release, key))]
        rows.append(row)
    return ["| " + " | ".join(row) + " |" for row in rows]


def left_out(module: str) -> str | None:
    """What a handler's docstring says is not emulated, as one line."""
    doc = importlib.import_module(f"odradek.emulator.handlers.{module}").__doc__ or ""
    found = re.search(r"Not emulated: (.*?)(?=\n\s*\n|\n(?:Source|Left out)|\Z)", doc, re.DOTALL)
    return " ".join(found[1].split()) if found else None


def page() -> str:
    lines = [HEAD, *versions_table(), "", "## What a served API leaves out", ""]
    for key in sorted(SERVED):
        words = left_out(API_MODULES[key])
        if words is not None:
            lines.append(f"- **{api_name(key)}**: {words}")
    not_there = sorted({key for r in (KAFKA_4_3, KAFKA_3_9) for key in r.advertised} - set(SERVED))
    names = ", ".join(api_name(key) for key in not_there)
    lines += ["", "## Not served", "", names + "." if names else "Nothing.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())

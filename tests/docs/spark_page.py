"""docs/spark.md, by section: its blocks, and the commands in them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs/spark.md").read_text()
BEFORE = """\
from odradek.emulator import Emulator, NewRecord

directory, copy = {directory!r}, {copy!r}
kafka = Emulator({{"compression.type": "zstd", "log.retention.ms": "-1"}}, data_dir=directory)
kafka.start()
topic = kafka.create_topic("orders", partitions=3)
for n in range(300):
    topic.produce(b"order", b"%d" % n, partition=n % 3, timestamp=1767225600000 + n * 1000)
"""
AFTER = """\
spark.stop()
kafka.stop()
"""
"""Around the examples of `format("odradek")`: a broker whose directory they read."""


def section(heading: str) -> str:
    """What stands under a heading, `### load` or `load`, up to the next of its level."""
    found = re.search(
        rf"^(##+) {re.escape(heading)}\n(.*?)(?=^##|\Z)", TEXT, re.DOTALL | re.MULTILINE
    )
    assert found is not None, heading
    return found[2]


def blocks(heading: str, language: str) -> list[str]:
    """The blocks of one language in a section."""
    return re.findall(rf"^```{language}\n(.*?)^```", section(heading), re.DOTALL | re.MULTILINE)


def commands(heading: str) -> list[tuple[list[str], str]]:
    """Each `$ odradek ...` of a section as arguments, and what is shown of its output."""
    found = []
    for block in blocks(heading, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            program, *arguments = shlex.split(line)
            assert program == "odradek", line
            found.append((arguments, output))
    return found

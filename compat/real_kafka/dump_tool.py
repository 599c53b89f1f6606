"""Kafka's own DumpLogSegments over a data directory: what it prints, and what it complains about.

The rules:

- The tool's exit status is 0 whatever it finds. It complains in several ways: on standard error
  ("Mismatches in", "Non-consecutive offsets in" and their lines, after all files), on standard
  output (`isvalid: false`, bytes left over, a record that its decoder does not know), and by
  exceptions. `complaints` knows them all.
- Two complaints are ignored: of every log that does not begin at offset 0, Kafka's own too, the
  tool says that -1 is followed by its base; of a compacted log, that offsets are missing.
- Each file is looked at with the decoder of its topic. A `.checkpoint` of the metadata log counts
  as a log.

Left out: older versions of the tool, whose output differs. Source: Kafka 4.3.1's tool, run over
its own directories and over damaged ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ...storage.naming import renamed_suffix
from .tools import VERSION, run_tool

DUMP = "org.apache.kafka.tools.DumpLogSegments"
DUMPED = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint")
INDEXES = (".index", ".timeindex")
DECODERS = {
    "__consumer_offsets": "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__share_group_state": "--share-group-state-decoder",
    "__cluster_metadata": "--cluster-metadata-decoder",
}

_PAIR = re.compile(r"(\w+): (\S+)")
_GAP = re.compile(r"  (-?\d+) is followed by (\d+)")
_FINDING = re.compile(r"\S.* in :?(/\S+?)\n?$")
# Keys and payloads are arbitrary text: of their lines only a failed decoder's message counts.
_ON_OUTPUT = re.compile(
    r"^(?!\| ).*(?:isvalid: false|invalid bytes|mismatch|out of order|corrupt|exception|found ).*$"
    r"|^\| .*(?:key|payload): (?:Error at |Unknown record type )[^{\n]*, skipping.*$",
    re.M | re.I,
)


class Dump(NamedTuple):
    """The output of one run, and its complaints, a line each; none for an undamaged directory."""

    output: str
    complaints: list[str]


def dump(files: Sequence[Path], *options: str, compacted: Collection[str] = ()) -> Dump:
    """Run the tool over some files. Raises Unavailable without Java or Kafka's archives.

    A file that it did not reach is a complaint too.
    """
    done = run_tool(VERSION, DUMP, *options, "--files", ",".join(map(str, files)))
    found = [f"exit status {done.returncode}"] if done.returncode else []
    found += _on_error_output(done.stderr, compacted)
    found += (match[0] for match in _ON_OUTPUT.finditer(done.stdout))
    found += (f"not dumped: {path}" for path in files if f"Dumping {path}\n" not in done.stdout)
    return Dump(done.stdout, found)


def complaints(data_dir: Path, *, compacted: Collection[str] = ()) -> list[str]:
    """The complaints about every file of a data directory, with every option of the tool."""
    compacted = {*compacted, *DECODERS}
    found: list[str] = []
    ways: dict[str, list[Path]] = {"--deep-iteration": files(data_dir, DUMPED[:-1])}
    for topic, decoder in DECODERS.items():
        ways[decoder] = files(data_dir, DUMPED, topic)
    indexes = files(data_dir, INDEXES)
    ways["--verify-index-only"] = indexes
    ways["--index-sanity-check"] = [path for path in indexes if path.stat().st_size]
    for option, paths in ways.items():
        if paths:
            done = dump(paths, option, compacted=compacted)
            found += (f"{option}: {line}" for line in done.complaints)
            if option == "--index-sanity-check":
                passed = done.output.count(" passed sanity check.")
                found += [f"{option}: {passed} of {len(paths)} passed"] * (passed != len(paths))
    return found


def files(data_dir: Path, suffixes: Iterable[str] = DUMPED, topic: str | None = None) -> list[Path]:
    """The files of partitions (of one topic) in a data directory that the tool can look at.

    Directories that are being deleted, or were set aside, are left out.
    """
    wanted = tuple(suffixes)
    return [
        path
        for directory in sorted(data_dir.iterdir())
        if directory.is_dir() and renamed_suffix(directory.name) is None
        if topic in (None, topic_of(directory))
        for path in sorted(directory.iterdir())
        if path.suffix in wanted
    ]


def topic_of(directory: Path) -> str:
    """The topic of a partition's directory."""
    return directory.name.rpartition("-")[0]


def batches(output: str) -> list[dict[str, str]]:
    """The batches of a dump: name and value of what is said of each."""
    lines = [line for line in output.splitlines() if line.startswith("baseOffset: ")]
    return [dict(_PAIR.findall(line)) for line in lines]


def _on_error_output(text: str, compacted: Collection[str]) -> list[str]:
    """The lines that are complaints, each with the file it is about."""
    found: list[str] = []
    about = ""
    path: Path | None = None
    for line in text.splitlines():
        finding = _FINDING.match(line)
        gap = _GAP.fullmatch(line)
        if finding:
            about, path = line, Path(finding[1])
        elif gap is None or path is None or "Non-consecutive" not in about:
            found.append(f"{about}: {line}" if line.startswith("  ") else line)
        else:
            before, after = int(gap[1]), int(gap[2])
            is_first = before == -1 and after == int(path.stem)
            if not is_first and not (topic_of(path.parent) in compacted and before < after):
                found.append(f"{about}: {line}")
    return found

"""The command `odradek profile`, and the profile as text and JSON."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ...segments.wanted import Wanted
from ..audit.records_check import shown
from ..command import Outcome, offsets_of
from ..engine import choose
from ..errors import PipelineError
from ..places import place
from ..progress import progress
from ..sketches import STANDARD_ERROR
from .html import page
from .summary import Counts, Profile, ProfileTask, TopicProfile, profile_split
from .text import BARS, TOP, lines


def profiled(options: argparse.Namespace) -> Outcome:
    """Look at a place. Raises PipelineError, PlaceError, BrokerError, Damaged, OSError."""
    _check_page(options.html)
    where = place(options.place, options.format)
    wanted = Wanted(start_ms=options.since, end_ms=options.until, isolation=options.isolation)
    splits = where.splits(wanted, offsets_of(options))
    size = sum(split.size for split in splits)
    engine = choose(options, size)
    profile = _empty(where.partitions())
    try:
        with progress(options.quiet) as bar:
            bar.begin("profile", size)
            tasks = [ProfileTask(split, wanted) for split in splits]
            for number, found in engine.run(profile_split, tasks, size):
                for topic, part in found.items():
                    profile.setdefault(topic, TopicProfile()).join(part)
                bar.advance(splits[number].size)
    finally:
        engine.close()
    if options.html is not None:
        _write(options.html, page(options.place, size, profile))
    return Outcome(_result(options.place, size, profile), lines(options.place, size, profile))


def _empty(partitions: Iterable[tuple[str, int]]) -> Profile:
    """These partitions without records: those that have none are listed, too."""
    found: Profile = {}
    for topic, number in partitions:
        found.setdefault(topic, TopicProfile()).partitions[number] = Counts()
    return found


def _check_page(path: str | None) -> None:
    """Whether the page can be written, before everything is read for it. Raises PipelineError."""
    if path is None:
        return
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise PipelineError(f"--html {path}: this is a directory")
    if not os.path.isdir(folder):
        raise PipelineError(f"--html {path}: there is no directory {folder}")
    if not os.access(folder, os.W_OK):
        raise PipelineError(f"--html {path}: {folder} cannot be written to")


def _write(path: str, text: str) -> None:
    """Write the page; nothing half-written stands under its name."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def _result(text: str, size: int, profile: Profile) -> dict[str, Any]:
    return {
        "place": text,
        "stored_bytes": size,
        "topics": {name: _topic(found) for name, found in sorted(profile.items())},
    }


def _topic(found: TopicProfile) -> dict[str, Any]:
    start, step, bars = found.times.bars(BARS)
    return {
        **asdict(found.counts),
        "times": {"start_ms": start, "step_ms": step, "records": bars},
        "key_sizes": _sizes(found.key_sizes.bars()),
        "value_sizes": _sizes(found.value_sizes.bars()),
        "codecs": dict(sorted(found.codecs.items())),
        "distinct_keys": found.keys.count,
        "distinct_keys_error": 0.0 if found.keys.is_exact else STANDARD_ERROR,
        "frequent_keys": [
            {"key": shown(key), "records": count} for key, count in found.frequent.top(TOP)
        ],
        "frequent_keys_error": found.frequent.error,
        "json": {
            "sampled": found.shapes.sampled,
            "parsed": found.shapes.parsed,
            "paths": dict(sorted(found.shapes.paths.items())),
            "more_paths": found.shapes.is_cut,
        },
        "partitions": {number: asdict(each) for number, each in sorted(found.partitions.items())},
    }


def _sizes(bars: tuple[int, list[int]]) -> dict[str, Any]:
    return {"least": bars[0], "records": bars[1]}

"""Which tests xdist runs in one process: those of a file, and all files that share what starts
slowly, a session of Spark or a real Kafka. Used where `--dist loadfile` is."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

SHARED = {
    "spark": "mark.spark",
    "real Kafka": r"\b(real_kafka|real_clusters): |\bpair: tuple\[str",
    "real cluster": r"\breal_cluster: ",
}
"""The name of each group, and a pattern of what its files have in their text."""


class Scheduler(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """xdist's, of files, with groups of files."""

    def _split_scope(self, nodeid: str) -> str:
        return _group(self.config.rootpath / super()._split_scope(nodeid))


@cache
def _group(path: Path) -> str:
    text = path.read_text()
    return next((name for name, has in SHARED.items() if re.search(has, text)), str(path))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduler | None:
    """Its own scheduler, if files are what is distributed."""
    return Scheduler(config, log) if config.getvalue("dist") == "loadfile" else None

"""WordCount.java in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .application import Application

CONFIG: dict[str, Any] = {
    "application.id": "word-count",
    "processing.guarantee": "exactly_once_v2",
    "replication.factor": 3,
    "commit.interval.ms": 100,
    "statestore.cache.max.bytes": 0,  # each count is written, not only the last of an interval
    "auto.offset.reset": "earliest",
    "producer.transaction.timeout.ms": 10_000,
}
CLASSIC = {
    "main.consumer.session.timeout.ms": 6000,
    "main.consumer.heartbeat.interval.ms": 500,
}
"""Configs of members of a classic group."""


class WordCount(Application):
    """One instance of the application."""

    def __init__(
        self, bootstrap: str, directory: Path, config: Mapping[str, Any] | None = None
    ) -> None:
        """`directory`: for its state; each instance has one of its own. `config`: over the configs
        above, by default of the classic protocol."""
        more = CLASSIC if config is None else config
        super().__init__("WordCount", bootstrap, directory, {**CONFIG, **more})

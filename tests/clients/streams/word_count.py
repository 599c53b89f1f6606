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
FIXTURE = f"""
import sys

import pytest

sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from tests.clients.streams.word_count import WordCount


@pytest.fixture
def start_word_count(tmp_path):
    made = []

    def start(bootstrap_servers):
        config = {{"group.protocol": "streams", "replication.factor": 1}}
        made.append(WordCount(bootstrap_servers, tmp_path / str(len(made)), config))

    yield start
    for each in made:
        each.kill()
"""
"""What starts it, for examples of the docs that are run elsewhere."""


class WordCount(Application):
    def __init__(
        self, bootstrap: str, directory: Path, config: Mapping[str, Any] | None = None
    ) -> None:
        """`directory`: for its state; each instance has one of its own. `config`: over the configs
        above, by default of the classic protocol."""
        more = CLASSIC if config is None else config
        super().__init__("WordCount", bootstrap, directory, {**CONFIG, **more})

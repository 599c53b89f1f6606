"""A broker with a topic of three partitions that has a bit of everything, on disk."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek import Emulator

from tests.compat.spark.pipeline.support import Filled, fill

CONFIG = {"log.retention.ms": -1, "log.segment.bytes": 4096, "num.partitions": 3}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    directory = tmp_path_factory.mktemp("data")
    # Kafka 4 has no segments as small as these.
    topics = {"orders": 3, "empty": 1}
    with Emulator(CONFIG, topics=topics, data_dir=directory, version="3.9") as kafka:
        fill(kafka)
        yield Filled(kafka, directory)

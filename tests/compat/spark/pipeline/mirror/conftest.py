"""Sources and targets: ours and a real Kafka, each as both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek import Emulator
from odradek.compat import RealKafka

from tests.compat.spark.pipeline.clusters import CONFIG, Writer


@pytest.fixture(scope="session")
def _other_kafka() -> Iterator[RealKafka]:
    with RealKafka(config=CONFIG) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def real_clusters(real_kafka: RealKafka, _other_kafka: RealKafka) -> tuple[str, str]:
    return real_kafka.bootstrap_servers, _other_kafka.bootstrap_servers


@pytest.fixture
def ours() -> Iterator[Emulator]:
    with Emulator(CONFIG) as emulator:
        yield emulator


@pytest.fixture
def our_target() -> Iterator[Emulator]:
    with Emulator(CONFIG) as emulator:
        yield emulator


@pytest.fixture
def writer(ours: Emulator) -> Iterator[Writer]:
    """Writes to `ours`."""
    writer = Writer(ours.bootstrap_servers)
    yield writer
    writer.close()


_MARKS = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(
    params=[
        "ours to ours",
        pytest.param("ours to real", marks=_MARKS),
        pytest.param("real to ours", marks=_MARKS),
        pytest.param("real to real", marks=_MARKS),
    ]
)
def pair(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Addresses of a source and a target."""
    source, _, target = request.param.split()
    real = request.getfixturevalue("real_clusters") if "real" in request.param else ("", "")
    first = real[0] if source == "real" else request.getfixturevalue("ours").bootstrap_servers
    second = (
        real[1] if target == "real" else request.getfixturevalue("our_target").bootstrap_servers
    )
    return first, second

"""A part of what is recorded is asked of a real Kafka and of the emulator: another one each day."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest
from odradek.compat import RealKafka, Unavailable
from odradek.emulator.base.release import KAFKA_4_3

from tests.differential.cases import cases_named
from tests.differential.engine.brokers import CONFIG, EmulatedBroker
from tests.differential.engine.engine import Engine
from tests.differential.engine.run import Run
from tests.differential.engine.steps import Sequence
from tests.tape.families import LEFT_OUT, recorded, release_of, sequences_of, tape_of
from tests.tape.replay import ReplayEngine

_PARTS = 8


@pytest.fixture(scope="module")
def live() -> Iterator[Engine]:
    """A real Kafka beside the emulator."""
    try:
        real = RealKafka(config=CONFIG).start()
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")
    try:
        with EmulatedBroker(CONFIG) as ours:
            yield Engine(real, ours)
    finally:
        real.close()


def part_of(sequences: list[Sequence], day: int) -> list[Sequence]:
    """Those of a day: of each case that is due one version, of the first and last by turns."""
    cases: dict[str, list[Sequence]] = {}
    for sequence in sequences:
        cases.setdefault(sequence.name.partition("[")[0], []).append(sequence)
    versions = list(cases.values())[day % _PARTS :: _PARTS]
    return [each[day // _PARTS % len(each)] for each in versions]


def test_each_sequence_has_its_day() -> None:
    with closing(ReplayEngine(tape_of("groups"))) as engine:
        sequences = sequences_of("groups", engine.served)
    asked = [each.name for day in range(2 * _PARTS) for each in part_of(sequences, day)]
    assert set(asked) == {each.name for each in sequences}
    assert len(asked) < 2 * len(sequences)


@pytest.mark.real
@pytest.mark.slow
def test_kafka_and_the_emulator_answer_today_s_part_alike(live: Engine) -> None:
    day = datetime.now(UTC).toordinal()
    lines: list[str] = []
    run = Run(live, lines.append, shrinks=False)
    run.cases(cases_named(live.served, LEFT_OUT))
    for family in recorded():
        if release_of(family) is not KAFKA_4_3:
            continue
        run.cases(part_of(sequences_of(family, live.served), day))
    assert run.report(is_whole=False) == 0, "\n".join(lines)

"""What a real Kafka has answered, played to the emulator; and the tape itself.

A sequence that asks otherwise than when it was recorded fails until it is recorded again, by
`make differential`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.base.call import PARKED
from odradek.emulator.handlers.registry import SERVED
from odradek.wire import Buffer
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.compression import Codec, compress

from tests.differential.engine.compare import NOTHING
from tests.differential.engine.steps import Ask, Damage, Sequence
from tests.differential.engine.transcript import transcript
from tests.tape.alike import changes
from tests.tape.families import (
    family_names,
    path_of,
    recorded,
    release_of,
    sequences_of,
    tape_of,
)
from tests.tape.replay import ReplayEngine
from tests.tape.show import show
from tests.tape.side import Changed
from tests.tape.take import Came

RECORD = "record it: python -m tests.tape record NAME"
NAME = "offsets_by_time[v11]"


def problems(engine: ReplayEngine, sequences: list[Sequence]) -> Iterator[str]:
    """What is answered otherwise than recorded, and what was not recorded so."""
    for sequence in engine.in_order(sequences):
        try:
            result = engine.run(sequence)
        except Changed as changed:
            yield f"{sequence.name}: {changed}; {RECORD}"
        else:
            if result.findings:
                yield transcript(result)


@pytest.mark.parametrize("family", recorded())
def test_the_emulator_answers_as_kafka_did(family: str) -> None:
    with closing(ReplayEngine(tape_of(family), release=release_of(family))) as engine:
        sequences = sequences_of(family, engine.served)
        assert engine.tape.takes.keys() == {sequence.name for sequence in sequences}, RECORD
        assert list(problems(engine, sequences)) == []
        assert engine.sequences == len(sequences)


def test_every_family_is_recorded() -> None:
    assert recorded() == sorted(family_names()), RECORD


@pytest.fixture
def engine() -> ReplayEngine:
    return ReplayEngine(tape_of("offsets"))


@pytest.fixture
def sequence(engine: ReplayEngine) -> Sequence:
    """One that lists offsets."""
    return next(each for each in sequences_of("offsets", engine.served) if each.name == NAME)


def test_an_answer_that_the_emulator_gives_otherwise_is_found_where_it_is(
    engine: ReplayEngine, sequence: Sequence, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest: Any = SERVED[ListOffsetsRequest.api_key].handler

    def off_by_one(cluster: Any, call: Any, request: Any) -> Any:
        answer = honest(cluster, call, request)
        answer.topics[0].partitions[0].leader_epoch += 1
        return answer

    monkeypatch.setattr(SERVED[ListOffsetsRequest.api_key], "handler", off_by_one)
    (problem,) = problems(engine, [sequence])
    assert "ListOffsets v11 (" in problem
    assert problem.endswith("differs: topics[0].partitions[0].leader_epoch: real 0, ours 1")


def test_silence_differs_from_an_answer_on_either_side(
    engine: ReplayEngine, sequence: Sequence, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = engine.tape.takes[NAME]
    engine.tape.takes[NAME] = replace(take, lines=take.lines[:-1])
    (finding,) = engine.run(sequence).findings
    assert finding.difference.real == NOTHING

    monkeypatch.setattr(SERVED[ListOffsetsRequest.api_key], "handler", lambda *asked: PARKED)
    other = ReplayEngine(tape_of("offsets"))
    (finding,) = other.run(sequence).findings
    assert finding.difference.ours == NOTHING


@pytest.mark.parametrize("changed", [lambda steps: steps[:-1], lambda steps: steps + steps[-1:]])
def test_a_sequence_that_asks_otherwise_than_recorded_has_changed(
    engine: ReplayEngine, sequence: Sequence, changed: Callable[[Any], Any]
) -> None:
    with pytest.raises(
        Changed, match=r"step (18 was recorded, and is no more|19 was recorded with)"
    ):
        engine.run(replace(sequence, steps=changed(sequence.steps)))


def test_a_request_that_differs_in_a_byte_has_changed(
    engine: ReplayEngine, sequence: Sequence
) -> None:
    last = sequence.steps[-1]
    assert isinstance(last, Ask)
    other = replace(last, damage=Damage(flip_at=30, flip=1))
    with pytest.raises(Changed, match=r"step 18 sends [0-9a-f]+ over main, and when it was rec"):
        engine.run(replace(sequence, steps=(*sequence.steps[:-1], other)))
    with pytest.raises(Changed, match="not recorded"):
        engine.run(replace(sequence, name="another"))


@pytest.mark.slow
def test_every_byte_of_an_answer_counts(engine: ReplayEngine, sequence: Sequence) -> None:
    take = engine.tape.takes[NAME]
    *lines, last = take.lines
    assert isinstance(last, Came)
    assert changes(take, take, sequence, engine.served) == []
    for place in range(4, len(last.data)):  # after the correlation id
        data = bytearray(last.data)
        data[place] ^= 1
        other = replace(take, lines=[*lines, replace(last, data=bytes(data))])
        assert changes(take, other, sequence, engine.served), f"byte {place}"


def test_a_machine_that_compresses_otherwise_sends_what_was_recorded(
    engine: ReplayEngine, sequence: Sequence, monkeypatch: pytest.MonkeyPatch
) -> None:
    def weakly(codec: Codec, data: Buffer, level: int | None = None) -> Buffer:
        return compress(codec, data, 0)

    monkeypatch.setattr("odradek.wire.records.compress", weakly)  # a put of this case uses it
    with pytest.raises(Changed, match="step 3 sends"):
        engine.run(sequence)
    tape = tape_of("offsets")
    tape.compressed = "by other libraries"
    assert ReplayEngine(tape).run(sequence).findings == []


def test_a_tape_is_read_as_it_was_written(tmp_path: Path) -> None:
    for family in recorded():
        tape_of(family).write(tmp_path / family)
        assert (tmp_path / family).read_text() == path_of(family).read_text()


def test_a_take_is_shown_as_text(engine: ReplayEngine) -> None:
    first, *_, asked, answered = show(engine.tape.takes[NAME])
    assert first == NAME
    assert re.fullmatch(r"18 +\d+ ms  > main ListOffsets v11 \(replica_id=-1, topics=.*\)", asked)
    assert re.fullmatch(r"18 +\d+ ms  < main ListOffsets \(topics=\[.*\]\)", answered)

"""Recording anew: each family is asked of a real Kafka of its own, beside the emulator.

A take stays as it is unless Kafka answers otherwise or the case asks otherwise, apart from what
differs in every run. So `git diff` shows what has changed, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from odradek.compat.real_kafka import RealKafka
from odradek.emulator.base.release import Release
from odradek.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse

from tests.differential.engine.asker import Asker
from tests.differential.engine.brokers import EmulatedBroker, config_of
from tests.differential.engine.engine import Engine
from tests.differential.engine.run import Run
from tests.differential.engine.served import Served, advertised
from tests.differential.engine.steps import Sequence as Steps
from tests.releases.brokers import VERSIONS

from .alike import changes
from .compressors import fingerprint
from .families import path_of, release_of, sequences_of
from .recorder import TapeRecorder
from .take import Take, Tape

PATIENCE_S = 0.03
"""So long an answer that nobody waits for may take to come in its own step, also if Kafka is slow:
the emulator gives it at once when it is played."""
Print = Callable[[str], Any]


def record(family: str, names: Sequence[str], out: Print) -> bool:
    """Record a family, or those of its sequences whose names begin so, and say what has changed.
    Returns whether Kafka and the emulator answer alike. Raises Unavailable."""
    release = release_of(family)
    version, config = VERSIONS[release.name], config_of(release.name)
    with RealKafka(version, config) as real, EmulatedBroker(config, release.name) as ours:
        engine = Engine(real, ours, release=release)
        engine.quiet_s = PATIENCE_S
        engine.recorder = recorder = TapeRecorder()
        serves = _serves(engine, release).encode(0)
        sequences = sequences_of(family, engine.served)
        run = Run(engine, out, shrinks=False)
        run.cases(each for each in sequences if not names or each.name.startswith(tuple(names)))
    path, compressed = path_of(family), fingerprint()
    before = Tape.read(path) if path.exists() else Tape(version, compressed, serves, {})
    takes = kept(before.takes, recorder.takes, sequences, engine.served, out)
    if before.compressed != compressed and any(
        takes[name] is take for name, take in before.takes.items() if name in takes
    ):
        compressed = "by several"
    Tape(version, compressed, serves, takes).write(path)
    return not run.found


def _serves(engine: Engine, release: Release) -> ApiVersionsResponse:
    """What the real one answers to ApiVersions; where there is none, what its table says."""
    if not engine.served.serves(ApiVersionsRequest):
        return advertised(release)
    asker = Asker(engine.sides[0].address)
    answer: ApiVersionsResponse = asker.ask(ApiVersionsRequest(), 0)
    asker.close()
    return answer


def kept(
    before: Mapping[str, Take],
    now: Mapping[str, Take],
    sequences: Sequence[Steps],
    served: Served,
    out: Print,
) -> dict[str, Take]:
    """The takes of these sequences: those of before where nothing has changed."""
    takes: dict[str, Take] = {}
    for sequence in sequences:
        old, new = before.get(sequence.name), now.get(sequence.name)
        found = [] if new is None else ["is new"]
        if old is not None and new is not None:
            found = changes(old, new, sequence, served)
        for each in found:
            out(f"{sequence.name}: {each}")
        take = new if found else old
        if take is not None:
            takes[sequence.name] = take
    for name in before.keys() - takes.keys():
        out(f"{name}: is no more")
    return takes

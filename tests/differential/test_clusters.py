"""The differential engine on clusters: what it finds, and that real nodes answer as ours.

Three real nodes are asked a few cases and one drawn sequence; `python -m tests.differential
--brokers 3` asks all. The other tests compare two clusters of the emulator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek.compat import Unavailable
from odradek.emulator.handlers.registry import SERVED
from odradek.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.wire.api.list_offsets import ListOffsetsRequest

from tests.differential.ask.batches import batch
from tests.differential.ask.clusters import (
    at_each,
    of_listed,
    start,
    stop,
    topic_on,
    view,
    wrote,
)
from tests.differential.ask.groups import beat
from tests.differential.ask.homes import homed
from tests.differential.ask.records import list_offsets
from tests.differential.clusters.cases import cases_named
from tests.differential.clusters.clusters import CONFIG, EmulatedCluster, RealBrokers
from tests.differential.clusters.draw import draw
from tests.differential.clusters.engine import ClusterEngine
from tests.differential.engine.run import Run
from tests.differential.engine.steps import Act, Ask, Sequence, World
from tests.differential.engine.transcript import transcript

ITEMS = {f"O{number}" for number in range(1, 34)}
# None that hangs on how soon a real node notices a paused one, as O18: other tests run meanwhile.
SAMPLE = ("O6", "O10", "O13")


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[EmulatedCluster, EmulatedCluster]]:
    # Time does not matter to these tests: nobody dies without being noticed.
    config = CONFIG | {"broker.session.timeout.ms": "1000"}
    with EmulatedCluster(config) as left, EmulatedCluster(config) as right:
        yield left, right


@pytest.fixture
def engine(pair: tuple[EmulatedCluster, EmulatedCluster]) -> ClusterEngine:
    return ClusterEngine(*pair)


def sequence(*steps: Any) -> Sequence:
    return Sequence("by hand", steps)


def test_clusters_that_are_alike_show_no_difference(engine: ClusterEngine) -> None:
    result = engine.run(
        sequence(
            topic_on([1, 2], [2, 3]),
            wrote(batch(b"x")),
            stop(1),
            *view(nodes=(2, 3)),
            *at_each(list_offsets(-1), 9),
            start(1),
            *view(),
        )
    )
    assert [str(each.difference) for each in result.findings] == []
    # 1 does not listen; 2 leads, 3 is no replica.
    answers = [log.real for log in result.log[7:10]]
    assert answers[0] == {"main@1: closed": "refused"}
    codes = [each["answer"]["topics"][0]["partitions"][0]["error_code"] for each in answers[1:]]
    assert codes == [0, 6]


def test_all_brokers_run_again_and_lead_when_a_sequence_is_over(engine: ClusterEngine) -> None:
    engine.run(sequence(topic_on([1, 2]), stop(1), stop(3)))
    for viewer in engine.viewers:
        assert viewer.listed() == [[1, 2, 3]] * 3
        seen = viewer.view((), (), ())
        assert [seen[f"__consumer_offsets-{p}"]["leader"] for p in range(3)] == [1, 2, 3]


def test_a_difference_at_one_broker_is_found(
    engine: ClusterEngine,
    pair: tuple[EmulatedCluster, EmulatedCluster],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest: Any = SERVED[ListOffsetsRequest.api_key].handler

    def lies(cluster: Any, call: Any, request: Any) -> Any:
        answer = honest(cluster, call, request)
        if cluster is pair[1].emulator.cluster and call.client_id != "engine":
            answer.topics[0].partitions[0].offset += call.node_id == 2
        return answer

    monkeypatch.setattr(SERVED[ListOffsetsRequest.api_key], "handler", lies)
    result = engine.run(sequence(topic_on([1, 2]), *at_each(list_offsets(-1), 9)))
    (finding,) = result.findings
    assert finding.step == 2
    assert "ListOffsets v9 at broker 2" in transcript(result)


@pytest.mark.parametrize(("is_loading", "findings"), [(3, 0), (10_000, 1)])
def test_who_still_loads_what_it_coordinates_is_asked_again(
    engine: ClusterEngine,
    pair: tuple[EmulatedCluster, EmulatedCluster],
    monkeypatch: pytest.MonkeyPatch,
    is_loading: int,
    findings: int,
) -> None:
    monkeypatch.setattr("tests.differential.clusters.engine._LOADING_S", 1.0)
    honest: Any = SERVED[HeartbeatRequest.api_key].handler
    left = [is_loading]

    def loads(cluster: Any, call: Any, request: Any) -> Any:
        if cluster is pair[0].emulator.cluster and left[0]:
            left[0] -= 1
            return HeartbeatResponse(error_code=14)
        return honest(cluster, call, request)

    monkeypatch.setattr(SERVED[HeartbeatRequest.api_key], "handler", loads)
    result = engine.run(sequence(Ask(beat("stranger", group=homed("g", 2)), 4, at=2)))
    assert [each.difference.real for each in result.findings] == [14] * findings


def test_a_view_that_stays_another_is_a_difference(
    engine: ClusterEngine,
    pair: tuple[EmulatedCluster, EmulatedCluster],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.differential.clusters.engine.SETTLE_S", 0.2)
    monkeypatch.setattr(pair[1], "do", lambda verb, node: None)
    result = engine.run(sequence(topic_on([2, 1]), stop(3)))
    places = [each.difference.place for each in result.findings]
    assert "broker 3" in places


def test_what_is_said_of_the_real_answer_is_held_against_it(engine: ClusterEngine) -> None:
    asked = Ask(list_offsets(-1), 9, at=1, says=of_listed(offset=7, leader_epoch=0))
    (finding,) = engine.run(sequence(topic_on([1]), asked)).findings
    assert str(finding.difference).endswith("offset: real 0, ours 'said to be 7'")


def test_a_name_has_the_coordinator_that_is_asked_for(engine: ClusterEngine) -> None:
    from odradek.emulator.base.java_order import partition_for

    for node in (1, 2, 3):
        assert partition_for(World("ns-").resolve(homed("g", node)), 3) == node - 1


def test_every_item_has_a_case() -> None:
    cases = cases_named()
    assert len({case.name for case in cases}) == len(cases) >= 50
    assert {case.rule for case in cases} == ITEMS


def test_the_same_seed_draws_the_same_sequence(engine: ClusterEngine) -> None:
    one, same, another = (draw(seed, engine.served) for seed in (1, 1, 2))
    assert repr(one.steps) == repr(same.steps) != repr(another.steps)
    assert one.requests() > 50
    verbs = {s.verb for n in range(40) for s in draw(n, engine.served).steps if isinstance(s, Act)}
    assert verbs == {"stop", "kill", "pause", "resume", "start"}


@pytest.mark.real
@pytest.mark.slow
def test_a_sample_is_answered_as_by_three_real_nodes() -> None:
    lines: list[str] = []
    try:
        with RealBrokers() as real, EmulatedCluster() as ours:
            run = Run(ClusterEngine(real, ours), lines.append, shrinks=False)
            run.cases(cases_named(SAMPLE))
            run.cases([draw(1, run.engine.served)], are_drawn=True)
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")
    assert run.report(is_whole=False) == 0, "\n".join(lines)

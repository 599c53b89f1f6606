"""The differential engine: what it finds, shrinks and prints; and what it finds in us.

The last test asks a real Kafka (marker `real`): hand-written cases in the first and last version of
their APIs; `make differential` asks all versions. All others compare the emulator with itself, one
of the two giving wrong answers where a test says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from odradek.compat import RealKafka, Unavailable
from odradek.emulator.base.turns import Slices
from odradek.emulator.handlers.registry import SERVED
from odradek.wire import Request
from odradek.wire.api.add_raft_voter import AddRaftVoterRequest
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.differential.allowed.allowance import Allowances, Allowed
from tests.differential.allowed.kafka_4_3 import ALLOWED
from tests.differential.ask.batches import batch
from tests.differential.ask.groups import beat, stable_group
from tests.differential.ask.records import fetch, list_offsets, new_producer, produce, put
from tests.differential.ask.topics import create
from tests.differential.cases import all_cases, cases_named
from tests.differential.draw.sequences import KINDS, draw_sequence
from tests.differential.engine.brokers import CONFIG, EmulatedBroker
from tests.differential.engine.compare import NOTHING, Comparison
from tests.differential.engine.engine import Engine
from tests.differential.engine.run import Run
from tests.differential.engine.shrink import shrink
from tests.differential.engine.steps import (
    Ask,
    Close,
    Damage,
    Restart,
    Send,
    Sequence,
    Sleep,
    World,
    now,
    seen,
)
from tests.differential.engine.transcript import transcript


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[EmulatedBroker, EmulatedBroker]]:
    with EmulatedBroker(CONFIG) as left, EmulatedBroker(CONFIG) as right:
        yield left, right


@pytest.fixture
def engine(pair: tuple[EmulatedBroker, EmulatedBroker]) -> Engine:
    return Engine(*pair)


Edit = Callable[[Any], Any]


def edited(slices: Slices[Any], edit: Edit) -> Slices[Any]:
    """An answer that is made in slices, changed in the end."""
    return edit((yield from slices))


@pytest.fixture
def lie(
    pair: tuple[EmulatedBroker, EmulatedBroker], monkeypatch: pytest.MonkeyPatch
) -> Callable[[type[Request], Edit], None]:
    """Have the second broker change its answers: lie(request class, function of the
    answer)."""

    def change(api: type[Request], edit: Edit) -> None:
        honest = SERVED[api.api_key].handler

        def handler(cluster: Any, call: Any, request: Any) -> Any:
            # The engine's own questions are answered honestly.
            if cluster is not pair[1].emulator.cluster or call.client_id == "engine":
                return honest(cluster, call, request)
            answer = honest(cluster, call, request)
            return edited(answer, edit) if isinstance(answer, Generator) else edit(answer)

        monkeypatch.setattr(SERVED[api.api_key], "handler", handler)

    return change


def sequence(*steps: Any) -> Sequence:
    return Sequence("by hand", steps)


def off_by_one(answer: Any) -> Any:
    for topic in answer.topics:
        for partition in topic.partitions:
            partition.offset += partition.offset > 0
    return answer


def test_two_that_are_alike_show_no_difference(engine: Engine) -> None:
    result = engine.run(
        sequence(
            create(),
            new_producer(),
            Ask(
                produce(
                    batch(b"x", time=now(), producer_id=seen("pid"), producer_epoch=0, sequence=0)
                )
            ),
            Ask(fetch()),
            *stable_group(),
            Ask(beat(seen("m"))),
        )
    )
    assert result.findings == []
    assert (result.requests, len(result.log)) == (7, 7)
    assert result.log[3].real["answer"]["responses"][0]["records"][0]["producer_id"] == "<pid 1>"
    assert result.log[4].real["answer"]["leader"] == "differential-<uuid 1>"
    assert result.log[6].real["answer"]["error_code"] == 0
    assert result.fields > 100


def test_a_difference_is_found_where_it_is(
    engine: Engine, lie: Callable[[type[Request], Edit], None]
) -> None:
    lie(ListOffsetsRequest, off_by_one)
    result = engine.run(
        sequence(create(), put(b"x"), Ask(list_offsets(-2)), Ask(list_offsets(-1)), put(b"y"))
    )
    [finding] = result.findings
    assert finding.step == 3
    assert str(finding.difference) == "topics[0].partitions[0].offset: real 1, ours 2"
    assert len(result.log) == 4, "the sequence ends where it was found"


def test_a_difference_is_shrunk_to_what_it_needs(
    engine: Engine, lie: Callable[[type[Request], Edit], None]
) -> None:
    lie(ListOffsetsRequest, off_by_one)
    noise = [Ask(fetch(), 12), Ask(MetadataRequest(topics=[]), 4), Sleep(0)]
    found = engine.run(
        sequence(
            *noise,
            create(partitions=3, retention_ms="-1"),
            *noise,
            put(b"x", b"y"),
            *noise,
            Ask(list_offsets(-1, epoch=0)),
        )
    )
    shortest = shrink(engine, found)
    assert [type(step.request).__name__ for step in shortest.sequence.steps] == [  # type: ignore[union-attr]
        "CreateTopicsRequest",
        "ProduceRequest",
        "ListOffsetsRequest",
    ]
    made = shortest.sequence.steps[0].request.topics[0]  # type: ignore[union-attr]
    assert made.configs == []
    asked = shortest.sequence.steps[2].request.topics[0].partitions[0]  # type: ignore[union-attr]
    assert asked.current_leader_epoch == -1


def test_a_transcript_shows_requests_and_both_answers(
    engine: Engine, lie: Callable[[type[Request], Edit], None]
) -> None:
    lie(ListOffsetsRequest, off_by_one)
    text = transcript(engine.run(sequence(create(), put(b"x"), Ask(list_offsets(-1), 1))))
    assert text.splitlines()[0] == "by hand"
    assert (
        "3  ListOffsets v1 (replica_id=-1, topics=[(name='~t', partitions=[(timestamp=-1)])])"
        in text
    )
    assert "answer, real: {'topics': [{'name': '~t', 'partitions': [{'partition_index': 0" in text
    assert text.endswith("differs: topics[0].partitions[0].offset: real 1, ours 2")


def test_silence_and_a_closed_connection_are_answers(
    engine: Engine, lie: Callable[[type[Request], Edit], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.differential.engine.engine.GRACE_S", 1.0)
    cut = Ask(MetadataRequest(topics=[]), 4, damage=Damage(cut=1), on="cut")
    result = engine.run(sequence(cut, Close("cut"), Ask(ApiVersionsRequest(), 0)))
    assert result.findings == []
    assert result.log[0].real == {"cut: closed": "closed"}

    def break_off(answer: Any) -> Any:
        raise RuntimeError("a defect")

    lie(HeartbeatRequest, break_off)
    answered, closed = engine.run(sequence(Ask(beat("x"), 4))).findings
    assert (answered.difference.ours, closed.difference.real) == (NOTHING, NOTHING)
    assert (answered.difference.real["error_code"], closed.difference.ours) == (25, "closed")


def test_a_late_answer_to_what_may_wait_differs_from_one_in_time(
    engine: Engine, lie: Callable[[type[Request], Edit], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.differential.engine.side.LATE_S", 0.2)
    waiting = Ask(fetch(wait_ms=3000, min_bytes=0), 12)
    assert engine.run(sequence(create(), waiting)).findings == []

    def dawdle(answer: Any) -> Any:
        time.sleep(0.4)
        return answer

    lie(FetchRequest, dawdle)
    lie(ListOffsetsRequest, dawdle)
    [finding] = engine.run(sequence(create(), Ask(list_offsets(-1)), waiting)).findings
    assert (finding.step, str(finding.difference)) == (2, "(time): real 'in time', ours 'late'")


def test_an_answer_belongs_to_the_step_in_which_it_comes(engine: Engine) -> None:
    waiting = Send(fetch(wait_ms=5000, min_bytes=1), 12, on="f")
    result = engine.run(sequence(create(), waiting, put(b"x"), Sleep(0)))
    assert list(result.log[1].real) == []
    assert sorted(result.log[2].real) == ["answer", "answer to step 2"]
    assert result.findings == []


def test_an_allowed_difference_is_counted_and_an_unused_one_is_named(
    pair: tuple[EmulatedBroker, EmulatedBroker], lie: Callable[[type[Request], Edit], None]
) -> None:
    lie(ListOffsetsRequest, off_by_one)
    place = "topics.partitions.offset"
    allowed = Allowed("a lie", ListOffsetsRequest, place, "it is told for a test", ends=True)
    unused = Allowed("another", HeartbeatRequest, "*", "it is not told")
    engine = Engine(*pair, Allowances((allowed, unused)))
    lines: list[str] = []
    run = Run(engine, lines.append)
    run.cases([sequence(create(), put(b"x"), Ask(list_offsets(-1)), Ask(fetch()))])
    assert run.report() == 0
    assert lines[0].startswith("1 cases, 0 drawn sequences, 3 requests, ")
    assert lines[1:] == ["allowed 1 times: a lie", "allowed, but never seen: another"]


def test_a_run_prints_each_kind_of_difference_once_and_fails(
    engine: Engine, lie: Callable[[type[Request], Edit], None]
) -> None:
    lie(ListOffsetsRequest, off_by_one)
    lines: list[str] = []
    run = Run(engine, lines.append, shrinks=False)
    wrong = sequence(create(), put(b"x"), Ask(list_offsets(-1)))
    run.cases([wrong, wrong])
    assert run.report() == 1
    assert sum("differs: " in line for line in lines) == 1
    assert lines[-1] == "UNEXPLAINED 2 times: ListOffsets, topics.partitions.offset: real 1, ours 2"


def test_a_restart_is_a_step_like_another(engine: Engine) -> None:
    steps = [create(), put(b"x"), *stable_group(), Restart(), Ask(fetch()), Ask(beat(seen("m")))]
    result = engine.run(sequence(*steps))
    assert result.findings == []
    assert result.log[-2].real["answer"]["responses"][0]["high_watermark"] == 1
    assert result.log[-1].real["answer"]["error_code"] == 0


def test_every_field_is_counted_and_compared_with_its_type() -> None:
    comparison = Comparison({"a": [1, {"b": True}], "c": ""}, {"a": [1, {"b": 1}], "d": None})
    assert comparison.fields == 4
    assert [str(each) for each in comparison.differences] == [
        "a[1].b: real True, ours 1",
        "c: real '', ours '(nothing)'",
        "d: real '(nothing)', ours None",
    ]
    assert comparison.differences[0].place == "a.b"


def test_members_that_look_alike_are_not_distinguished_by_their_place() -> None:
    from odradek.wire.api.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
    from odradek.wire.api.join_group import JoinGroupRequest, JoinGroupResponse

    from tests.differential.engine.normalize import Normalizer

    ids = [f"c-00000000-0000-0000-0000-00000000000{n}" for n in (1, 2)]
    trees = []
    for order in (ids, ids[::-1]):
        normalizer = Normalizer("ns-", 0, [("localhost", 9092)], "cluster")
        member = DescribeGroupsResponse.Group.Member
        group = DescribeGroupsResponse.Group(
            group_id="g",
            group_state="",
            protocol_type="",
            protocol_data="",
            members=[
                member(
                    member_id=each,
                    client_id="c",
                    client_host="",
                    member_metadata=b"",
                    member_assignment=b"",
                )
                for each in order
            ],
        )
        asked = DescribeGroupsRequest(groups=["g"])
        described = normalizer.tree(DescribeGroupsResponse(groups=[group]), 5, asked)
        join = JoinGroupRequest(
            group_id="g", session_timeout_ms=0, member_id="", protocol_type="", protocols=[]
        )
        joined = normalizer.tree(JoinGroupResponse(member_id=ids[0]), 5, join)
        trees.append((described, joined))
    assert trees[0] == trees[1]
    assert trees[0][1]["member_id"] == "c-<uuid 1>"


def test_who_is_answered_is_distinguished_before_who_leads() -> None:
    # A broker may choose either as the leader: only that field may differ.
    from odradek.wire.api.join_group import JoinGroupRequest, JoinGroupResponse

    from tests.differential.engine.normalize import Normalizer

    one, other = (f"c-00000000-0000-0000-0000-00000000000{n}" for n in (1, 2))
    join = JoinGroupRequest(
        group_id="g", session_timeout_ms=0, member_id="", protocol_type="", protocols=[]
    )
    trees = [
        Normalizer("ns-", 0, [("localhost", 9092)], "cluster").tree(
            JoinGroupResponse(member_id=one, leader=leader), 0, join
        )
        for leader in (one, other)
    ]
    assert [tree["member_id"] for tree in trees] == ["c-<uuid 1>"] * 2
    assert [tree["leader"] for tree in trees] == ["c-<uuid 1>", "c-<uuid 2>"]


def test_the_epoch_of_a_refused_heartbeat_is_not_kept() -> None:
    from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

    from tests.differential.engine.kept import keep

    world = World("ns-", 0)
    for error_code, epoch in ((0, 5), (110, 0)):
        answer = ConsumerGroupHeartbeatResponse(
            error_code=error_code, member_epoch=epoch, heartbeat_interval_ms=0
        )
        keep(world, answer, {"epoch": "member_epoch"})
    assert world.kept == {"epoch": 5}


def test_the_same_seed_draws_the_same_sequence(engine: Engine) -> None:
    for kind in KINDS:
        drawn = [draw_sequence(7, engine.served, [kind]) for _ in range(2)]
        assert repr(drawn[0].steps) == repr(drawn[1].steps)
        assert drawn[0].requests() > 10


def test_every_version_of_every_api_is_drawn(engine: Engine) -> None:
    drawn = {
        (type(step.request), step.version)
        for seed in range(600)
        for step in draw_sequence(seed, engine.served).steps
        if isinstance(step, Ask)
    }
    every = {
        (api, version) for api in engine.served.ranges for version in engine.served.versions(api)
    }
    # AddRaftVoter is asked by cases only: a drawn request may end a real broker.
    assert {api for api, _ in every - drawn} <= {AddRaftVoterRequest}


def test_cases_have_names_of_their_own_and_a_rule() -> None:
    cases = all_cases()
    assert len({case.name for case in cases}) == len(cases) >= 90
    assert all(case.rule for case in cases)
    assert all(allowed.reason for allowed in ALLOWED)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.long
def test_cases_are_answered_as_by_kafka() -> None:
    # A part of them is asked by tests/tape.
    lines: list[str] = []
    try:
        with RealKafka(config=CONFIG) as real, EmulatedBroker(CONFIG) as ours:
            run = Run(Engine(real, ours), lines.append)
            run.cases(cases_named(run.engine.served, every_version=False))
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")
    assert run.report(is_whole=False) == 0, "\n".join(lines)

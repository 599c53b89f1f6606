"""The chain: what every request passes before its handler, and its answer afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek.emulator.base.call import (
    ANONYMOUS,
    NO_REPLY,
    PARKED,
    UNKNOWN_SOFTWARE,
    Call,
    ClientSoftware,
    Principal,
)
from odradek.emulator.base.chain import Onward, Outcome, Step
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.cluster import Cluster
from odradek.emulator.handlers.fetch_run import FetchRun
from odradek.emulator.handlers.registry import SERVED
from odradek.wire import Error, Request, Response, WireError
from odradek.wire.api import request_class, response_class
from odradek.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.metadata import MetadataRequest, MetadataResponse
from odradek.wire.headers import RequestHeader, write_request_header

from tests.requests.fetch import asked, fetch_request, only, values
from tests.requests.groups import join_request
from tests.requests.produce import batch, produce, produce_request
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of
from tests.support.looped import for_each
from tests.support.raw_client import RawClient
from tests.wire.support.messages import full

METADATA = MetadataRequest(topics=[MetadataRequest.Topic(name="t")])
BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


class Seen(Step):
    """Notes what comes by, and does what it is told to."""

    def __init__(
        self,
        events: list[Any],
        name: str = "",
        before: Callable[[Call, Request], Onward] | None = None,
        after: Callable[[Call, Request, Response | None], Outcome] | None = None,
    ) -> None:
        self._events = events
        self._name = name
        self._before = before
        self._after = after

    def before(self, call: Call, request: Request) -> Onward:
        self._events.append((f"{self._name}>", _api(request)))
        return None if self._before is None else self._before(call, request)

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        self._events.append((f"<{self._name}", None if response is None else _api(response)))
        return None if self._after is None else self._after(call, request, response)


def at_side(side: str, does: Callable[..., Outcome]) -> Seen:
    """A step that does this before the handler, or after it."""
    return Seen([], before=does) if side == "before" else Seen([], after=does)


def _api(message: Request | Response) -> str:
    return type(message).__name__.removesuffix("Request").removesuffix("Response")


@pytest.fixture(autouse=True)
def topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 1, {})
    cluster.groups.ensure_topic()


@pytest.fixture
def events(cluster: Cluster) -> list[Any]:
    """What one step notes."""
    events: list[Any] = []
    cluster.chain.append(Seen(events))
    return events


def advance(cluster: Cluster, milliseconds: int) -> None:
    assert isinstance(cluster.clock, ManualClock)
    cluster.advance(milliseconds)


@for_each("key", sorted(SERVED), lambda key: _api(request_class(key)()))
def test_a_step_sees_a_request_of_every_api_and_its_answer_once(cluster: Cluster, key: int) -> None:
    kinds: list[type[Request] | type[Response] | None] = []

    class Kinds(Step):
        def before(self, call: Call, request: Request) -> None:
            kinds.append(type(request))

        def after(self, call: Call, request: Request, response: Response | None) -> None:
            kinds.append(None if response is None else type(response))

    cluster.chain[:] = [Kinds()]
    first, last = cluster.release.advertised.get(key) or cluster.release.unadvertised[key]
    for version in range(first, last + 1):
        if not cluster.release.serves(key, version):
            continue
        kinds.clear()
        asking = client_of(cluster)
        asking.send(full(request_class(key), version), version)
        answers = asking.answers()
        assert len(answers) == (not asking.is_closed)
        assert kinds == [request_class(key), response_class(key) if answers else None]


def test_steps_see_requests_in_order_and_answers_in_the_reverse_order(
    cluster: Cluster, client: Client
) -> None:
    events: list[Any] = []
    cluster.chain += [Seen(events, "a"), Seen(events, "b")]
    client.ask(METADATA, 12)
    client.ask(BEAT, 4)
    assert events == [
        *(("a>", "Metadata"), ("b>", "Metadata"), ("<b", "Metadata"), ("<a", "Metadata")),
        *(("a>", "Heartbeat"), ("b>", "Heartbeat"), ("<b", "Heartbeat"), ("<a", "Heartbeat")),
    ]


def test_a_kept_answer_passes_the_chain_too(cluster: Cluster, client: Client) -> None:
    plain = client.ask(METADATA, 12)
    events: list[Any] = []
    cluster.chain.append(Seen(events))
    assert client.ask(METADATA, 12) == client.ask(METADATA, 12) == plain
    assert events == [(">", "Metadata"), ("<", "Metadata")] * 2


def test_what_a_step_makes_of_an_answer_is_kept_for_nobody(
    cluster: Cluster, client: Client
) -> None:
    def rename(call: Call, request: Request, response: Response | None) -> None:
        assert isinstance(response, MetadataResponse)
        response.cluster_id = "another"

    cluster.chain.append(Seen([], after=rename))
    assert client.ask(METADATA, 12).cluster_id == "another"
    cluster.chain.clear()
    assert client.ask(METADATA, 12).cluster_id == cluster.cluster_id


def test_a_step_answers_in_place_of_the_handler(cluster: Cluster, client: Client) -> None:
    events: list[Any] = []
    refusal = HeartbeatResponse(error_code=Error.GROUP_AUTHORIZATION_FAILED)
    cluster.chain += [
        Seen(events, "a"),
        Seen(events, "b", before=lambda call, request: refusal),
        Seen(events, "c"),
    ]
    assert client.ask(BEAT, 4).error_code == Error.GROUP_AUTHORIZATION_FAILED
    assert events == [
        *(("a>", "Heartbeat"), ("b>", "Heartbeat"), ("<b", "Heartbeat"), ("<a", "Heartbeat")),
    ]


def test_a_step_refuses_before_anything_is_done(cluster: Cluster, client: Client) -> None:
    def refuse(call: Call, request: Request) -> Outcome:
        call.close()
        return NO_REPLY

    cluster.chain.append(Seen([], before=refuse))
    wanted = CreateTopicsRequest.Topic(
        name="new", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    client.send(CreateTopicsRequest(topics=[wanted], timeout_ms=1000), 7)
    assert (client.answers(), client.is_closed) == ([], True)
    assert cluster.topics.get("new") is None


def test_a_step_replaces_an_answer(cluster: Cluster, client: Client) -> None:
    other = HeartbeatResponse(error_code=Error.REBALANCE_IN_PROGRESS)
    cluster.chain.append(Seen([], after=lambda call, request, response: other))
    assert client.ask(BEAT, 4) == other


def test_outer_steps_see_what_inner_steps_make_of_an_answer(
    cluster: Cluster, client: Client
) -> None:
    codes: list[int] = []

    def note(call: Call, request: Request, response: Response | None) -> None:
        assert isinstance(response, HeartbeatResponse)
        codes.append(response.error_code)

    other = HeartbeatResponse(error_code=Error.REBALANCE_IN_PROGRESS)
    cluster.chain += [
        Seen([], after=note),
        Seen([], after=lambda call, request, response: other),
        Seen([], after=note),
    ]
    client.ask(BEAT, 4)
    assert codes == [Error.UNKNOWN_MEMBER_ID, Error.REBALANCE_IN_PROGRESS]


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_step_drops_a_request_or_its_answer(cluster: Cluster, client: Client, side: str) -> None:
    events: list[Any] = []
    cluster.chain += [Seen(events), at_side(side, lambda *_: NO_REPLY)]
    client.send(BEAT, 4)
    assert (client.answers(), client.is_closed) == ([], False)
    assert events == [(">", "Heartbeat"), ("<", None)]
    cluster.chain.clear()
    client._asked.clear()  # it was not answered, and never will be
    assert client.ask(BEAT, 4).error_code == Error.UNKNOWN_MEMBER_ID


def test_a_request_is_held_and_goes_on_where_it_was(cluster: Cluster, client: Client) -> None:
    events: list[Any] = []

    def hold(call: Call, request: Request) -> Outcome:
        cluster.timers.at(call.now + 1000, call.go_on)
        return PARKED

    cluster.chain += [Seen(events, "a"), Seen(events, "b", before=hold), Seen(events, "c")]
    client.send(BEAT, 4)
    client.send(METADATA, 12)  # waits until the one before it is answered
    advance(cluster, 999)
    assert (client.answers(), events) == ([], [("a>", "Heartbeat"), ("b>", "Heartbeat")])
    cluster.chain.pop()  # counts for requests that come later
    cluster.chain.pop()
    advance(cluster, 1)
    assert [_api(answer) for answer in client.answers()] == ["Heartbeat", "Metadata"]
    assert events[2:] == [
        *(("c>", "Heartbeat"), ("<c", "Heartbeat"), ("<b", "Heartbeat"), ("<a", "Heartbeat")),
        *(("a>", "Metadata"), ("<a", "Metadata")),
    ]


def test_a_request_goes_on_once(cluster: Cluster, client: Client) -> None:
    held: list[Call] = []

    def hold(call: Call, request: Request) -> Outcome:
        held.append(call)
        return PARKED

    events: list[Any] = []
    cluster.chain += [Seen([], before=hold), Seen(events)]
    client.send(BEAT, 4)
    for _ in range(3):
        held[0].go_on()
    assert len(client.answers()) == 1
    assert events == [(">", "Heartbeat"), ("<", "Heartbeat")]


def other_beat(call: Call, request: Request) -> HeartbeatRequest:
    assert isinstance(request, HeartbeatRequest)
    return HeartbeatRequest(group_id=f"{request.group_id}'", generation_id=1, member_id="m")


def test_a_step_passes_another_request_on(cluster: Cluster, client: Client) -> None:
    """Each step sees at the end the request that it has seen at first."""
    groups: list[str] = []

    def note(call: Call, request: Request, response: Response | None = None) -> None:
        assert isinstance(request, HeartbeatRequest)
        groups.append(request.group_id)

    step = Seen([], before=note, after=note)
    cluster.chain += [step, Seen([], before=other_beat), step, Seen([], before=other_beat), step]
    client.ask(BEAT, 4)
    assert groups == ["g", "g'", "g''", "g''", "g'", "g"]
    joined = [e for e in cluster.journal.events() if e.kind == "refused"]
    assert [event.group for event in joined] == ["g"]  # told of what came


def test_another_request_goes_on_in_place_of_one_that_is_held(
    cluster: Cluster, client: Client
) -> None:
    groups: list[str] = []

    def hold(call: Call, request: Request) -> Outcome:
        cluster.timers.at(call.now + 5, lambda: call.go_on(other_beat(call, request)))
        return PARKED

    def note(call: Call, request: Request) -> None:
        assert isinstance(request, HeartbeatRequest)
        groups.append(request.group_id)

    cluster.chain += [Seen([], before=hold), Seen([], before=note)]
    client.send(BEAT, 4)
    advance(cluster, 5)
    assert (len(client.answers()), groups) == (1, ["g'"])


def test_a_step_changes_the_bytes_of_an_answer(cluster: Cluster) -> None:
    def change(*changes: Callable[[bytes], bytes]) -> Callable[..., None]:
        def before(call: Call, request: Request) -> None:
            assert call.passage is not None
            call.passage.frames.extend(changes)

        return before

    whole = RawClient(cluster)
    whole.send(BEAT, 4)
    for changes, expected, is_closed in (
        ([lambda frame: frame * 2, lambda frame: frame[::-1]], (whole.sent * 2)[::-1], False),
        ([lambda frame: frame[:-1]], whole.sent[:-1], True),
        ([lambda frame: frame * 2, lambda frame: frame[:-1]], (whole.sent * 2)[:-1], True),
        ([lambda frame: b""], b"", True),
    ):
        cluster.chain[:] = [Seen([], before=change(*changes))]
        client = RawClient(cluster)
        client.send(BEAT, 4)
        assert (client.sent, client.is_closed) == (expected, is_closed)


def test_a_held_request_may_be_answered_instead(cluster: Cluster, client: Client) -> None:
    held: list[Call] = []

    def hold(call: Call, request: Request) -> Outcome:
        held.append(call)
        return PARKED

    events: list[Any] = []
    cluster.chain.append(Seen(events, before=hold))
    client.send(BEAT, 4)
    held[0].answer(HeartbeatResponse(error_code=Error.NETWORK_EXCEPTION))
    held[0].go_on()
    assert [answer.error_code for answer in client.answers()] == [Error.NETWORK_EXCEPTION]
    assert events == [(">", "Heartbeat"), ("<", "Heartbeat")]


def test_an_answer_is_held(cluster: Cluster, client: Client) -> None:
    def hold(call: Call, request: Request, response: Response | None) -> Outcome:
        cluster.timers.at(call.now + 1000, lambda: call.answer(response))
        return PARKED

    events: list[Any] = []
    cluster.chain += [Seen(events, "a"), Seen(events, "b", after=hold)]
    client.send(BEAT, 4)
    advance(cluster, 999)
    assert client.answers() == []
    assert events == [("a>", "Heartbeat"), ("b>", "Heartbeat"), ("<b", "Heartbeat")]
    advance(cluster, 1)
    assert len(client.answers()) == 1
    assert events[3:] == [("<a", "Heartbeat")]


def test_a_parked_fetch_passes_when_it_is_answered(
    cluster: Cluster, client: Client, events: list[Any]
) -> None:
    client.send(fetch_request(asked(), max_wait_ms=500), 12)
    assert events == [(">", "Fetch")]
    produce(client_of(cluster), batch(b"a"))
    (answer,) = client.answers()
    assert values(only(answer)) == [b"a"]
    assert events == [(">", "Fetch"), (">", "Produce"), ("<", "Produce"), ("<", "Fetch")]


def test_a_parked_fetch_passes_when_its_time_is_over(
    cluster: Cluster, client: Client, events: list[Any]
) -> None:
    client.send(fetch_request(asked(), max_wait_ms=500), 12)
    advance(cluster, 500)
    assert len(client.answers()) == 1
    assert events == [(">", "Fetch"), ("<", "Fetch")]


def test_a_parked_join_passes_when_the_round_ends(cluster: Cluster, client: Client) -> None:
    client_of(cluster).ask(join_request(), 3)
    events: list[Any] = []
    cluster.chain.append(Seen(events))
    client.send(join_request(), 3)  # the first member is to join again, or to be forgotten
    assert events == [(">", "JoinGroup")]
    advance(cluster, 30_000)
    (answer,) = client.answers()
    assert answer.generation_id == 2
    assert events == [(">", "JoinGroup"), ("<", "JoinGroup")]


def test_a_join_that_is_answered_at_once_passes_once(client: Client, events: list[Any]) -> None:
    unknown = join_request(member_id="nobody")
    assert client.ask(unknown, 3).error_code == Error.UNKNOWN_MEMBER_ID
    assert events == [(">", "JoinGroup"), ("<", "JoinGroup")]


def test_without_acks_the_end_is_seen_and_nothing_is_sent(
    client: Client, events: list[Any]
) -> None:
    client.send(produce_request(batch(b"a"), acks=0), 9)
    assert (client.answers(), client.is_closed) == ([], False)
    assert events == [(">", "Produce"), ("<", None)]


def test_a_connection_that_its_handler_closes_is_seen(client: Client, events: list[Any]) -> None:
    client.send(produce_request(batch(b"a"), topic="none", acks=0), 9)
    assert client.is_closed
    assert events == [(">", "Produce"), ("<", None)]


def test_a_handler_that_fails_is_seen(
    cluster: Cluster, client: Client, events: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.groups.at(1).classic, "heartbeat", lambda *_: 1 / 0)
    client.send(BEAT, 4)
    assert client.is_closed
    assert events == [(">", "Heartbeat"), ("<", None)]


@pytest.mark.parametrize("parked", [fetch_request(asked(), max_wait_ms=500), join_request()])
def test_a_connection_that_is_lost_while_a_request_is_parked_is_seen(
    cluster: Cluster, client: Client, parked: Request
) -> None:
    closed: list[bool] = []
    events: list[Any] = []
    client_of(cluster).ask(join_request(), 3)
    cluster.chain.append(
        Seen(events, after=lambda call, request, response: closed.append(not call.is_open))
    )
    client.send(parked, 3 if isinstance(parked, JoinGroupRequest) else 12)
    client.connection.lost()
    assert (events[1:], closed) == ([("<", None)], [True])
    advance(cluster, 60_000)
    assert len(events) == 2


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_connection_that_is_lost_while_a_step_holds_is_seen_by_the_others(
    cluster: Cluster, client: Client, side: str
) -> None:
    held: list[Call] = []

    def hold(call: Call, *_: Any) -> Outcome:
        held.append(call)
        return PARKED

    events: list[Any] = []
    cluster.chain += [Seen(events), at_side(side, hold)]
    client.send(BEAT, 4)
    client.connection.lost()
    assert events == [(">", "Heartbeat"), ("<", None)]
    held[0].go_on()
    held[0].answer(HeartbeatResponse())
    assert (client.answers(), len(events)) == ([], 2)


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_step_that_fails_closes_its_own_connection_only(
    cluster: Cluster, client: Client, side: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(call: Call, *_: Any) -> Outcome:
        if call.client_id == "test":
            raise ZeroDivisionError("a step's own")
        return None

    events: list[Any] = []
    cluster.chain += [Seen(events), at_side(side, fail)]
    other = client_of(cluster, "other")
    client.send(BEAT, 4)
    assert (client.answers(), client.is_closed) == ([], True)
    assert events == [(">", "Heartbeat"), ("<", None)]
    assert "a step failed on its HeartbeatRequest" in caplog.text
    assert "a step's own" in caplog.text
    assert other.ask(BEAT, 4).error_code == Error.UNKNOWN_MEMBER_ID


def test_a_step_that_fails_on_a_parked_answer_hurts_only_who_waits_for_it(
    cluster: Cluster, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(call: Call, request: Request, response: Response | None) -> Outcome:
        if call.client_id == "waiting":
            raise ZeroDivisionError("a step's own")
        return None

    cluster.chain.append(Seen([], after=fail))
    waiting = [client_of(cluster, name) for name in ("waiting", "patient")]
    for each in waiting:
        each.send(fetch_request(asked(), max_wait_ms=500), 12)
    produce(client, batch(b"a"))
    assert [each.is_closed for each in waiting] == [True, False]
    assert len(waiting[1].answers()) == 1
    assert "a step's own" in caplog.text


def test_a_step_that_fails_on_a_lost_connection_is_logged(
    cluster: Cluster, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    events: list[Any] = []

    def fail(*_: Any) -> Outcome:
        raise ZeroDivisionError

    cluster.chain += [Seen(events), Seen([], after=fail)]
    client.send(fetch_request(asked(), max_wait_ms=500), 12)
    client.connection.lost()
    assert events == [(">", "Fetch"), ("<", None)]
    assert "ZeroDivisionError" in caplog.text


def test_what_cannot_be_decoded_comes_to_no_step(
    cluster: Cluster, client: Client, events: list[Any]
) -> None:
    header = write_request_header(RequestHeader(BEAT.api_key, 4, 1, "test"))
    client.send_raw(header + b"\xff")
    assert client.is_closed
    assert events == []
    unserved = client_of(cluster)
    unserved.send_raw(write_request_header(RequestHeader(BEAT.api_key, 99, 1, "test")) + bytes(9))
    assert unserved.is_closed
    assert events == []


def test_an_unknown_version_of_api_versions_comes_as_an_empty_request_of_version_0(
    cluster: Cluster, client: Client
) -> None:
    seen: list[Any] = []
    cluster.chain.append(
        Seen([], before=lambda call, request: seen.append((call.version, request)))
    )
    client._asked.append((7, ApiVersionsRequest.api_key, 0))
    client.send_raw(write_request_header(RequestHeader(18, 99, 7, "test")) + b"anything")
    (answer,) = client.answers()
    assert isinstance(answer, ApiVersionsResponse)
    assert answer.error_code == Error.UNSUPPORTED_VERSION
    assert seen == [(0, ApiVersionsRequest())]


def test_an_answer_that_cannot_be_written_closes_the_connection(
    cluster: Cluster, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.chain.append(Seen([], after=lambda *_: HeartbeatResponse(error_code=10**6)))
    client.send(BEAT, 4)
    assert client.is_closed
    assert WireError.__name__ in caplog.text


def test_a_call_knows_who_asks_and_who_is_asked(cluster: Cluster, client: Client) -> None:
    calls: list[Call] = []
    cluster.chain.append(Seen([], before=lambda call, request: calls.append(call)))
    client.ask(BEAT, 4)
    (call,) = calls
    assert (call.listener, call.principal, str(call.principal)) == (
        "PLAINTEXT",
        ANONYMOUS,
        "User:ANONYMOUS",
    )
    assert (call.node_id, call.client_id, call.client_host) == (1, "test", "127.0.0.1")
    assert (call.software, call.now) == (UNKNOWN_SOFTWARE, NOW)


def introduced(name: str, version: str) -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name=name, client_software_version=version)


def test_a_call_knows_the_software_from_the_request_on_that_names_it(
    cluster: Cluster, client: Client
) -> None:
    found: list[ClientSoftware] = []
    cluster.chain.append(Seen([], before=lambda call, request: found.append(call.software)))
    client.ask(ApiVersionsRequest(), 2)
    client.ask(introduced("librdkafka", "2.4.0"), 3)
    client.ask(BEAT, 4)
    client.ask(introduced("?", "2"), 4)  # refused, and not remembered
    client.ask(ApiVersionsRequest(), 0)
    client_of(cluster).ask(BEAT, 4)
    librdkafka = ClientSoftware("librdkafka", "2.4.0")
    assert found == [UNKNOWN_SOFTWARE, *[librdkafka] * 4, UNKNOWN_SOFTWARE]


class OfOne(Seen):
    """A step that concerns one API, and no request of some clients."""

    def __init__(self, events: list[Any], api_key: int, *exempt: Principal) -> None:
        super().__init__(events)
        self.api_key = api_key
        self.exempt = exempt

    def concerns(self, api_key: int) -> bool:
        return api_key == self.api_key

    def exempts(self, principal: Principal) -> bool:
        return principal in self.exempt


def test_a_step_sees_the_requests_of_its_apis(cluster: Cluster, client: Client) -> None:
    events: list[Any] = []
    step = OfOne(events, BEAT.api_key)
    cluster.chain += [step, Seen(events, "all")]
    client.ask(METADATA, 12)
    assert events == [("all>", "Metadata"), ("<all", "Metadata")]
    events.clear()
    client.ask(BEAT, 4)
    assert [event for event, _ in events] == [">", "all>", "<all", "<"]
    events.clear()
    step.api_key = METADATA.api_key
    cluster.chain.changed()
    client.ask(BEAT, 4)
    client.ask(METADATA, 12)
    assert [event for event, _ in events] == ["all>", "<all", ">", "all>", "<all", "<"]


def test_a_step_sees_no_request_of_whom_it_exempts(cluster: Cluster, client: Client) -> None:
    events: list[Any] = []
    cluster.chain.append(OfOne(events, BEAT.api_key, ANONYMOUS))
    client.ask(BEAT, 4)
    assert events == []
    client.connection.principal = Principal("User", "alice")
    client.ask(BEAT, 4)
    assert events == [(">", "Heartbeat"), ("<", "Heartbeat")]


def test_records_are_not_copied_for_steps_that_do_not_see_them(
    cluster: Cluster, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that sees a fetch sees its records, too; else they stay where they are stored."""
    later: list[bool] = []
    init = FetchRun.__init__

    def noting(self: FetchRun, *given: Any, **more: Any) -> None:
        init(self, *given, **more)
        later.append(self.reads_later)

    monkeypatch.setattr(FetchRun, "__init__", noting)
    step = OfOne([], BEAT.api_key)
    cluster.chain.append(step)
    for key in (BEAT.api_key, FetchRequest.api_key):
        step.api_key = key
        cluster.chain.changed()
        client.ask(fetch_request(asked(), max_wait_ms=0), 12)
    assert later == [True, False]

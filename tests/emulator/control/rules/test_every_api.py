"""Every verb for every API: whether the request is carried out, what its client sees, and that
other clients see nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.division.refusing import levels
from odradek.emulator.handlers.registry import SERVED
from odradek.fixtures.kafka.rule_builder import RuleBuilder
from odradek.fixtures.kafka.rule_view import RuleView
from odradek.wire import Error, Request, Response
from odradek.wire.api import response_class
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.frames import SIZE

from tests.support.cluster import open_cluster
from tests.support.looped import for_each
from tests.support.raw_client import RawClient
from tests.support.ruled import CarriedOut, Ruled
from tests.support.versions import first_and_last
from tests.wire.support.messages import full

CASES = [
    (served.request, version)
    for served in SERVED.values()
    for version in first_and_last(served.request)
]
each_case = for_each("case", CASES)
LATE_S, LATE_MS = 2.5, 2500
THROTTLED_MS = 77


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = open_cluster(Path(tmp_path_factory.mktemp("rules")))
    cluster.create_topic("t", 1, {})
    yield cluster
    cluster.close()


class Met(NamedTuple):
    """A request that has met a rule."""

    cluster: Cluster
    client: RawClient
    carried_out: CarriedOut
    rule: RuleView
    usual: list[Response]
    """What another client was answered, for which there is no rule."""

    @property
    def is_carried_out(self) -> bool:
        return bool(self.carried_out.requests)

    @property
    def seen(self) -> tuple[bool, int, bool]:
        """Whether it was carried out, how many answers there were, whether the client is cut."""
        return self.is_carried_out, len(self.client.answers()), self.client.is_closed


def a_request(request: type[Request], version: int) -> Any:
    """One that is answered at once."""
    made = full(request, version)
    if isinstance(made, FetchRequest):
        made.session_id, made.session_epoch = 0, -1
    return made


def meet(cluster: Cluster, request: type[Request], version: int, verb: Any) -> Met:
    """Send a request that meets a rule with this verb, after another client has sent the same."""
    kafka, carried_out = Ruled(cluster), CarriedOut()
    rule = verb(kafka.on(request, client_id="test").once())
    cluster.chain.append(carried_out)
    try:
        usual = RawClient(cluster, "other").ask(a_request(request, version), version)
        assert (rule.hits, len(carried_out.requests)) == (0, 1)
        carried_out.requests.clear()
        client = RawClient(cluster)
        client.send(a_request(request, version), version)
        assert rule.hits == 1 or not usual  # without an answer there may be nothing to do
        assert [type(each) for each in rule.requests] == [request] * rule.hits
    finally:
        cluster.chain.clear()
    return Met(cluster, client, carried_out, rule, usual)


Case = tuple[type[Request], int]


@each_case
def test_drop_request(cluster: Cluster, case: Case) -> None:
    assert meet(cluster, *case, RuleBuilder.drop_request).seen == (False, 0, False)


@each_case
def test_drop_reply(cluster: Cluster, case: Case) -> None:
    met = meet(cluster, *case, RuleBuilder.drop_reply)
    assert met.seen == (True, 0, not met.usual)


@each_case
def test_disconnect_before(cluster: Cluster, case: Case) -> None:
    assert meet(cluster, *case, lambda on: on.disconnect()).seen == (False, 0, True)


@each_case
def test_disconnect_after(cluster: Cluster, case: Case) -> None:
    assert meet(cluster, *case, lambda on: on.disconnect("after")).seen == (True, 0, True)


@each_case
def test_delay_before(cluster: Cluster, case: Case) -> None:
    met = meet(cluster, *case, lambda on: on.delay(LATE_S))
    assert (met.seen, met.rule.held) == ((False, 0, False), 1)
    cluster.advance(LATE_MS - 1)
    assert met.seen == (False, 0, False)
    cluster.advance(1)
    assert (len(met.client.answers()), met.rule.held) == (len(met.usual), 0)


@each_case
def test_delay_after(cluster: Cluster, case: Case) -> None:
    met = meet(cluster, *case, lambda on: on.delay(LATE_S, "after"))
    assert (met.seen, met.rule.held) == ((True, 0, not met.usual), len(met.usual))
    cluster.advance(LATE_MS)
    assert (len(met.client.answers()), met.rule.held) == (len(met.usual), 0)


@pytest.mark.parametrize("when", ["before", "after"])
@each_case
def test_hold(cluster: Cluster, case: Case, when: str) -> None:
    met = meet(cluster, *case, lambda on: on.hold(when))
    assert len(met.client.answers()) == 0
    assert met.is_carried_out == (when == "after")
    met.rule.release()
    assert (len(met.client.answers()), met.rule.held) == (len(met.usual), 0)


@each_case
def test_fail(cluster: Cluster, case: Case) -> None:
    if not levels(*case):  # old versions of DescribeLogDirs
        with pytest.raises(ValueError, match="no place for an error"):
            Ruled(cluster).on(case[0], version=case[1]).fail(Error.UNKNOWN_SERVER_ERROR)
        return
    met = meet(cluster, *case, lambda on: on.fail(Error.UNKNOWN_SERVER_ERROR))
    carried_out, answers, is_closed = met.seen
    assert (answers, is_closed) == (1, False)
    # A fetch is carried out for what is not refused, and all of this one is.
    assert carried_out == (case[0] is FetchRequest)
    (answer,) = met.client.answers()
    assert Error.UNKNOWN_SERVER_ERROR in codes_of(answer)


def codes_of(struct: Any) -> Iterator[int]:
    """Each error code in an answer."""
    for field, t in type(struct).fields():
        value = getattr(struct, field.name)
        if field.name.endswith("error_code"):
            yield value
        elif t.struct is not None:
            for each in (value or []) if t.is_list else [value]:
                if each is not None:
                    yield from codes_of(each)


@each_case
def test_answer(cluster: Cluster, case: Case) -> None:
    own = full(response_class(case[0].api_key), case[1])
    met = meet(cluster, *case, lambda on: on.answer(lambda request: own))
    assert met.seen == (False, 1, False)
    assert met.client.answers() == [own]


@each_case
def test_edit(cluster: Cluster, case: Case) -> None:
    own = full(response_class(case[0].api_key), case[1])
    met = meet(cluster, *case, lambda on: on.edit(lambda response: own))
    assert met.client.answers() == [own] * len(met.usual)
    assert met.is_carried_out


@each_case
def test_throttle(cluster: Cluster, case: Case) -> None:
    request, version = case
    fields = dict(response_class(request.api_key).fields())
    places = [field for field in fields if field.name == "throttle_time_ms"]
    kafka = Ruled(cluster)
    if not any(field.is_in(version) for field in places):
        with pytest.raises(ValueError, match="has no throttle_time_ms"):
            kafka.on(request, version=version).throttle(THROTTLED_MS)
        return
    met = meet(cluster, *case, lambda on: on.throttle(THROTTLED_MS))
    waits: list[Any] = met.client.answers()
    assert [each.throttle_time_ms for each in waits] == [THROTTLED_MS] * len(met.usual)


@each_case
def test_truncate_reply(cluster: Cluster, case: Case) -> None:
    met = meet(cluster, *case, lambda on: on.truncate_reply(3))
    assert met.is_carried_out
    assert met.client.is_closed
    if met.usual:
        assert len(met.client.sent) == SIZE.size + 3
        assert SIZE.unpack_from(met.client.sent)[0] > 3


@each_case
def test_repeat_reply(cluster: Cluster, case: Case) -> None:
    met = meet(cluster, *case, RuleBuilder.repeat_reply)
    half = len(met.client.sent) // 2
    assert met.client.sent[:half] == met.client.sent[half:]
    assert len(met.client.answers()) == 2 * len(met.usual)

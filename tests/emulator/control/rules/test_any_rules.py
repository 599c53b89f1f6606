"""Any rules, on any requests, in any order: nobody is left waiting without a reason, nothing is
carried out twice, and nothing fails.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.fixtures.kafka.rule_builder import RuleBuilder
from odradek.fixtures.kafka.rule_view import RuleView
from odradek.wire import Error
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest

from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce_all
from tests.support.cluster import open_cluster
from tests.support.drawn import sized
from tests.support.looped import for_each
from tests.support.raw_client import RawClient
from tests.support.ruled import CarriedOut, Ruled

STEPS = 40
VERBS: dict[str, Callable[[RuleBuilder], RuleView]] = {
    "drop_request": lambda on: on.drop_request(),
    "drop_reply": lambda on: on.drop_reply(),
    "disconnect": lambda on: on.disconnect(),
    "disconnect after": lambda on: on.disconnect("after"),
    "delay": lambda on: on.delay(0.3),
    "delay after": lambda on: on.delay(0.3, "after"),
    "hold": lambda on: on.hold(),
    "hold after": lambda on: on.hold("after"),
    "fail": lambda on: on.fail(Error.UNKNOWN_SERVER_ERROR),
    "throttle": lambda on: on.throttle(5),
    "answer": lambda on: on.answer(lambda request: None),
    "edit": lambda on: on.edit(lambda response: None),
    "truncate": lambda on: on.truncate_reply(-1),
    "repeat": lambda on: on.repeat_reply(),
}
COUNTED: list[Callable[[RuleBuilder], RuleBuilder]] = [
    lambda on: on.times(2),
    lambda on: on.after(1),
    lambda on: on.every(2),
    lambda on: on.during(1),
]
LOSING = ("drop_request", "drop_reply")
NARROWED: dict[type[Any], list[dict[str, Any]]] = {
    ProduceRequest: [{}, {"topic": "t"}, {"partition": 1}, {"topic": "u", "partition": 0}],
    FetchRequest: [{}, {"topic": "t"}, {"topic": "t", "partition": 1}],
    MetadataRequest: [{}, {"topic": "t"}],
    HeartbeatRequest: [{}, {"group": "g"}, {"member": "m"}],
}


def a_request(random: Random) -> tuple[Any, int]:
    kind = random.choice(list(NARROWED))
    if kind is ProduceRequest:
        places = [("t", 0), ("t", 1), ("u", 0)]
        some = random.sample(places, random.randint(1, 3))
        return produce_all(*((*place, batch(b"a")) for place in some)), 9
    if kind is FetchRequest:
        return fetch_request(asked(0), asked(1), max_wait_ms=random.choice([0, 200])), 12
    if kind is MetadataRequest:
        named = [MetadataRequest.Topic(name="t")]
        return MetadataRequest(topics=random.choice([None, named])), 12
    return HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4


def a_rule(random: Random, kafka: Ruled) -> tuple[str, RuleView]:
    kind = random.choice(list(NARROWED))
    on = kafka.on(kind, **random.choice(NARROWED[kind])).optional()
    for _ in range(random.randint(0, 2)):
        on = random.choice(COUNTED)(on)
    verb = random.choice(list(VERBS))
    return verb, VERBS[verb](on)


def run(cluster: Cluster, random: Random) -> None:
    kafka, carried_out = Ruled(cluster), CarriedOut()
    cluster.chain.append(carried_out)
    rules: list[tuple[str, RuleView]] = []
    clients = [RawClient(cluster, f"c{number}") for number in range(4)]
    sent = 0
    for _ in range(STEPS):
        what = random.random()
        if what < 0.25:
            rules.append(a_rule(random, kafka))
        elif what < 0.35 and rules:
            random.choice([each.release if each.held else each.remove for _, each in rules])()
        elif what < 0.45:
            cluster.advance(random.choice([50, 400]))
        else:
            client = random.choice([each for each in clients if not each.is_closed] or clients)
            if client.is_closed:
                break
            client.send(*a_request(random))
            sent += 1
    for _, rule in rules:
        rule.remove()
    cluster.advance(60_000)  # fetches wait one after the other
    check(kafka, clients, rules, carried_out, sent)


def check(
    kafka: Ruled,
    clients: list[RawClient],
    rules: list[tuple[str, RuleView]],
    carried_out: CarriedOut,
    sent: int,
) -> None:
    kafka.check_faults()
    assert [rule.held for _, rule in rules] == [0] * len(rules)
    lost = sum(rule.hits for verb, rule in rules if verb in LOSING)
    waiting = [each for each in clients if each.connection.current is not None]
    assert len(waiting) <= lost
    assert len(kafka._rules._meetings) <= len(waiting)
    assert len(carried_out.requests) <= sent
    for client in clients:
        if client not in waiting and not client.is_closed:
            assert len(client.answers()) >= len(client._asked)
    for client in clients:
        client.connection.close()
    assert kafka._rules._meetings == {}


@for_each("seed", range(sized(100)))
def test_any_rules(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    cluster = open_cluster()
    try:
        cluster.create_topic("t", 2, {})
        cluster.create_topic("u", 1, {})
        cluster.groups.ensure_topic()
        with caplog.at_level(logging.ERROR):
            run(cluster, Random(seed))
        assert caplog.records == []
    finally:
        cluster.close()

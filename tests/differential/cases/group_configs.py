"""Sections I5, I6, I17: configs of groups and metrics subscriptions; which resources have configs;
what a restart leaves of all of them."""

from __future__ import annotations

from odradek.wire.api.list_config_resources import ListConfigResourcesRequest

from tests.requests.configs import Pair

from ..ask.configs import (
    APPEND,
    BROKER,
    DELETE,
    GROUP,
    LOGGER,
    METRICS,
    SET,
    TOPIC,
    alter,
    change,
    put_in,
    reset,
    shown,
)
from ..ask.groups import stable_group
from ..ask.topics import create
from ..engine.steps import Ask, Restart, Steps
from . import case


def listed(*kinds: int) -> Ask:
    return Ask(ListConfigResourcesRequest(resource_types=list(kinds)))


def _bounds() -> list[tuple[str, str]]:
    values = {
        "consumer.heartbeat.interval.ms": "0 4999 5000 15000 15001 x",
        "consumer.session.timeout.ms": "0 44999 45000 60000 60001",
        "consumer.assignment.interval.ms": "-1 0 15000 15001",
        "share.heartbeat.interval.ms": "0 4999 5000 15000 15001",
        "share.session.timeout.ms": "0 44999 45000 60000 60001",
        "share.assignment.interval.ms": "-1 0 15000 15001",
        "share.record.lock.duration.ms": "999 14999 15000 60000 60001",
        "share.delivery.count.limit": "1 2 10 11",
        "share.partition.max.record.locks": "99 100 4000 4001",
        "share.isolation.level": "x READ_COMMITTED read_committed",
        "share.renew.acknowledge.enable": "x TRUE",
        "share.auto.offset.reset": "x EARLIEST earliest latest by_duration:PT1H by_duration:PT"
        " by_duration:P1DT2H3M4.5S by_duration:-PT1H by_duration: by_duration by_duration:pt1h"
        " by_duration:PT0S by_duration:P1W by_duration:PT1H-2M",
        "streams.heartbeat.interval.ms": "0 4999 5000 15000 15001",
        "streams.session.timeout.ms": "0 44999 45000 60000 60001",
        "streams.assignment.interval.ms": "-1 0 15000 15001",
        "streams.initial.rebalance.delay.ms": "-1 0 1000000",
        "streams.num.standby.replicas": "-1 0 2 3",
    }
    return [(name, value) for name, line in values.items() for value in line.split()]


@case("I5, I6")
def configs_of_groups() -> Steps:
    session = "consumer.session.timeout.ms"
    return [
        *(put_in(GROUP, "~g", pair) for pair in _bounds()),
        shown(GROUP, "~g"),
        put_in(GROUP, "~g", (session, "1"), ("share.record.lock.duration.ms", "1000")),
        put_in(GROUP, "~g", ("a", "1"), ("another", "2"), (session, "x")),
        *(change((GROUP, "", [])) for _ in range(1)),
        alter((GROUP, "", [("a", "1")])),
        change((GROUP, "~g", [(session, APPEND, "1")])),
        change((GROUP, "~g", [("a", APPEND, "1"), ("b", DELETE, None)])),
        change((GROUP, "~g", [("a", DELETE, "1")])),
        change((GROUP, "~g", [("a", SET, None)])),
        put_in(GROUP, "~h", (session, "46000"), only=True),
        alter((GROUP, "~h", [(session, "46000")])),
        alter((GROUP, "~h", [(session, "1")])),
        shown(GROUP, "~h"),
        listed(GROUP),
        alter((GROUP, "~h", [])),
        shown(GROUP, "~h", session),
        listed(GROUP),
    ]


@case("I5")
def unknown_configs_of_groups() -> Steps:
    names = ("nonsense", "retention.ms", "cleanup.policy", "b", "foo", "zz", "hello.world")
    return [
        alter((GROUP, "~g", [(one, "1"), (two, "1")]))
        for one in names
        for two in names
        if one != two
    ]


@case("I5, I6")
def configs_of_metrics_subscriptions() -> Steps:
    pairs: list[Pair] = [("interval.ms", v) for v in ("99", "100", "3600000", "3600001", "x", "-1")]
    pairs += [("metrics", v) for v in ("a,b", "*", "", "a,,b", "a,a", "*,a", " a , b ")]
    pairs += [
        ("match", v)
        for v in (
            "",
            "x",
            "client_id=a.*",
            "client_id=*",
            "foo=a",
            "client_id=a,client_software_name=b",
            "client_id=a,client_id=b",
            "client_id",
            "client_id=",
            "=a",
            "client_id = a",
            "client_id=a=b",
            "CLIENT_ID=a",
            "client_source_port=2,client_source_address=1,client_software_version=3",
            "client_instance_id=(",
            ",",
        )
    ]
    steps: Steps = []
    for pair in pairs:
        steps += [put_in(METRICS, "~m", pair), shown(METRICS, "~m", *(pair[:1]))]
    return [
        *steps,
        put_in(METRICS, "~m", ("a", "1"), ("interval.ms", "x")),
        put_in(METRICS, "~m", ("match", "x"), ("interval.ms", "1")),
        *(change((METRICS, "~m", [(n, APPEND, "c")])) for n in ("metrics", "match", "interval.ms")),
        change((METRICS, "", [])),
        alter((METRICS, "", [("a", "1")])),
        alter((METRICS, "~m ü/", [("interval.ms", "200")])),
        listed(METRICS),
        reset(METRICS, "~m", "interval.ms", "metrics", "match"),
        listed(METRICS),
    ]


@case("I17", each=ListConfigResourcesRequest)
def resources_that_have_configs() -> Steps:
    return [
        create("~b"),
        create("~a"),
        put_in(GROUP, "~h", ("consumer.session.timeout.ms", "46000")),
        put_in(METRICS, "~m", ("interval.ms", "200")),
        *stable_group(),
        listed(),
        *(listed(kind) for kind in (TOPIC, BROKER, LOGGER, METRICS, GROUP, 0, 1, 3, 64, -1)),
        listed(TOPIC, TOPIC),
        listed(GROUP, METRICS),
        listed(METRICS, 99),
    ]


@case("I6, I15")
def configs_over_a_restart() -> Steps:
    return [
        create("~t"),
        put_in(TOPIC, "~t", ("retention.ms", " 0700000 ")),
        put_in(BROKER, "", ("log.segment.bytes", "2097152")),
        put_in(BROKER, "1", ("log.roll.ms", "5000000")),
        put_in(GROUP, "~g", ("consumer.session.timeout.ms", "46000")),
        put_in(METRICS, "~m", ("interval.ms", "200")),
        Restart(),
        shown(TOPIC, "~t"),
        shown(GROUP, "~g", "consumer.session.timeout.ms"),
        shown(METRICS, "~m"),
        shown(BROKER, ""),
        shown(BROKER, "1", "log.roll.ms", "log.segment.bytes"),
        listed(GROUP, METRICS),
        reset(BROKER, "", "log.segment.bytes"),
        reset(BROKER, "1", "log.roll.ms"),
        shown(TOPIC, "~t"),
    ]

"""Situations as the kit has them: checked, named, removed; and arguments that are wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from odradek.emulator import Emulator, Error, ManualClock, NeverMatched, Refused, Situation
from odradek.storage import MemoryDisk
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.fetch import asked, fetch_request
from tests.requests.groups import join_request
from tests.requests.produce import batch, produce, produce_request
from tests.support.connection import Connection, ask

ASKED = MetadataRequest(topics=None)
LASTING: dict[str, Callable[[Emulator], Situation]] = {
    "lost_acknowledgement('orders')": lambda k: k.situations.lost_acknowledgement("orders"),
    "lost_acknowledgement('orders', times=2, silent=True)": lambda k: (
        k.situations.lost_acknowledgement("orders", times=2, silent=True)
    ),
    "retry_storm('orders', 5)": lambda k: k.situations.retry_storm(k.topic("orders")),
    "not_leader('orders', partition=1, seconds=2)": lambda k: k.situations.not_leader(
        "orders", partition=1, seconds=2
    ),
    "coordinator_loading(group='g')": lambda k: k.situations.coordinator_loading(
        group=k.group("g")
    ),
    "coordinator_loading(transactional_id='x', seconds=2)": lambda k: (
        k.situations.coordinator_loading(transactional_id="x", seconds=2)
    ),
    "coordinator_moved(group='g')": lambda k: k.situations.coordinator_moved(group="g"),
    "lock_ends_in_batch('g', times=2)": lambda k: k.situations.lock_ends_in_batch("g", 2),
    "poison_record('g', 'orders', 3, partition=1)": lambda k: k.situations.poison_record(
        k.share_group("g"), "orders", 3, 1
    ),
    "rebalance_in_batch('g')": lambda k: k.situations.rebalance_in_batch("g"),
    "message_too_large('orders', 100)": lambda k: k.situations.message_too_large("orders", 100),
    "message_too_large('orders', 100, seconds=2)": lambda k: k.situations.message_too_large(
        "orders", 100, seconds=2
    ),
    "disk_full(seconds=2)": lambda k: k.situations.disk_full(seconds=2),
    "slow_broker(0.5, client_id='app')": lambda k: k.situations.slow_broker(0.5, client_id="app"),
    "throttled(100)": lambda k: k.situations.throttled(100),
    "older_broker('2.1')": lambda k: k.situations.older_broker("2.1.1"),
}


@pytest.mark.parametrize("said", LASTING)
def test_one_that_nobody_has_met(kafka: Emulator, said: str) -> None:
    situation = LASTING[said](kafka)
    assert repr(situation) == f"kafka.situations.{said}"
    with pytest.raises(NeverMatched) as raised:
        kafka.check_faults()
    assert str(raised.value).startswith(f"kafka.situations.{said}")
    kafka.check_faults()  # each is told once


@pytest.mark.parametrize("said", LASTING)
def test_one_that_need_not_be_met(kafka: Emulator, said: str) -> None:
    with LASTING[said](kafka).optional() as situation:
        assert situation.hits == 0
    situation.remove()  # harmless
    kafka.check_faults()
    assert ask(kafka.bootstrap_servers, ASKED, 12).topics


@pytest.mark.parametrize("said", LASTING)
def test_the_end_of_a_block(kafka: Emulator, said: str) -> None:
    with pytest.raises(NeverMatched), LASTING[said](kafka):
        pass
    with pytest.raises(KeyError), LASTING[said](kafka):  # which is what is told
        raise KeyError
    kafka.check_faults()


def test_what_it_met_is_in_the_timeline(kafka: Emulator) -> None:
    with kafka.situations.not_leader("orders") as situation:
        ask(kafka.bootstrap_servers, fetch_request(asked(), topic="orders"), 12)
    assert f"met a rule with its Fetch: {situation}" in kafka.timeline()
    assert {str(each) for each in kafka.rules} == {str(situation)}


def test_waiting_for_it(kafka: Emulator) -> None:
    situation = kafka.situations.not_leader("orders")
    request = fetch_request(asked(), topic="orders")

    async def main() -> None:
        asked_for = asyncio.to_thread(ask, kafka.bootstrap_servers, request, 12)
        found, _ = await asyncio.gather(situation.await_hit(), asked_for)
        assert found == 1

    asyncio.run(main())
    assert situation.wait_hit() == 1
    with pytest.raises(AssertionError, match="It was met 1 time") as raised:
        situation.wait_hit(2, timeout=0.05)
    assert f"for {situation} to be met 2 times" in str(raised.value)


def test_a_wait_for_what_nobody_has_met(kafka: Emulator) -> None:
    situation = kafka.situations.coordinator_moved(group="g").optional()
    with pytest.raises(AssertionError, match="There was no JoinGroup request"):
        situation.wait_hit(timeout=0.05)


def test_a_restart_and_a_reset(kafka: Emulator) -> None:
    situation = kafka.situations.not_leader("orders")
    kafka.restart(clean=False)
    answer = ask(kafka.bootstrap_servers, fetch_request(asked(), topic="orders"), 12)
    assert answer.responses[0].partitions[0].error_code == Error.NOT_LEADER_OR_FOLLOWER
    too_large = kafka.situations.message_too_large("orders", 60)
    kafka.reset()
    too_large.remove()
    situation.remove()
    kafka.check_faults()
    with Connection(kafka.bootstrap_servers) as client:
        answer = produce(client, batch(b"x", time=kafka.now), topic="orders")
    assert answer.error_code == Error.NONE


def test_its_topic_may_be_deleted_meanwhile(kafka: Emulator) -> None:
    with kafka.situations.message_too_large("orders", 60).optional():
        kafka.delete_topic("orders")
    assert "orders" not in kafka.topics()


def test_it_may_be_removed_when_the_broker_has_stopped() -> None:
    kafka = Emulator(topics={"orders": 2}, disk=MemoryDisk())
    kafka.start()
    situations = [make(kafka).optional() for make in LASTING.values()]
    kafka.stop()
    for each in situations:
        each.remove()


WRONG: dict[str, tuple[Callable[[Emulator], object], type[Exception], str]] = {
    "no group, no id": (
        lambda k: k.situations.coordinator_loading(),
        TypeError,
        r"give one of both: group=\.\.\. or transactional_id=",
    ),
    "both": (
        lambda k: k.situations.coordinator_moved(group="g", transactional_id="x"),
        TypeError,
        "give one of both",
    ),
    "no times": (lambda k: k.situations.lost_acknowledgement("orders", times=0), ValueError, "1"),
    "seconds": (lambda k: k.situations.not_leader("orders", seconds=-1), ValueError, "from 0"),
    "a topic that there is not": (
        lambda k: k.situations.producer_id_expired("order"),
        Refused,
        "orders",
    ),
    "a limit": (lambda k: k.situations.message_too_large("orders", -1), ValueError, "max_bytes"),
    "a limit as text": (
        lambda k: k.situations.message_too_large("orders", "1"),  # type: ignore[arg-type]
        TypeError,
        "max_bytes is a whole number",
    ),
    "keep": (
        lambda k: k.situations.retention_overtakes("orders", keep=-1),
        ValueError,
        "keep is a whole number from 0 on",
    ),
    "count": (lambda k: k.situations.partitions_added("orders", 0), ValueError, "count"),
    "milliseconds": (lambda k: k.situations.throttled(0), ValueError, "milliseconds"),
    "slow": (lambda k: k.situations.slow_broker(-1), ValueError, "seconds"),
    "a jump": (
        lambda k: k.situations.clock_jump("1"),  # type: ignore[arg-type]
        TypeError,
        "seconds is a number, not '1'",
    ),
    "a release": (
        lambda k: k.situations.older_broker("2.5"),
        ValueError,
        r"no older release '2\.5'; do you mean 2\.\d\? There are 0\.11, 1\.1,",
    ),
    "an id": (lambda k: k.situations.zombie_producer(""), TypeError, "transactional_id"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument(kafka: Emulator, name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind, match=text):
        call(kafka)
    kafka.check_faults()


def test_clients_that_are_throttled_are_held_to_it(kafka: Emulator) -> None:
    throttled = kafka.situations.throttled(400, client_id="by hand")
    with Connection(kafka.bootstrap_servers) as client:
        request = produce_request(batch(b"x", time=kafka.now), "orders")
        first = client.ask(request, 9)
        assert first.throttle_time_ms == 400
        assert kafka.topic("orders").values() == [b"x"]
        client.send(request, 9)
        with pytest.raises(AssertionError):
            kafka.topic("orders").wait_for(2, timeout=0.05)
        throttled.remove()  # it is read again at once
        kafka.topic("orders").wait_for(2)
    assert throttled.hits == 2


def test_each_connection_is_held_by_itself(kafka: Emulator) -> None:
    request = produce_request(batch(b"x", time=kafka.now), "orders")
    with kafka.situations.throttled(60_000):
        for _ in range(2):
            assert ask(kafka.bootstrap_servers, request, 9).throttle_time_ms == 60_000
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(request, 9)
            assert client.ask(ASKED, 12).topics  # of Produce and Fetch


def test_a_client_that_goes_is_held_no_more(kafka: Emulator) -> None:
    request = produce_request(batch(b"x", time=kafka.now), "orders")
    throttled = kafka.situations.throttled(60_000)
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(request, 9)
        client.send(request, 9)
    throttled.remove()
    kafka.wait_idle()


def test_several_groups(kafka: Emulator) -> None:
    kafka.situations.coordinator_moved(group="g").optional()
    answer = ask(kafka.bootstrap_servers, join_request(group_id="h"), 3)
    assert answer.error_code == Error.NOT_COORDINATOR  # there is none yet, for anybody


def test_a_clock_of_a_user_s_own() -> None:
    class Own:
        def now(self) -> int:
            return 1_700_000_000_000

    with (
        Emulator(clock=Own(), disk=MemoryDisk()) as kafka,
        pytest.raises(TypeError, match="is your own, and yours to move"),
    ):
        kafka.situations.clock_jump(5)


def test_a_clock_that_follows_the_test() -> None:
    with (
        Emulator(clock="test", disk=MemoryDisk()) as kafka,
        pytest.raises(TypeError, match="move that instead"),
    ):
        kafka.situations.clock_jump(5)


def test_a_manual_clock_is_set() -> None:
    with Emulator(clock=ManualClock(1_700_000_000_000), disk=MemoryDisk()) as kafka:
        assert kafka.situations.clock_jump(-5) == 1_699_999_995_000
        assert kafka.now == 1_699_999_995_000

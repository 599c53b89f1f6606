"""Groups of stock consumers, as their views show them and as verbs change them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from odradek import Emulator, Error, Refused
from odradek.compat import Client
from odradek.compat.clients import wait_until

ORDERS = {"orders": 2}
pytestmark = pytest.mark.kafka(topics=ORDERS)


def test_no_group(kafka: Emulator) -> None:
    group = kafka.group("billing")
    assert (group.state, group.type, group.members) == ("Dead", "classic", ())
    assert group.offsets() == {}
    with pytest.raises(Refused, match="group 'billing' has no offsets, and so no lag"):
        group.lag()


def test_what_a_consumer_has_committed(kafka: Emulator, stock: Client) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    orders.produce_all(["a", "b", "c"])
    stock.consume(kafka.bootstrap_servers, orders.name, group="billing")
    assert group.offsets() == {(orders.name, 0): 2, (orders.name, 1): 1}
    assert (group.state, group.members, group.lag("orders")) == ("Empty", (), 0)
    orders.produce("d", partition=1)
    assert group.lags() == {(orders.name, 0): 0, (orders.name, 1): 1}
    assert group.lag("orders") == group.lag(orders.name) == group.lag() == 1


def test_a_member(kafka: Emulator, stock: Client) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    with stock.consumer(kafka.bootstrap_servers, orders.name, group="billing") as consumer:

        def has_all() -> bool:
            consumer.poll(stock.poll_s)
            return group.state == "Stable" and [len(m.assignment) for m in group.members] == [2]

        wait_until(has_all, "it has both partitions")
        (member,) = group.members
        assert member.assignment == ((orders.name, 0), (orders.name, 1))
        assert member.client_id
        assert member.host == "127.0.0.1"
        assert (group.type, member.epoch, member.instance_id) == ("classic", None, None)
        assert group.protocol
        with pytest.raises(Refused, match="close its consumers, or kick them") as refused:
            group.commit({("orders", 0): 0})
        assert refused.value.error is Error.UNKNOWN_MEMBER_ID
    wait_until(lambda: group.state in ("Empty", "Dead"), "it has left")


def test_two_members_share(kafka: Emulator, stock: Client) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    address = kafka.bootstrap_servers
    with (
        stock.consumer(address, orders.name, group="billing") as one,
        stock.consumer(address, orders.name, group="billing") as other,
    ):

        def have_one_each() -> bool:
            one.poll(0.05)
            other.poll(0.05)
            return group.state == "Stable" and [len(m.assignment) for m in group.members] == [1, 1]

        wait_until(have_one_each, "each has one partition")
        assigned = [place for member in group.members for place in member.assignment]
        assert sorted(assigned) == [(orders.name, 0), (orders.name, 1)]


def test_committed_by_a_test(kafka: Emulator, stock: Client) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    orders.produce_all(["a", "b", "c", "d"])
    group.commit({("orders", 0): 1, (orders.name, 1): (2, "all of it")})
    assert group.committed()[orders.name, 1].metadata == "all of it"
    assert stock.committed(kafka.bootstrap_servers, "billing", orders.name) == {0: 1, 1: 2}
    read = stock.consume(kafka.bootstrap_servers, orders.name, group="billing")
    assert [each.value for each in read] == [b"c"]


def test_a_commit_for_no_partition(kafka: Emulator) -> None:
    with pytest.raises(Refused) as refused:
        kafka.group("billing").commit({("orders", 7): 1})
    assert refused.value.error is Error.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(("to", "offsets"), [("earliest", (0, 0)), ("latest", (2, 1)), (1, (1, 1))])
def test_a_group_is_reset(kafka: Emulator, to: str | int, offsets: tuple[int, int]) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    orders.produce_all(["a", "b", "c"])
    wanted = {(orders.name, index): offset for index, offset in enumerate(offsets)}
    assert group.reset(to, topics="orders") == wanted == group.offsets()
    assert group.reset(to) == wanted


def test_a_group_is_reset_to_a_time(kafka: Emulator) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    orders.produce("early", partition=0, timestamp=1_600_000_000_000)
    orders.produce("late", partition=0, timestamp=1_700_000_000_000)
    group.reset(datetime.fromtimestamp(1_650_000_000, UTC), topics=["orders"])
    assert group.offsets() == {(orders.name, 0): 1, (orders.name, 1): 0}


def test_a_member_is_kicked(kafka: Emulator, stock: Client) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    with stock.consumer(kafka.bootstrap_servers, orders.name, group="billing") as consumer:

        def is_stable() -> bool:
            consumer.poll(stock.poll_s)
            return group.state == "Stable"

        wait_until(is_stable, "it has joined")
        (before,) = group.members
        group.kick(before)
        wait_until(lambda: is_stable() and group.members[0] != before, "it has joined again")
        with pytest.raises(Refused) as refused:
            group.kick("no-such-member")
        assert refused.value.error is Error.UNKNOWN_MEMBER_ID


def test_a_consumer_that_a_test_leaves_open(kafka: Emulator, stock: Client) -> None:
    """The next test of this group finds nothing of it."""
    consumer = stock.consumer(kafka.bootstrap_servers, kafka.topic("orders").name, group="billing")
    group = kafka.group("billing")

    def is_stable() -> bool:
        consumer.poll(stock.poll_s)
        return group.state == "Stable"

    wait_until(is_stable, "it has joined")
    consumer.close()

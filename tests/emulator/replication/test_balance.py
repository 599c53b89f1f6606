"""Leaders that are not the preferred replicas move back, as time passes."""

from __future__ import annotations

from pathlib import Path

from odradek import Emulator

SECONDS = "leader.imbalance.check.interval.seconds"


def test_a_leader_moves_back_after_the_interval() -> None:
    with Emulator(brokers=3, clock="manual") as kafka:
        orders = kafka.create_topic("orders", replicas=3)
        kafka.advance(seconds=100)
        orders[0].move_leader(to=3)
        kafka.advance(seconds=199)  # counted from the start of the cluster
        assert orders[0].leader == 3
        kafka.advance(seconds=1)
        assert orders[0].leader == 1
        assert kafka.cluster.partition("orders", 0).leader_epoch == 2


def test_a_replica_that_is_not_there_is_waited_for() -> None:
    with Emulator({SECONDS: 1}, brokers=3, clock="manual") as kafka:
        orders = kafka.create_topic("orders", replicas=3)
        kafka.brokers[1].stop()
        kafka.advance(seconds=5)
        assert orders[0].leader == 2
        kafka.brokers[1].start()
        kafka.advance(seconds=1)
        assert (orders[0].leader, orders[0].isr) == (1, [1, 2, 3])


def test_leaders_stay_where_they_are_if_so_configured() -> None:
    config = {SECONDS: 1, "auto.leader.rebalance.enable": False}
    with Emulator(config, brokers=3, clock="manual") as kafka:
        orders = kafka.create_topic("orders", replicas=3)
        orders[0].move_leader(to=2)
        kafka.advance(hours=1)
        assert orders[0].leader == 2


def test_without_controllers_no_leader_moves_back() -> None:
    with Emulator({SECONDS: 1}, brokers=3, clock="manual") as kafka:
        orders = kafka.create_topic("orders", replicas=3)
        orders[0].move_leader(to=2)
        with kafka.without_quorum():
            kafka.advance(minutes=1)
            assert orders[0].leader == 2
        kafka.advance(seconds=1)
        assert orders[0].leader == 1


def test_a_topic_that_is_deleted_is_forgotten() -> None:
    with Emulator({SECONDS: 1}, brokers=3, clock="manual") as kafka:
        gone, stays = (kafka.create_topic(name, replicas=3) for name in ("gone", "stays"))
        for topic in (gone, stays):
            topic[0].move_leader(to=topic[0].replicas[1])
        kafka.delete_topic("gone")
        kafka.advance(seconds=1)
        assert stays[0].leader == stays[0].replicas[0]


def test_a_directory_that_is_opened_again_is_balanced(tmp_path: Path) -> None:
    with Emulator({SECONDS: 1}, brokers=3, data_dir=tmp_path, clock="manual") as kafka:
        orders = kafka.create_topic("orders", replicas=3)
        orders[0].move_leader(to=2)
    with Emulator({SECONDS: 1}, brokers=3, data_dir=tmp_path, clock="manual") as kafka:
        orders = kafka.topic("orders")
        assert orders[0].leader == 2
        kafka.advance(seconds=1)
        assert orders[0].leader == 1

"""A producer that has been silent for a day is forgotten, at the next look or at the next start."""

from __future__ import annotations

from pathlib import Path

from odradek.emulator.cluster import Cluster
from odradek.wire import Error

from tests.requests.produce import batch, produce
from tests.support.clock import NOW
from tests.support.cluster import client_of, open_cluster

MINUTE, DAY = 60_000, 86_400_000


def send(cluster: Cluster, sequence: int, time: int) -> Error:
    records = batch(b"x", time=time, producer_id=7, producer_epoch=0, base_sequence=sequence)
    return Error(produce(client_of(cluster), records).error_code)


def known(cluster: Cluster) -> list[int]:
    return list(cluster.partition("t", 0).log.producers.states)


def test_it_is_forgotten_a_day_after_the_time_of_its_last_batch(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    cluster.create_topic("t", 1, {"retention.ms": "-1"})
    assert send(cluster, 0, NOW) == Error.NONE
    assert send(cluster, 5, NOW) == Error.OUT_OF_ORDER_SEQUENCE_NUMBER

    cluster.advance(DAY - 10 * MINUTE)
    assert known(cluster) == [7]
    cluster.advance(10 * MINUTE)
    assert known(cluster) == []
    assert send(cluster, 5, NOW + DAY) == Error.NONE
    cluster.close()


def test_at_a_start_too(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    cluster.create_topic("t", 1, {"retention.ms": "-1"})
    send(cluster, 0, NOW)
    cluster.close()

    for now, expected in ((NOW + DAY - 1, [7]), (NOW + DAY, [])):
        cluster = open_cluster(tmp_path, now)
        assert known(cluster) == expected
        cluster.close()


def test_the_day_is_a_config(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path, producer_id_expiration_ms=str(MINUTE))
    cluster.create_topic("t", 1, {"retention.ms": "-1"})
    send(cluster, 0, NOW)
    cluster.advance(10 * MINUTE)
    assert known(cluster) == []
    cluster.close()

"""AddOffsetsToTxn (semantics H2, H4): the partition of a group's offsets joins the transaction."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Error
from odradek.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest

from tests.requests.transactions import add_offsets_request
from tests.support.cluster import client_of
from tests.support.transactional_producer import NOT_KNOWN, TxnClient
from tests.support.versions import first_and_last

Make = Callable[..., TxnClient]


def asked(cluster: Cluster, request: AddOffsetsToTxnRequest, version: int = 4) -> Error:
    return Error(client_of(cluster).ask(request, version).error_code)


@pytest.mark.parametrize("version", first_and_last(AddOffsetsToTxnRequest))
@pytest.mark.parametrize("group", ["g", "never seen", ""])
def test_the_place_of_the_groups_offsets_joins_the_transaction(
    producer: Make, cluster: Cluster, version: int, group: str
) -> None:
    x = producer(generation=1)
    assert asked(cluster, add_offsets_request(x.producer, group), version) is Error.NONE
    place = cluster.groups.partition_for(group)
    assert x.state.partitions == (("__consumer_offsets", place),)


@pytest.mark.parametrize(("name", "change", "error"), NOT_KNOWN)
def test_who_it_is_must_be_known(
    producer: Make, cluster: Cluster, name: str, change: tuple[int, int], error: Error
) -> None:
    x = producer()
    who = Producer(x.producer.producer_id + change[0], x.producer.epoch + change[1])
    assert asked(cluster, add_offsets_request(who, name=name)) is error
    assert x.state.partitions == ()


def test_before_version_2_a_fenced_producer_has_another_error(
    producer: Make, cluster: Cluster
) -> None:
    zombie = add_offsets_request(Producer(producer().producer.producer_id, 9))
    assert asked(cluster, zombie, 1) is Error.INVALID_PRODUCER_EPOCH
    assert asked(cluster, zombie, 2) is Error.PRODUCER_FENCED

"""Requests about many topics or partitions, as an ordinary client may send them."""

from __future__ import annotations

from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest

from tests.hostile.attacks import attack
from tests.hostile.attacks.repeated import TOPIC_RESOURCE, ask_and_read
from tests.hostile.attacks.sockets import metadata_of
from tests.hostile.support.clients import Hostile
from tests.hostile.support.setups import VICTIM, names, now_batch, partitions, topics, until
from tests.hostile.support.target import Target
from tests.requests.produce import produce_all


@attack(test=1_000, full=10_000)
def metadata_that_creates_topics(target: Target, count: int) -> None:
    with Hostile(target.address) as hostile:
        hostile.ask(metadata_of(*names(count), creates=True), 9)
        last = metadata_of(names(count)[-1])
        until(hostile, last, 9, lambda answer: answer.topics[0].error_code == 0)


@attack(test=2_500, full=10_000)
def a_topic_of_many_partitions(target: Target, count: int) -> None:
    topic = CreateTopicsRequest.Topic(
        name=VICTIM, num_partitions=count, replication_factor=1, assignments=[], configs=[]
    )
    with Hostile(target.address) as hostile:
        hostile.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000), 7)
        until(hostile, metadata_of(VICTIM), 9, lambda answer: answer.topics[0].error_code == 0)


@attack(test=1_300, full=10_000, setup=partitions)
def records_for_many_partitions(target: Target, count: int) -> None:
    """Produce of a small batch to each."""
    one = now_batch(b"x")
    request = produce_all(*((VICTIM, number, one) for number in range(count)), acks=1)
    ask_and_read(target, request, 9)


@attack(test=350, full=10_000, setup=topics)
def configs_of_many_topics(target: Target, count: int) -> None:
    """DescribeConfigs of all of them."""
    resources = [
        DescribeConfigsRequest.Resource(
            resource_type=TOPIC_RESOURCE, resource_name=name, configuration_keys=None
        )
        for name in names(count)
    ]
    ask_and_read(target, DescribeConfigsRequest(resources=resources), 4)


@attack(test=3_500, full=10_000, setup=topics)
def deletion_of_many_topics(target: Target, count: int) -> None:
    """DeleteTopics of all of them; the broker has to end cleanly soon after it."""
    ask_and_read(target, DeleteTopicsRequest(topic_names=names(count), timeout_ms=60_000), 5)

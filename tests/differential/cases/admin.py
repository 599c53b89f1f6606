"""Sections H1, I5, I12, I16: producer ids, configs, the cluster, partitions page by page."""

from __future__ import annotations

from odradek.wire.api.describe_cluster import DescribeClusterRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest

from ..ask.configs import BROKER, GROUP, LOGGER, METRICS, TOPIC, configs
from ..ask.topics import create
from ..engine.steps import Ask, Steps
from . import case


@case("H1", each=InitProducerIdRequest)
def producer_ids() -> Steps:
    def init(timeout_ms: int, producer_id: int = -1, epoch: int = -1) -> Ask:
        return Ask(
            InitProducerIdRequest(
                transactional_id=None,
                transaction_timeout_ms=timeout_ms,
                producer_id=producer_id,
                producer_epoch=epoch,
            )
        )

    empty = InitProducerIdRequest(transactional_id="", transaction_timeout_ms=1000)
    return [
        init(1000),
        init(0),
        init(-1),
        init(2**31 - 1),
        init(1, 5, 1),
        init(1, 5),
        init(1, -1, 1),
        Ask(empty),
    ]


@case("I5", each=DescribeConfigsRequest)
def configs_of_a_topic() -> Steps:
    return [
        create(retention_ms="777", cleanup_policy="compact,delete", segment_bytes="2097152"),
        *(configs((TOPIC, "~t"), synonyms=wanted) for wanted in (False, True)),
        configs((TOPIC, "~t"), keys=["retention.ms", "nonsense", "segment.bytes"], synonyms=True),
        configs((TOPIC, "~t"), keys=[]),
        configs((TOPIC, "~t"), (TOPIC, "~t")),
        configs(
            (TOPIC, "~none"), (TOPIC, ""), (TOPIC, "a b"), (TOPIC, "~t"), keys=["retention.ms"]
        ),
    ]


@case("I5")
def configs_with_documentation() -> Steps:
    return [create(), configs((TOPIC, "~t"), docs=True)]


@case("I16")
def configs_of_internal_topics() -> Steps:
    return [configs((TOPIC, "__consumer_offsets"), synonyms=True)]


@case("I5", each=DescribeConfigsRequest)
def configs_of_other_things() -> Steps:
    return [
        configs((BROKER, "2"), (BROKER, "x"), (BROKER, "1"), keys=["log.retention.hours"]),
        configs((BROKER, ""), keys=["log.retention.hours"]),
        *(configs((kind, "x")) for kind in (0, 1, 3, 5, 64, -1)),
        configs((METRICS, "")),
        configs((GROUP, "")),
        configs((LOGGER, "2"), (LOGGER, "x")),
        configs(),
    ]


@case("I5")
def configs_of_the_broker() -> Steps:
    return [configs((BROKER, "1"), synonyms=True), configs((BROKER, ""), synonyms=True)]


@case("I12", each=DescribeClusterRequest)
def the_cluster() -> Steps:
    return [
        Ask(
            DescribeClusterRequest(
                include_cluster_authorized_operations=operations,
                endpoint_type=kind,
                include_fenced_brokers=fenced,
            )
        )
        for operations, kind, fenced in (
            (False, 1, False),
            (True, 1, True),
            (False, 2, False),
            (False, 0, False),
            (False, 3, True),
            (False, -1, True),
        )
    ]


@case("I12", each=DescribeTopicPartitionsRequest)
def partitions_page_by_page() -> Steps:
    def page(*names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Ask:
        made = DescribeTopicPartitionsRequest
        return Ask(
            made(
                topics=[made.Topic(name=name) for name in names],
                response_partition_limit=limit,
                cursor=None
                if cursor is None
                else made.Cursor(topic_name=cursor[0], partition_index=cursor[1]),
            )
        )

    both = ("~b", "~a", "~b")
    return [
        create("~a", partitions=3),
        create("~b", partitions=2),
        page(*both),
        page(),
        *(page(*both, limit=limit) for limit in (-1, 0, 1, 2, 3, 4, 5, 6)),
        *(
            page(*both, limit=2, cursor=(name, index))
            for name, index in (
                ("~a", 0),
                ("~a", 2),
                ("~a", 3),
                ("~a", 9),
                ("~b", 1),
                ("~b", 2),
                ("~c", 0),
                ("~aa", 0),
                ("~a", -1),
                ("", 0),
            )
        ),
        page("~none", "~a", ".", "a b"),
        page(""),
        page("__consumer_offsets", limit=1),
    ]

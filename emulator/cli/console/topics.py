"""`odradek topics`: topics and their partitions; create, grow, empty, delete.

odradek topics localhost:9092                       all of them
odradek topics localhost:9092 show orders           partitions, and configs that were set
odradek topics localhost:9092 create orders --partitions 6 --set retention.ms=60000
odradek topics localhost:9092 grow orders --partitions 12
odradek topics localhost:9092 empty orders          delete every record, keep the topic
odradek topics localhost:9092 delete orders
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from ....wire.api.create_partitions import CreatePartitionsRequest
from ....wire.api.create_topics import CreateTopicsRequest
from ....wire.api.delete_records import DeleteRecordsRequest
from ....wire.api.delete_topics import DeleteTopicsRequest
from ....wire.api.metadata import MetadataResponse
from .arguments import INT16, INT32, setting, whole
from .client import Brokers, check, report
from .configs import TOPIC, read_configs
from .offsets import bounds
from .tables import print_table, ranges

_TIMEOUT_MS = 30_000
_BY_NAME_UP_TO = 5  # DeleteTopics
_WHOLE = -1
_THE_BROKERS = -1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek topics ADDRESS`."""
    parser.add_argument("--internal", action="store_true", help="list internal topics too")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="without one: list them")
    show = actions.add_parser("show", help="partitions, and configs that were set")
    create = actions.add_parser("create", help="create topics")
    create.add_argument(
        "--partitions",
        metavar="N",
        default=_THE_BROKERS,
        type=whole(1, INT32),
        help="default: the broker's",
    )
    create.add_argument(
        "--replicas",
        metavar="N",
        default=_THE_BROKERS,
        type=whole(1, INT16),
        help="default: the broker's",
    )
    create.add_argument(
        "--set",
        metavar="CONFIG=VALUE",
        action="append",
        default=[],
        type=setting,
        help="a config of the topic; may be repeated",
    )
    grow = actions.add_parser("grow", help="add partitions")
    grow.add_argument(
        "--partitions",
        metavar="N",
        required=True,
        type=whole(1, INT32),
        help="their new number",
    )
    empty = actions.add_parser("empty", help="delete every record and keep the topic")
    delete = actions.add_parser("delete", help="delete topics")
    for action in (show, create, grow, empty, delete):
        action.add_argument("topic", nargs="+", help="its name")


def run(brokers: Brokers, asked: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    match asked.action:
        case None:
            _list(brokers, internal=asked.internal)
        case "show":
            _show(brokers, asked.topic)
        case "create":
            _create(brokers, asked)
        case "grow":
            _grow(brokers, asked.topic, asked.partitions)
        case "empty":
            _empty(brokers, asked.topic)
        case "delete":
            _delete(brokers, asked.topic)
    return 0


def _list(brokers: Brokers, *, internal: bool) -> None:
    topics = [topic for topic in brokers.topics() if internal or not topic.is_internal]
    limits = bounds(brokers, topics)
    rows = []
    for topic in topics:
        places = [(topic.name or "", part.partition_index) for part in topic.partitions]
        known = [limits[place] for place in places if place in limits]
        replicas = max((len(part.replica_nodes) for part in topic.partitions), default=0)
        offsets = sum(after - first for first, after in known)
        rows.append([topic.name, len(places), replicas, offsets])
    print_table(["topic", "partitions", "replicas", "offsets"], rows)


def _show(brokers: Brokers, names: Iterable[str]) -> None:
    for number, name in enumerate(names):
        if number:
            print()
        topic = brokers.topic(name)
        limits = bounds(brokers, [topic])
        for config in read_configs(brokers, TOPIC, name):
            if config.is_set:
                print(f"{config.name}={config.value}")
        print_table(
            ["topic", "partition", "leader", "replicas", "in sync", "first", "next", "offsets"],
            [_row(topic, part, limits) for part in topic.partitions],
        )


def _row(
    topic: MetadataResponse.Topic,
    part: MetadataResponse.Topic.Partition,
    limits: dict[tuple[str, int], tuple[int, int]],
) -> list[object]:
    first, after = limits.get((topic.name or "", part.partition_index), (None, None))
    return [
        topic.name,
        part.partition_index,
        part.leader_id,
        ranges(part.replica_nodes),
        ranges(part.isr_nodes),
        first,
        after,
        None if first is None or after is None else after - first,
    ]


def _create(brokers: Brokers, asked: argparse.Namespace) -> None:
    config = CreateTopicsRequest.Topic.Config
    configs = [config(name=name, value=value) for name, value in asked.set]
    answer = brokers.ask_controller(
        CreateTopicsRequest(
            topics=[
                CreateTopicsRequest.Topic(
                    name=name,
                    num_partitions=asked.partitions,
                    replication_factor=asked.replicas,
                    assignments=[],
                    configs=configs,
                )
                for name in asked.topic
            ],
            timeout_ms=_TIMEOUT_MS,
        )
    )
    for topic in answer.topics:
        if not topic.error_code:
            brokers.topic(topic.name, is_new=True)
    report(
        (topic.error_code, f"topic {topic.name}", topic.error_message, f"created {topic.name}")
        for topic in answer.topics
    )


def _grow(brokers: Brokers, names: Iterable[str], partitions: int) -> None:
    answer = brokers.ask_controller(
        CreatePartitionsRequest(
            topics=[
                CreatePartitionsRequest.Topic(name=name, count=partitions, assignments=None)
                for name in names
            ],
            timeout_ms=_TIMEOUT_MS,
            validate_only=False,
        )
    )
    report(
        (each.error_code, f"topic {each.name}", each.error_message, f"grown {each.name}")
        for each in answer.results
    )


def _empty(brokers: Brokers, names: Iterable[str]) -> None:
    for topic in [brokers.topic(name) for name in names]:
        by_leader: dict[int, list[int]] = {}
        for part in topic.partitions:
            by_leader.setdefault(part.leader_id, []).append(part.partition_index)
        for node, indexes in by_leader.items():
            answer = brokers.ask(_records_of(topic.name or "", indexes), node=node)
            for part in answer.topics[0].partitions:
                check(part.error_code, f"{topic.name}-{part.partition_index}")
        print(f"emptied {topic.name}")


def _records_of(name: str, indexes: Iterable[int]) -> DeleteRecordsRequest:
    partition = DeleteRecordsRequest.Topic.Partition
    partitions = [partition(partition_index=index, offset=_WHOLE) for index in indexes]
    topics = [DeleteRecordsRequest.Topic(name=name, partitions=partitions)]
    return DeleteRecordsRequest(topics=topics, timeout_ms=_TIMEOUT_MS)


def _delete(brokers: Brokers, names: list[str]) -> None:
    answer = brokers.ask_controller(
        DeleteTopicsRequest(topic_names=names, timeout_ms=_TIMEOUT_MS), most=_BY_NAME_UP_TO
    )
    report(
        (topic.error_code, f"topic {topic.name}", topic.error_message, f"deleted {topic.name}")
        for topic in answer.responses
    )

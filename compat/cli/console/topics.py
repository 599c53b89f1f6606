"""`odradek topics`: topics and their partitions; create, grow, empty, delete.

odradek topics localhost:9092                       all of them
odradek topics localhost:9092 show orders           partitions, and configs that were set
odradek topics localhost:9092 create orders --partitions 6 --set retention.ms=60000
odradek topics localhost:9092 grow orders --partitions 12
odradek topics localhost:9092 empty orders          delete every record, keep the topic
odradek topics localhost:9092 empty orders --before 7d      only those that are older
odradek topics localhost:9092 delete orders
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Iterable, Mapping
from typing import Any

from ....wire import Error
from ....wire.api.create_partitions import CreatePartitionsRequest
from ....wire.api.create_topics import CreateTopicsRequest
from ....wire.api.delete_records import DeleteRecordsRequest
from ....wire.api.delete_topics import DeleteTopicsRequest
from ....wire.api.metadata import MetadataResponse
from .aliases import add_action
from .arguments import INT16, INT32, setting, whole
from .client import Brokers, check, report
from .configs import TOPIC, read_configs, with_likely
from .confirm import add_yes, confirm
from .offsets import LATEST, Position, bounds, parse_position, resolve
from .tables import add_json, print_json, print_rows, print_table, ranges

_TIMEOUT_MS = 30_000
_BY_NAME_UP_TO = 5  # DeleteTopics
_WHOLE = -1
_THE_BROKERS = -1
_HEADS = ("topic", "partition", "leader", "replicas", "in sync", "first", "next", "offsets")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments after `odradek topics ADDRESS`."""
    parser.set_defaults(json=False, internal=False)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="without one: list them")
    listed = add_action(actions, "list", "all of them, as without an action")
    for each in (parser, listed):
        add_json(each)
        what = "internal topics too"
        each.add_argument("--internal", action="store_true", default=SUPPRESS, help=what)
    show = add_action(actions, "show", "partitions, and configs that were set")
    add_json(show)
    create = _add_create(actions)
    grow = add_action(actions, "grow", "add partitions")
    grow.add_argument(
        *("-p", "--partitions", "-n", "--num"),
        metavar="N",
        required=True,
        type=whole(1, INT32),
        help="their new number",
    )
    empty = add_action(actions, "empty", "delete records and keep the topic")
    empty.add_argument(
        *("--before", "-o", "--offset"),
        dest="before",
        metavar="POSITION",
        type=parse_position,
        default=Position(timestamp=LATEST),
        help="only records before an offset, -N, an age (15m, 2h, 3d) or a time",
    )
    delete = add_action(actions, "delete", "delete topics")
    delete.add_argument("--if-exists", action="store_true", help="no error where there is none")
    add_yes(empty, delete)
    for action in (show, create, grow, empty, delete):
        action.add_argument("topic", nargs="+", help="its name")


def _add_create(actions: Any) -> ArgumentParser:
    create = add_action(actions, "create", "create topics")
    create.add_argument(
        "-p",
        "--partitions",
        metavar="N",
        default=_THE_BROKERS,
        type=whole(1, INT32),
        help="default: the broker's",
    )
    create.add_argument(
        "-r",
        "--replicas",
        "--replication-factor",
        metavar="N",
        default=_THE_BROKERS,
        type=whole(1, INT16),
        help="default: the broker's",
    )
    create.add_argument(
        "-c",
        "--set",
        "--config",
        metavar="CONFIG=VALUE",
        action="append",
        default=[],
        type=setting,
        help="a config of the topic; may be repeated",
    )
    what = "no error where there is one"
    create.add_argument("--if-not-exists", action="store_true", help=what)
    return create


def run(brokers: Brokers, options: Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    match options.action:
        case None | "list":
            _list(brokers, internal=options.internal, as_json=options.json)
        case "show":
            _show(brokers, options.topic, as_json=options.json)
        case "create":
            _create(brokers, options)
        case "grow":
            _grow(brokers, options.topic, options.partitions)
        case "empty":
            which = "every record" if options.before.timestamp == LATEST else "old records"
            confirm(options, f"delete {which} of {', '.join(options.topic)}")
            _empty(brokers, options.topic, options.before)
        case "delete":
            confirm(options, f"delete {', '.join(options.topic)}")
            _delete(brokers, options)
    return 0


def _list(brokers: Brokers, *, internal: bool, as_json: bool) -> None:
    topics = [topic for topic in brokers.topics() if internal or not topic.is_internal]
    limits = bounds(brokers, topics)
    rows = []
    for topic in topics:
        places = [(topic.name or "", part.partition_index) for part in topic.partitions]
        known = [limits[place] for place in places if place in limits]
        replicas = max((len(part.replica_nodes) for part in topic.partitions), default=0)
        offsets = sum(after - first for first, after in known)
        rows.append([topic.name, len(places), replicas, offsets])
    print_rows(["topic", "partitions", "replicas", "offsets"], rows, as_json=as_json)


def _show(brokers: Brokers, names: Iterable[str], *, as_json: bool) -> None:
    for number, name in enumerate(names):
        topic = brokers.topic(name)
        limits = bounds(brokers, [topic])
        configs = {c.name: c.value for c in read_configs(brokers, TOPIC, name) if c.is_set}
        if as_json:
            parts = [
                _as_object(part, limits.get((name, part.partition_index)))
                for part in topic.partitions
            ]
            print_json({"topic": name, "configs": configs, "partitions": parts})
            continue
        if number:
            print()
        for config, value in configs.items():
            print(f"{config}={value}")
        print_table(_HEADS, [_row(topic, part, limits) for part in topic.partitions])


def _as_object(
    part: MetadataResponse.Topic.Partition, limits: tuple[int, int] | None
) -> dict[str, object]:
    first, after = limits or (None, None)
    return {
        "partition": part.partition_index,
        "leader": part.leader_id,
        "replicas": part.replica_nodes,
        "in_sync": part.isr_nodes,
        "first": first,
        "next": after,
    }


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


def _create(brokers: Brokers, options: Namespace) -> None:
    config = CreateTopicsRequest.Topic.Config
    configs = [config(name=name, value=value) for name, value in options.set]
    answer = brokers.ask_controller(
        CreateTopicsRequest(
            topics=[
                CreateTopicsRequest.Topic(
                    name=name,
                    num_partitions=options.partitions,
                    replication_factor=options.replicas,
                    assignments=[],
                    configs=configs,
                )
                for name in options.topic
            ],
            timeout_ms=_TIMEOUT_MS,
        )
    )
    for topic in answer.topics:
        if not topic.error_code:
            brokers.topic(topic.name, is_new=True)
    there = Error.TOPIC_ALREADY_EXISTS if options.if_not_exists else None
    given = [name for name, _ in options.set]
    report(
        (
            0 if topic.error_code == there else topic.error_code,
            f"topic {topic.name}",
            with_likely(topic.error_message, given),
            f"{topic.name} is there" if topic.error_code == there else f"created {topic.name}",
        )
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


def _empty(brokers: Brokers, names: Iterable[str], before: Position) -> None:
    is_whole = before.timestamp == LATEST
    for topic in [brokers.topic(name) for name in names]:
        name = topic.name or ""
        until = {} if is_whole else resolve(brokers, [topic], before)
        by_leader: dict[int, dict[int, int]] = {}
        for part in topic.partitions:
            index = part.partition_index
            by_leader.setdefault(part.leader_id, {})[index] = until.get((name, index), _WHOLE)
        for node, offsets in by_leader.items():
            answer = brokers.ask(_records_of(name, offsets), node=node)
            for done in answer.topics[0].partitions:
                check(done.error_code, f"{name}-{done.partition_index}")
                if not is_whole:
                    print(f"{name}-{done.partition_index} begins at offset {done.low_watermark}")
        if is_whole:
            print(f"emptied {name}")


def _records_of(name: str, offsets: Mapping[int, int]) -> DeleteRecordsRequest:
    partition = DeleteRecordsRequest.Topic.Partition
    partitions = [partition(partition_index=each, offset=offsets[each]) for each in offsets]
    topics = [DeleteRecordsRequest.Topic(name=name, partitions=partitions)]
    return DeleteRecordsRequest(topics=topics, timeout_ms=_TIMEOUT_MS)


def _delete(brokers: Brokers, options: Namespace) -> None:
    names: list[str] = options.topic
    missing = Error.UNKNOWN_TOPIC_OR_PARTITION if options.if_exists else None
    answer = brokers.ask_controller(
        DeleteTopicsRequest(topic_names=names, timeout_ms=_TIMEOUT_MS), most=_BY_NAME_UP_TO
    )
    report(
        (topic.error_code, f"topic {topic.name}", topic.error_message, f"deleted {topic.name}")
        for topic in sorted(answer.responses, key=lambda each: names.index(each.name or ""))
        if topic.error_code != missing
    )

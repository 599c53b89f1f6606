"""`odradek transactions`: list, describe, find hanging ones, abort.

odradek transactions localhost:9092
odradek transactions localhost:9092 show orders-writer
odradek transactions localhost:9092 producers orders:0            who wrote to a partition
odradek transactions localhost:9092 hanging                       open, without a coordinator
odradek transactions localhost:9092 abort orders-writer           its producer is fenced
odradek transactions localhost:9092 abort --topic orders:0 --start-offset 7

An open transaction ends when its producer ends it, or after its timeout. One that hangs does
neither: its partition is not read any further by consumers with read_committed, and not compacted
(KIP-664).

Where a transaction's coordinator is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from ....wire import Error, Refused
from ....wire.api.describe_producers import DescribeProducersRequest
from ....wire.api.describe_transactions import DescribeTransactionsRequest
from ....wire.api.find_coordinator import FindCoordinatorRequest
from ....wire.api.init_producer_id import InitProducerIdRequest
from ....wire.api.list_transactions import ListTransactionsRequest
from ....wire.api.metadata import MetadataResponse
from ....wire.api.write_txn_markers import WriteTxnMarkersRequest
from .aliases import add_action
from .arguments import INT32, partitions, whole
from .client import Brokers, ConsoleError, check, likely
from .confirm import add_yes, confirm
from .output import one_line
from .tables import add_json, print_json, print_rows, print_table, ranges

_ONE_KEY_UP_TO = 3
_TRANSACTION = 1
_SOON = (Error.COORDINATOR_NOT_AVAILABLE, Error.COORDINATOR_LOAD_IN_PROGRESS)


def transaction_coordinator(brokers: Brokers, transactional_id: str) -> int:
    """The id of the broker, once there is one. Raises ConsoleError."""
    request = FindCoordinatorRequest(key=transactional_id, key_type=_TRANSACTION)

    def look() -> int:
        answer = brokers.ask(request, most=_ONE_KEY_UP_TO)
        if answer.error_code:
            raise Refused(Error(answer.error_code))
        return int(answer.node_id)

    return brokers.patiently(look, f"transactional id {transactional_id}", _SOON)


_HEADS = ("transactional id", "producer", "state", "coordinator")
_PRODUCER_HEADS = (
    *("topic", "partition", "producer", "epoch", "sequence"),
    *("last time", "open since", "coordinator epoch"),
)
_NONE = -1
_ENDED = ("Empty", "CompleteCommit", "CompleteAbort", "Dead")


class Producer(NamedTuple):
    topic: str
    partition: int
    producer_id: int
    epoch: int
    sequence: int
    timestamp: int
    start_offset: int
    coordinator_epoch: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek transactions ADDRESS`."""
    parser.set_defaults(json=False)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="without one: list them")
    listed = add_action(actions, "list", "all of them, as without an action")
    show = add_action(actions, "show", "states, and the partitions in them")
    show.add_argument("id", nargs="+", help="a transactional id")
    producers = add_action(actions, "producers", "of partitions", "describe-producers")
    hanging = add_action(actions, "hanging", "that no coordinator knows of", "find-hanging")
    for each in (parser, listed, show, producers, hanging):
        add_json(each)
    producers.add_argument("topic", nargs="+", type=partitions, help="NAME, or NAME:PARTITION")
    hanging.add_argument("topic", nargs="*", type=partitions, help="only of these")
    abort = add_action(actions, "abort", "end one", "forceTerminateTransaction")
    abort.add_argument("id", nargs="?", help="a transactional id, whose producer is fenced")
    abort.add_argument(
        "--topic", type=partitions, metavar="NAME:PARTITION", help="of one that hangs"
    )
    abort.add_argument(
        "--start-offset", type=whole(0, 2**63 - 1), metavar="N", help="where it begins there"
    )
    abort.add_argument("--partition", type=whole(0, INT32), metavar="N", help="of --topic")
    add_yes(abort)


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    match options.action:
        case None | "list":
            print_rows(_HEADS, _listed(brokers), as_json=options.json)
        case "show":
            _show(brokers, options.id, as_json=options.json)
        case "producers":
            found = [
                each for topic in _topics(brokers, options.topic) for each in _of(brokers, topic)
            ]
            _print_producers(found, as_json=options.json)
        case "hanging":
            _print_producers(_hanging(brokers, options.topic), as_json=options.json)
        case "abort":
            _abort(brokers, options)
    return 0


def _listed(brokers: Brokers) -> list[list[object]]:
    rows: list[list[object]] = []
    for node in brokers.nodes:
        request = ListTransactionsRequest(state_filters=[], producer_id_filters=[])
        answer = brokers.ask(request, node=node)
        check(answer.error_code, "the list of transactions")
        rows += [
            [each.transactional_id, each.producer_id, each.transaction_state, node]
            for each in answer.transaction_states
        ]
    return sorted(rows, key=lambda row: str(row[0]))


def _show(brokers: Brokers, ids: list[str], *, as_json: bool) -> None:
    for number, name in enumerate(ids):
        found = _described(brokers, name)
        topics = {each.topic: sorted(each.partitions) for each in found.topics}
        started = found.transaction_start_time_ms
        if as_json:
            print_json(
                {
                    "transactional_id": name,
                    "state": found.transaction_state,
                    "producer": found.producer_id,
                    "epoch": found.producer_epoch,
                    "timeout_ms": found.transaction_timeout_ms,
                    "started": None if started < 0 else started,
                    "partitions": topics,
                }
            )
            continue
        if number:
            print()
        print(one_line(f"{name}: {found.transaction_state}"))
        where = " ".join(f"{topic}:{ranges(indexes)}" for topic, indexes in sorted(topics.items()))
        print_table(
            ["producer", "epoch", "timeout", "since", "partitions"],
            [
                [
                    found.producer_id,
                    found.producer_epoch,
                    f"{found.transaction_timeout_ms / 1000:g}s",
                    _time(started),
                    where,
                ]
            ],
        )


def _described(brokers: Brokers, name: str) -> Any:
    request = DescribeTransactionsRequest(transactional_ids=[name])
    node = transaction_coordinator(brokers, name)
    (found,) = brokers.ask(request, node=node).transaction_states
    if found.error_code == Error.TRANSACTIONAL_ID_NOT_FOUND:
        known = [str(row[0]) for row in _listed(brokers)]
        raise ConsoleError(f"there is no transactional id {name}{likely(name, known)}")
    check(found.error_code, f"transactional id {name}")
    return found


def _topics(
    brokers: Brokers, given: list[tuple[str, int | None]]
) -> Iterator[MetadataResponse.Topic]:
    """Those that are named, with the partitions that are named. Raises ConsoleError."""
    for name, index in given:
        topic = brokers.topic(name)
        if index is not None:
            topic.partitions = [p for p in topic.partitions if p.partition_index == index]
            if not topic.partitions:
                raise ConsoleError(f"topic {name} has no partition {index}")
        yield topic


def _of(brokers: Brokers, topic: MetadataResponse.Topic) -> Iterator[Producer]:
    """The producers of a topic's partitions, asked of the leaders."""
    by_leader: dict[int, list[int]] = {}
    for part in topic.partitions:
        by_leader.setdefault(part.leader_id, []).append(part.partition_index)
    found: list[Producer] = []
    for node, indexes in by_leader.items():
        asked = DescribeProducersRequest.Topic(name=topic.name or "", partition_indexes=indexes)
        answer = brokers.ask(DescribeProducersRequest(topics=[asked]), node=node)
        for part in answer.topics[0].partitions:
            where = f"{topic.name}-{part.partition_index}"
            check(part.error_code, where, part.error_message)
            found += [
                Producer(
                    topic.name or "",
                    part.partition_index,
                    each.producer_id,
                    each.producer_epoch,
                    each.last_sequence,
                    each.last_timestamp,
                    each.current_txn_start_offset,
                    each.coordinator_epoch,
                )
                for each in part.active_producers
            ]
    yield from sorted(found)


def _print_producers(found: list[Producer], *, as_json: bool) -> None:
    rows = [
        [
            *each[:5],
            each.timestamp if as_json else _time(each.timestamp),
            None if each.start_offset == _NONE else each.start_offset,
            None if each.coordinator_epoch == _NONE else each.coordinator_epoch,
        ]
        for each in found
    ]
    print_rows(_PRODUCER_HEADS, rows, as_json=as_json)


def _hanging(brokers: Brokers, given: list[tuple[str, int | None]]) -> list[Producer]:
    """Open transactions in partitions, of which no coordinator has that partition in one."""
    topics = _topics(brokers, given) if given else iter(brokers.topics())
    open_ones = [p for topic in topics for p in _of(brokers, topic) if p.start_offset != _NONE]
    names = {row[1]: str(row[0]) for row in _listed(brokers) if row[2] not in _ENDED}
    known = {
        (found.producer_id, topic.topic, index)
        for producer_id in {each.producer_id for each in open_ones} & set(names)
        for found in [_described(brokers, names[producer_id])]
        for topic in found.topics
        for index in topic.partitions
    }
    return [p for p in open_ones if (p.producer_id, p.topic, p.partition) not in known]


def _abort(brokers: Brokers, options: argparse.Namespace) -> None:
    if (options.id is None) == (options.topic is None):
        raise ConsoleError("which? a transactional id, or --topic NAME:PARTITION --start-offset N")
    if options.id is not None:
        _fence(brokers, options)
        return
    topic, index = (
        options.topic[0],
        options.topic[1] if options.partition is None else options.partition,
    )
    if index is None or options.start_offset is None:
        raise ConsoleError("of one that hangs name --topic NAME:PARTITION and --start-offset")
    (found,) = _topics(brokers, [(topic, index)])
    open_ones = [p for p in _of(brokers, found) if p.start_offset == options.start_offset]
    if not open_ones:
        raise ConsoleError(
            f"no open transaction begins at offset {options.start_offset} of {topic}-{index}"
        )
    (producer,) = open_ones
    confirm(options, f"abort the transaction of producer {producer.producer_id} in {topic}-{index}")
    made = WriteTxnMarkersRequest.Marker
    marker = made(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        transaction_result=False,
        topics=[made.Topic(name=topic, partition_indexes=[index])],
        coordinator_epoch=max(producer.coordinator_epoch, 0),
    )
    leader = found.partitions[0].leader_id
    answer = brokers.ask(WriteTxnMarkersRequest(markers=[marker]), node=leader)
    for each in answer.markers[0].topics[0].partitions:
        check(each.error_code, f"aborting in {topic}-{index}")
    print(f"aborted the transaction of producer {producer.producer_id} in {topic}-{index}")


def _fence(brokers: Brokers, options: argparse.Namespace) -> None:
    """A new epoch of the id ends what the old one has open, as a producer's start does it."""
    found = _described(brokers, options.id)
    if found.transaction_state in _ENDED:
        raise ConsoleError(f"{options.id} has no open transaction: it is {found.transaction_state}")
    confirm(options, f"abort the transaction of {options.id}, whose producer cannot go on then")
    request = InitProducerIdRequest(
        transactional_id=options.id, transaction_timeout_ms=found.transaction_timeout_ms
    )

    def is_done() -> bool:
        answer = brokers.ask(request, most=4, node=transaction_coordinator(brokers, options.id))
        if answer.error_code == Error.CONCURRENT_TRANSACTIONS:
            return False
        check(answer.error_code, f"aborting {options.id}")
        return True

    brokers.until(is_done, f"the transaction of {options.id} is still being aborted")
    print(one_line(f"aborted the transaction of {options.id}"))


def _time(timestamp: int) -> str | None:
    if timestamp < 0:
        return None
    return datetime.fromtimestamp(timestamp / 1000).isoformat(timespec="seconds")

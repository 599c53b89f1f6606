"""What must hold at the end, when every client is done and the broker is well."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import TypeAlias

from odradek.emulator.cluster import Cluster
from odradek.storage import LogDirectoryError
from odradek.wire import Error

from tests.requests.fetch import fetch
from tests.simulation.book import Broken, Fate, Place, Sent
from tests.simulation.cast import RETENTION_MS
from tests.simulation.consuming import Delivered, Reader, delivered
from tests.simulation.pipe import Pipe
from tests.simulation.world import World
from tests.support.cluster import Client

Log: TypeAlias = list[Delivered]
DELETED = "keyed", "retained"
"""Topics whose records go."""


def check(world: World) -> None:
    """Hold the broker to the book. Raises Broken."""
    cluster = world.cluster()
    every = {place: read(cluster, place, committed=False) for place in world.places}
    committed = {place: read(cluster, place, committed=True) for place in world.places}
    for place in world.places:
        _check_order(world, place, every[place])
        _check_committed(world, place, committed[place])
    _check_nothing_is_lost(world, committed)
    _check_transactions_are_whole(world, committed)
    _check_compaction(world, every)
    for actor in world.actors:
        if isinstance(actor, Reader):
            _check_reader(actor, (committed if actor.committed else every)[actor.place])
    for group in {each.member.group: each for each in world.actors if isinstance(each, Pipe)}:
        _check_exactly_once(world, group, committed)
    if not world.plan.is_durable:
        _check_power_cut(world, every)


def read(cluster: Cluster, place: Place, *, committed: bool, is_cut: bool = False) -> Log:
    """All that a consumer sees of a partition; after a power cut, up to what is damaged."""
    client, offset = Client(cluster, "check"), cluster.partition(*place).log_start_offset
    log: Log = []
    while True:
        topic, index = place
        answer = fetch(client, offset, topic=topic, partition=index, isolation_level=int(committed))
        if is_cut and answer.error_code == Error.KAFKA_STORAGE_ERROR:
            return log
        if answer.error_code:
            raise Broken(f"{place} cannot be read: {Error(answer.error_code).name}")
        found, end = delivered(
            bytes(answer.records or b""), answer.aborted_transactions or [], offset
        )
        log += found
        if end == offset:
            return log
        offset = end


def _check_order(world: World, place: Place, log: Log) -> None:
    """No duplicates, and the order of each producer."""
    last: dict[str, int] = defaultdict(int)
    seen: dict[bytes, int] = {}
    for record in log:
        world.book.delivered(place, record.offset, record.name, committed=False)
        if record.name in seen:
            raise Broken(f"{record.name!r} is at {seen[record.name]} and {record.offset}: {place}")
        seen[record.name] = record.offset
        sent = world.book.sent[record.name]
        if sent.number < last[sent.producer]:
            raise Broken(f"{record.name!r} at {record.offset} of {place} stands behind a later one")
        last[sent.producer] = sent.number


def _check_committed(world: World, place: Place, log: Log) -> None:
    for record in log:
        world.book.delivered(place, record.offset, record.name, committed=True)


def _check_nothing_is_lost(world: World, committed: dict[Place, Log]) -> None:
    there = {(place, each.name) for place, log in committed.items() for each in log}
    for name, sent in world.book.sent.items():
        has_to_be = sent.txn is None or sent.txn.fate is Fate.COMMITTED
        if sent.offset is None or not has_to_be or (sent.place, name) in there:
            continue
        if sent.place[0] == "keyed" or _was_old(world, sent):
            continue
        raise Broken(f"{name!r} was acknowledged at {sent.offset} of {sent.place}, and is lost")


def _was_old(world: World, sent: Sent) -> bool:
    """Whether a record was to be deleted."""
    start = world.cluster().partition(*sent.place).log_start_offset
    is_old = sent.place[0] == "retained" and world.now - sent.time >= RETENTION_MS
    return is_old and sent.offset is not None and sent.offset < start


def _check_transactions_are_whole(world: World, committed: dict[Place, Log]) -> None:
    """Of one that ended while nobody heard, all is there or nothing."""
    there = {each.name for log in committed.values() for each in log}
    fates: dict[int, tuple[bool, bytes]] = {}
    for name, sent in world.book.sent.items():
        if sent.txn is None or sent.txn.fate is not Fate.UNKNOWN or sent.offset is None:
            continue
        is_there, other = fates.setdefault(id(sent.txn), (name in there, name))
        if is_there != (name in there):
            raise Broken(f"of one transaction {name!r} is there, or {other!r}, and not both")


def _check_compaction(world: World, every: dict[Place, Log]) -> None:
    """The latest record of each key is there, unless it has removed the key."""
    if ("keyed", 0) not in every:
        return
    latest: dict[bytes | None, Sent] = {}
    for sent in world.book.sent.values():
        if sent.place[0] == "keyed" and sent.offset is not None:
            before = latest.get(sent.key)
            if before is None or (before.offset or 0) < sent.offset:
                latest[sent.key] = sent
    ends: dict[bytes | None, int] = {each.key: each.offset for each in every["keyed", 0]}
    for key, sent in latest.items():
        if sent.value is not None and ends.get(key, -1) < (sent.offset or 0):
            raise Broken(f"the latest record of {key!r}, at {sent.offset}, is gone")


def _check_reader(reader: Reader, log: Log) -> None:
    """It was given what is there, each record once."""
    if reader.place[0] in DELETED:
        offsets = [each.offset for each in reader.read]
        if offsets != sorted(set(offsets)):
            raise Broken(f"{reader.name} was given {offsets}")
    elif reader.read != log:
        missing = {each.name for each in log} ^ {each.name for each in reader.read}
        raise Broken(f"{reader.name} was not given what is in {reader.place}: {sorted(missing)}")


def _check_exactly_once(world: World, group: str, committed: dict[Place, Log]) -> None:
    """Each record of the source has taken effect once."""
    for (topic, index), log in committed.items():
        if topic != "out":
            continue
        found = [each.name.partition(b"#")[0] for each in log]
        wanted = [b"%d:%d" % (index, each.offset) for each in committed["t", index]]
        if found != wanted:
            raise Broken(f"{group} has written {found} to {index}, and not {wanted}")


def _check_power_cut(world: World, every: dict[Place, Log]) -> None:
    """Nobody has asked for flushes: then a power cut may take any batch, but what it leaves was
    there, and stands in its order. (Offsets are not covered by a batch's checksum.)"""
    process, random = world.process, Random(world.plan.seed)
    if world.plan.seed % 4:
        return
    process.die(lambda disk: disk.crash(random))
    try:
        cluster = process.start()
    except LogDirectoryError:
        return  # not even the directory itself was made durable
    for place, log in every.items():
        if cluster.topics.get(place[0]) is not None and place[0] not in DELETED:
            left = [each.name for each in read(cluster, place, committed=False, is_cut=True)]
            if left != [each.name for each in log if each.name in left]:
                raise Broken(f"a power cut has left {left} of {place}, which held {log}")

"""What is asked of each broker, and how it is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter

from odradek.wire.api.api_versions import ApiVersionsRequest

from tests.cold_start import raw
from tests.cold_start.raw import DATA, GROUP, TRANSACTION, Txn
from tests.cold_start.until import Sight, sight_rows, spread, until_success
from tests.requests.groups import heartbeat_request, join_request, sync_request
from tests.support.connection import Connection

TIMES = 20
LATENCIES = 300
WARM = 100
Seen = tuple[str, list[Sight]]


def of_a_new_broker(bootstrap: str) -> Iterator[tuple[str, Sight]]:
    """One sight each: of coordinators that nobody has asked for."""
    with Connection(bootstrap) as one:
        yield "FindCoordinator (group), first", until_success(lambda: raw.find(one, "g", GROUP))
        yield "JoinGroup after it", until_success(lambda: raw.join(one, "g"))
        find_txn = until_success(lambda: raw.find(one, "x", TRANSACTION))
        yield "FindCoordinator (transaction), first", find_txn
        yield "InitProducerId after it", until_success(lambda: raw.init(one, "x"))


def of_a_restarted_broker(bootstrap: str) -> Iterator[tuple[str, Sight]]:
    """One sight each: of coordinators that have to load."""
    with Connection(bootstrap) as one:
        found = until_success(lambda: raw.find(one, "g", GROUP))
        yield "after a restart: FindCoordinator", found
        init = until_success(lambda: raw.init(one, "x"))
        yield "after a restart: InitProducerId", init


def of_topics(bootstrap: str) -> Iterator[Seen]:
    """Of topics that are made, grown and deleted."""
    for number in range(5):
        raw.after_creation(bootstrap, f"warm-{number}", raw.produce)
    for partitions in (1, 3, 6, 12, 50):
        yield (
            f"Produce after CreateTopics of {partitions}",
            [
                raw.after_creation(bootstrap, f"c-{partitions}-{n}", raw.produce, partitions)
                for n in range(TIMES // 2)
            ],
        )
    for name, ask in DATA.items():
        seen = [raw.after_auto_creation(bootstrap, f"a-{name}-{n}", ask) for n in range(TIMES)]
        yield f"{name} after auto-creation by Metadata", seen
    grown = [raw.after_growth(bootstrap, f"g-{n}") for n in range(TIMES)]
    yield "Produce after CreatePartitions", grown
    for name, ask in DATA.items():
        seen = [raw.after_deletion(bootstrap, f"d-{name}-{n}", ask) for n in range(TIMES)]
        yield f"{name} refused after DeleteTopics", seen


def of_transactions(bootstrap: str) -> Iterator[Seen]:
    """Of what follows at once upon the answer to EndTxn."""
    verbs: list[tuple[int, str, Callable[[Txn], int]]] = [
        (1, "AddPartitionsToTxn", Txn.add),
        (1, "EndTxn again", Txn.end),
        (1, "InitProducerId", Txn.init),
        (2, "Produce v12", Txn.write),
        (2, "TxnOffsetCommit", Txn.commit_offset),
        (2, "EndTxn (abort)", Txn.abort),
        (2, "InitProducerId", Txn.init),
    ]
    with Connection(bootstrap) as one:
        _ready(one)
        for generation, name, verb in verbs:
            txn = Txn(one, f"{generation} {name}", generation)
            for _ in range(WARM // 2):
                txn.take_one_through()
            seen = []
            for _ in range(2 * TIMES):
                txn.take_one_through()
                seen.append(until_success(lambda verb=verb, txn=txn: verb(txn)))  # type: ignore[misc]
            yield f"TV{generation}: {name} after EndTxn", seen


def latencies(bootstrap: str) -> Iterator[str]:
    """Lines: an API, and the spread of its latency in ms."""
    hello = ApiVersionsRequest(client_software_name="cold", client_software_version="1")
    with Connection(bootstrap) as one:
        _ready(one)
        asks: dict[str, Callable[[], int]] = {
            "ApiVersions": lambda: int(one.ask(hello, 3).error_code),
            "Metadata": lambda: raw.metadata(one, "t"),
            "FindCoordinator": lambda: raw.find(one, "g", GROUP),
            "Produce, acks=1": lambda: raw.produce(one, "t", acks=1),
            "Produce, acks=all": lambda: raw.produce(one, "t"),
            "Fetch": lambda: raw.fetch(one, "t"),
            "ListOffsets": lambda: raw.list_offsets(one, "t"),
            "OffsetCommit": lambda: raw.commit(one, "g"),
            "InitProducerId": lambda: raw.init(one, "latency"),
        }
        for name, ask in asks.items():
            yield f"{name}: {spread(_timed(ask) for _ in range(WARM + LATENCIES))}"
        yield from _of_members(one)
        yield from _of_transactions(one)
        yield from _of_changes(one)


def _of_members(one: Connection) -> Iterator[str]:
    times: dict[str, list[float]] = {"JoinGroup": [], "SyncGroup": [], "Heartbeat": []}
    for number in range(WARM):
        group = f"member-{number}"
        begin = perf_counter()
        member = one.ask(join_request(group_id=group), 3)
        joined = perf_counter()
        one.ask(sync_request(member, b"all", group_id=group), 3)
        synced = perf_counter()
        one.ask(heartbeat_request(member, group_id=group), 3)
        ends = (begin, joined, synced, perf_counter())
        for name, first, last in zip(times, ends, ends[1:], strict=False):
            times[name].append((last - first) * 1000)
    for name, found in times.items():
        yield f"{name}: {spread(found)}"


def _of_transactions(one: Connection) -> Iterator[str]:
    for generation in (1, 2):
        txn = Txn(one, f"latency-{generation}", generation)
        times: dict[str, list[float]] = {"AddPartitionsToTxn": [], "Produce": [], "EndTxn": []}
        for _ in range(WARM):
            if generation == 1:
                times["AddPartitionsToTxn"].append(until_success(txn.add).done_ms)
            times["Produce"].append(until_success(txn.write).done_ms)
            times["EndTxn"].append(_timed(txn.end))
            until_success(txn.init)
        for name, found in times.items():
            if found:
                yield f"TV{generation}, {name}: {spread(found)}"


def _of_changes(one: Connection) -> Iterator[str]:
    times: dict[str, list[float]] = {"CreateTopics": [], "DeleteTopics": []}
    for number in range(TIMES):
        times["CreateTopics"].append(_timed(lambda n=number: raw.create(one, f"l-{n}")))  # type: ignore[misc]
        until_success(lambda n=number: raw.produce(one, f"l-{n}"))  # type: ignore[misc]
        times["DeleteTopics"].append(_timed(lambda n=number: raw.delete(one, f"l-{n}")))  # type: ignore[misc]
    for name, found in times.items():
        yield f"{name}: {spread(found)}"


def _timed(ask: Callable[[], int]) -> float:
    begin = perf_counter()
    assert ask() == 0
    return (perf_counter() - begin) * 1000


def _ready(one: Connection) -> None:
    """A topic t, and coordinators that have loaded."""
    raw.create(one, "t")
    until_success(lambda: raw.produce(one, "t"))
    until_success(lambda: raw.find(one, "g", GROUP))
    until_success(lambda: raw.commit(one, "g"))
    until_success(lambda: raw.find(one, "latency", TRANSACTION))
    until_success(lambda: raw.init(one, "latency"))


def shown(title: str, sights: list[Sight]) -> str:
    """A question and its answers."""
    return "\n".join([title, *(f"    {row}" for row in sight_rows(sights))])

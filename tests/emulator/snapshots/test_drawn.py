"""Whatever has been done: a snapshot has it all, is not reached by what follows, and comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from odradek import Emulator, ManualClock
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk

from tests.emulator.snapshots.everything import everything
from tests.requests.groups import stable
from tests.support.cluster import at_once, client_of
from tests.support.drawn import examples
from tests.support.transactional_producer import TxnClient

TOPICS = {"t": 2, "compacted": 1}
CONFIG = {
    "log.segment.bytes": 1024 * 1024,
    "transactional.id.expiration.ms": 3_600_000,
    "offsets.topic.num.partitions": 3,
    "transaction.state.log.num.partitions": 3,
}


def carried_out(kafka: Emulator, action: Callable[[Cluster], Any]) -> None:
    def do(cluster: Cluster) -> None:
        with at_once(cluster):
            action(cluster)

    kafka.run(do)


def plain(kafka: Emulator, number: int) -> None:
    kafka.topic("t").produce(f"v{number}", partition=number % 2)


def large(kafka: Emulator, number: int) -> None:
    kafka.topic("t").produce(bytes(400_000), key=str(number), partition=0)


def keyed(kafka: Emulator, number: int) -> None:
    kafka.topic("compacted").produce(f"v{number}", key=f"k{number % 2}")


def begun(kafka: Emulator, number: int) -> None:
    """A transaction with a record and an offset; left open, or ended."""
    name, fate = f"x{number % 2}", number % 3

    def do(cluster: Cluster) -> None:
        cluster.groups.ensure_topic()
        producer = TxnClient(cluster, name, 1 + number % 2).begin()
        assert not producer.write(b"in a transaction", b"twice", partition=number % 2)
        assert not producer.commit_offset(number)
        if fate:
            assert not producer.end(commit=fate == 1)

    carried_out(kafka, do)


def joined(kafka: Emulator, number: int) -> None:
    def do(cluster: Cluster) -> None:
        cluster.groups.ensure_topic()
        stable(client_of(cluster))

    if not kafka.group("g").members:
        carried_out(kafka, do)


def committed(kafka: Emulator, number: int) -> None:
    kafka.group(f"c{number % 2}").commit({("t", 0): 0 if number % 3 else (0, "a note")})


def passed(kafka: Emulator, number: int) -> None:
    kafka.advance(ms=1 + number * 7_000)


def truncated(kafka: Emulator, number: int) -> None:
    view = kafka.topic("t")[0]
    view.truncate(min(number, view.log_end_offset))


def recreated(kafka: Emulator, number: int) -> None:
    if "more" in kafka.topics():
        kafka.delete_topic("more")
    else:
        kafka.create_topic("more", 1 + number % 2, {"retention.ms": number}).produce("x")


def retained(kafka: Emulator, number: int) -> None:
    kafka.topic("t").retain()


def compacted(kafka: Emulator, number: int) -> None:
    kafka.compact()


VERBS = [plain, large, keyed, begun, joined, committed, passed, truncated, recreated, retained]
STEPS = st.lists(st.tuples(st.sampled_from([*VERBS, compacted]), st.integers(0, 9)), max_size=10)


@examples(12)
@given(before=STEPS, after=STEPS, in_memory=st.booleans(), clients=st.sampled_from(["cut", "keep"]))
def test_a_snapshot_has_all_and_stays(
    before: list[Any], after: list[Any], in_memory: bool, clients: str
) -> None:
    disk = MemoryDisk() if in_memory else None
    with Emulator(CONFIG, topics=TOPICS, clock=ManualClock(), disk=disk) as kafka:
        carried_out(kafka, _compactable)
        _do(kafka, before)
        expected = everything(kafka)

        state = kafka.snapshot()
        assert everything(kafka) == expected  # nobody notices that it was taken
        with kafka.fork() as other:
            assert everything(other) == expected
            _do(kafka, after)
            assert everything(other) == expected
            changed = everything(kafka)
            _do(other, after[::-1])
            assert everything(kafka) == changed
            assert other.notices == []

        kafka.restore(state, clients=clients)
        assert everything(kafka) == expected
        _do(kafka, after)
        kafka.restore(state, clients=clients)
        assert everything(kafka) == expected
        assert kafka.notices == []


def _compactable(cluster: Cluster) -> None:
    cluster.topics.set_configs(cluster.topic("compacted"), {"cleanup.policy": "compact"})


def _do(kafka: Emulator, steps: list[Any]) -> None:
    for verb, number in steps:
        verb(kafka, number)

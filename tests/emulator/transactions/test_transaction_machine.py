"""Any number of producers under two transactional ids, in any order of writes, offsets, ends,
timeouts, crashes and restarts, against a model of a few lines.

What always holds: no aborted record is read by a committed reader, and no committed one is missing;
the last stable offset never goes back; of all producers that began under an id only the last can
write; a group's offset is that of a committed transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk
from odradek.wire import Error

from tests.support.cluster import open_cluster
from tests.support.consumer import committed_offset, read
from tests.support.drawn import examples
from tests.support.transactional_producer import TxnClient

TIMEOUT_MS = 60_000
CONFIGS = {"transaction_state_log_num_partitions": "2", "offsets_topic_num_partitions": "1"}
NAMES, PARTITIONS = ("x", "y"), (0, 1)


class Fate(Enum):
    """What became of a transaction."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass
class Txn:
    """One transaction, and what was committed for the group in it: (order, offset)."""

    fate: Fate = Fate.OPEN
    offsets: list[tuple[int, int]] = field(default_factory=list)


class Transactions(RuleBasedStateMachine):
    """The broker, and what it ought to know."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = MemoryDisk()
        self.cluster = self.opened(1_600_000_000_000)
        self.cluster.create_topic("t", len(PARTITIONS), {})
        self.clients: dict[str, list[TxnClient]] = {name: [] for name in NAMES}
        self.open: dict[str, Txn] = {}
        self.logs: dict[int, list[tuple[bytes, Txn]]] = {index: [] for index in PARTITIONS}
        self.all: list[Txn] = []
        self.count = 0
        self.stable = dict.fromkeys(PARTITIONS, 0)

    def opened(self, now: int) -> Cluster:
        return open_cluster(self.disk.directory(), now, **CONFIGS)

    def teardown(self) -> None:
        self.cluster.close()

    # What the model knows

    def transaction(self, name: str) -> Txn:
        if name not in self.open:
            self.open[name] = Txn()
            self.all.append(self.open[name])
        return self.open[name]

    def ends(self, name: str, fate: Fate) -> None:
        if name in self.open:
            self.open.pop(name).fate = fate

    def number(self) -> int:
        self.count += 1
        return self.count

    # Steps

    @initialize()
    def both_begin(self) -> None:
        for name in NAMES:
            self.begin(name, 2)

    @rule(name=st.sampled_from(NAMES), generation=st.sampled_from([1, 2]))
    def begin(self, name: str, generation: int) -> None:
        client = TxnClient(self.cluster, name, generation)
        self.clients[name].append(client.begin(timeout_ms=TIMEOUT_MS))
        self.ends(name, Fate.ABORTED)

    @rule(name=st.sampled_from(NAMES), index=st.sampled_from(PARTITIONS), size=st.integers(1, 2))
    def write(self, name: str, index: int, size: int) -> None:
        values = [b"%d" % self.number() for _ in range(size)]
        client = self.clients[name][-1]
        error = client.write(*values, partition=index)
        if self.is_fenced(client):
            assert error in (Error.INVALID_PRODUCER_EPOCH, Error.PRODUCER_FENCED)
            return
        assert error is Error.NONE
        txn = self.transaction(name)
        self.logs[index] += [(value, txn) for value in values]

    @rule(name=st.sampled_from(NAMES))
    def commit_offset(self, name: str) -> None:
        offset = self.number()
        client = self.clients[name][-1]
        error = client.commit_offset(offset)
        if self.is_fenced(client):
            assert error in (Error.INVALID_PRODUCER_EPOCH, Error.PRODUCER_FENCED)
            return
        assert error is Error.NONE
        self.transaction(name).offsets.append((self.count, offset))

    @rule(name=st.sampled_from(NAMES), commit=st.booleans(), repeat=st.booleans())
    def end(self, name: str, commit: bool, repeat: bool) -> None:
        client = self.clients[name][-1]
        if self.is_fenced(client):
            assert client.end(True) in (Error.PRODUCER_FENCED, Error.INVALID_TXN_STATE)
            return
        before = client.producer
        error = client.end(commit)
        if error is Error.NONE:
            self.ends(name, Fate.COMMITTED if commit else Fate.ABORTED)
        else:
            assert error is Error.INVALID_TXN_STATE
            assert name not in self.open, "what is open can be ended"
        if repeat and error is Error.NONE:
            after = client.producer
            assert client.end(commit, asked=before) is Error.NONE
            assert client.producer == after

    @precondition(lambda self: any(len(clients) > 1 for clients in self.clients.values()))
    @rule(data=st.data(), index=st.sampled_from(PARTITIONS), sequence=st.integers(0, 3))
    def a_zombie_writes(self, data: st.DataObject, index: int, sequence: int) -> None:
        names = [name for name in NAMES if len(self.clients[name]) > 1]
        zombies = self.clients[data.draw(st.sampled_from(names))][:-1]
        zombie = data.draw(st.sampled_from(zombies))
        before = self.cluster.partition("t", index).log_end_offset
        version = data.draw(st.sampled_from([11, 12]))
        assert zombie.write(b"zombie", partition=index, version=version, sequence=sequence)
        assert zombie.end(data.draw(st.booleans()))
        assert zombie.commit_offset(4711)
        assert self.cluster.partition("t", index).log_end_offset == before

    @rule()
    def time_passes(self) -> None:
        self.cluster.advance(TIMEOUT_MS + 10_001)
        for name in NAMES:
            assert name not in self.open or self.is_fenced(self.clients[name][-1])
            self.ends(name, Fate.ABORTED)

    @rule(clean=st.booleans())
    def restart(self, clean: bool) -> None:
        now, old = self.cluster.clock.now(), self.cluster
        if clean:
            old.close()
        self.disk = self.disk.kill()
        if not clean:
            old.close()
        self.cluster = self.opened(now)
        for clients in self.clients.values():
            for client in clients:
                client.moved_to(self.cluster)

    def is_fenced(self, client: TxnClient) -> bool:
        """Whether its transaction timed out since it began or ended one."""
        return client.producer != client.state.producer

    # What always holds

    @invariant()
    def readers_see_what_they_may(self) -> None:
        for index, log in self.logs.items():
            assert read(self.cluster, committed=False, partition=index) == [v for v, _ in log]
            expected: list[bytes | None] = []
            for value, txn in log:
                if txn.fate is Fate.OPEN:
                    break
                if txn.fate is Fate.COMMITTED:
                    expected.append(value)
            assert read(self.cluster, committed=True, partition=index) == expected

    @invariant()
    def the_last_stable_offset_never_goes_back(self) -> None:
        for index, before in self.stable.items():
            now = self.cluster.partition("t", index).last_stable_offset
            assert now >= before
            self.stable[index] = now

    @invariant()
    def the_group_is_where_a_committed_transaction_put_it(self) -> None:
        committed = [o for txn in self.all if txn.fate is Fate.COMMITTED for o in txn.offsets]
        expected = max(committed, default=(0, -1))[1]
        pending = any(txn.offsets for txn in self.open.values())
        self.cluster.groups.ensure_topic()
        assert committed_offset(self.cluster, stable=False) == expected
        stable = committed_offset(self.cluster)
        assert stable == (Error.UNSTABLE_OFFSET_COMMIT if pending else expected)


TestTransactions = Transactions.TestCase
TestTransactions.settings = examples(20, stateful_step_count=30)

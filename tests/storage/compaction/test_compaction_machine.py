"""A compacted log beside a dict, under whatever sequence of operations Hypothesis makes up.

Whoever reads it whole, as a consumer of committed records does, gets the newest value of each key;
every record read is one that was written there; no producer's state changes.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from odradek.storage.compaction.run import Compaction
from odradek.storage.log import Log
from odradek.wire.batch import batches, read_header
from odradek.wire.records import build_batch, end_transaction_batch, read_marker, read_records

from tests.storage.support.compacted_logs import COMPACT, roll
from tests.storage.support.logs import home, open_log
from tests.support.drawn import examples


class Written(NamedTuple):
    offset: int
    key: bytes
    value: bytes | None
    transaction: int | None
    """The offset of its producer's first batch in it."""


PLAIN, IDEMPOTENT, TRANSACTIONAL = [-1], [1, 2], [11, 12, 13]
TIMES_MS = st.sampled_from([1, 50, 200])


class Compacted(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.path = Path(tempfile.mkdtemp(prefix="odradek-test-"))
        self.log: Log
        self.now_ms = 1000
        self.written: dict[int, Written] = {}
        self.open: dict[int, int] = {}
        self.committed: set[int] = set()
        self.sequences: dict[int, int] = {}
        self.begun: Compaction | None = None

    @initialize(
        segment_bytes=st.sampled_from([1, 300, 900]),
        interval=st.sampled_from([0, 150]),
        retention=st.sampled_from([0, 100]),
    )
    def start(self, segment_bytes: int, interval: int, retention: int) -> None:
        self.config = replace(
            COMPACT,
            segment_bytes=segment_bytes,
            index_interval_bytes=interval,
            delete_retention_ms=retention,
        )
        self.log = open_log(self.path, self.config)

    def teardown(self) -> None:
        if hasattr(self, "log"):
            self.log.close(clean=False)
        shutil.rmtree(self.path)

    @rule(
        producer_id=st.sampled_from(PLAIN * 3 + IDEMPOTENT + TRANSACTIONAL * 2),
        pairs=st.lists(
            st.tuples(
                st.sampled_from([b"a", b"b", b"c", b"d", b"long key " * 3]),
                st.sampled_from([b"", b"value", b"value " * 9, None]),
            ),
            min_size=1,
            max_size=4,
        ),
        codec=st.sampled_from([0, 0, 1, 3]),
        more_ms=TIMES_MS,
        repeat=st.sampled_from([1, 1, 3]),
    )
    def produce(
        self,
        producer_id: int,
        pairs: list[tuple[bytes, bytes | None]],
        codec: int,
        more_ms: int,
        repeat: int,
    ) -> None:
        self.now_ms += more_ms
        for _ in range(repeat):
            base = self.log.log_end_offset
            sequence = self.sequences.get(producer_id, 0)
            if producer_id >= 0:
                self.sequences[producer_id] = sequence + len(pairs)
            transaction = None
            if producer_id in TRANSACTIONAL:
                transaction = self.open.setdefault(producer_id, base)
            batch = build_batch(
                [(self.now_ms, key, value, ()) for key, value in pairs],
                base_offset=base,
                leader_epoch=0,
                codec=codec,
                producer_id=producer_id,
                producer_epoch=0 if producer_id >= 0 else -1,
                base_sequence=sequence if producer_id >= 0 else -1,
                transactional=transaction is not None,
            )
            self.log.append(batch, read_header(batch), self.now_ms)
            for offset, (key, value) in enumerate(pairs, base):
                self.written[offset] = Written(offset, key, value, transaction)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), commit=st.booleans())
    def end_transaction(self, data: st.DataObject, commit: bool) -> None:
        producer_id = data.draw(st.sampled_from(sorted(self.open)))
        first = self.open.pop(producer_id)
        if commit:
            self.committed.add(first)
        marker = end_transaction_batch(
            commit,
            base_offset=self.log.log_end_offset,
            timestamp=self.now_ms,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=0,
            leader_epoch=0,
        )
        self.log.append(marker, read_header(marker), self.now_ms)

    @rule()
    def roll(self) -> None:
        roll(self.log)

    @rule(force=st.booleans(), more_ms=TIMES_MS, room=st.sampled_from([4 * 24, 3 * 170, 1 << 20]))
    def compact(self, force: bool, more_ms: int, room: int) -> None:
        self.now_ms += more_ms
        self.log.compactor.compact(self.now_ms, force=force, buffer_bytes=room)
        self.begun = None

    @rule()
    def begin(self) -> None:
        plan = self.log.compactor.plan(self.now_ms)
        if plan.cleanable_bytes:
            self.begun = self.log.compactor.begin(plan, self.now_ms)

    @precondition(lambda self: self.begun)
    @rule()
    def end(self) -> None:
        assert self.begun is not None
        self.begun.run()
        assert self.log.compactor.end(self.begun) is not None
        self.begun = None

    @rule(data=st.data())
    def delete_records(self, data: st.DataObject) -> None:
        start, stable = self.log.log_start_offset, self.stable()
        if start < stable:
            self.log.delete_records(data.draw(st.integers(start, min(stable, start + 5))))

    @rule(clean=st.booleans(), forget=st.booleans())
    def open_again(self, clean: bool, forget: bool) -> None:
        before = snapshot(self.log)
        cleaned, start = self.log.compactor.cleaned_offset, self.log.log_start_offset
        self.log.close(clean=clean)
        if not clean and forget:  # then the batches alone have to say it
            for path in home(self.path).glob("*.snapshot"):
                path.unlink()
        self.log = open_log(self.path, self.config, clean=clean, log_start_offset=start)
        self.log.compactor.cleaned_offset = cleaned
        self.begun = None
        assert self.log.notices == []
        assert snapshot(self.log) == before

    def stable(self) -> int:
        return self.log.producers.last_stable_offset(self.log.log_end_offset)

    def consumed(self) -> dict[int, tuple[bytes, bytes | None]]:
        """Offset to key and value of all that a consumer of committed records is shown."""
        log, upto = self.log, self.stable()
        offset, shown = log.log_start_offset, {}
        while offset < upto:
            data = log.read(offset, 500, upto=upto)
            if not data:
                break
            coming = sorted(
                log.reader.aborted_transactions(offset, len(data)), key=lambda one: one[1]
            )
            aborted: set[int] = set()
            for at, header in batches(data):
                while coming and coming[0].first_offset <= header.last_offset:
                    aborted.add(coming.pop(0).producer_id)
                if header.is_control:
                    if header.count and not read_marker(data, at).commit:
                        aborted.discard(header.producer_id)
                elif not (header.is_transactional and header.producer_id in aborted):
                    for one in read_records(data, at):
                        if one.offset >= offset:
                            assert one.key is not None
                            shown[one.offset] = one.key, one.value
                assert header.last_offset >= offset
                offset_next = header.last_offset + 1
            offset = offset_next
        return shown

    @invariant()
    def a_consumer_gets_the_newest_value_of_each_key(self) -> None:
        if not hasattr(self, "log"):
            return
        start, stable = self.log.log_start_offset, self.stable()
        expected = {
            one.key: one.value
            for one in self.written.values()
            if start <= one.offset < stable
            and (one.transaction is None or one.transaction in self.committed)
        }
        shown = self.consumed()
        newest = dict(shown[offset] for offset in sorted(shown))
        # Once its time has come a tombstone is gone, which means the same.
        assert {key: value for key, value in newest.items() if value is not None} == {
            key: value for key, value in expected.items() if value is not None
        }
        for offset, (key, value) in shown.items():
            one = self.written[offset]
            assert (one.key, one.value) == (key, value)
            assert one.transaction is None or one.transaction in self.committed


def snapshot(log: Log) -> dict[int, tuple[object, ...]]:
    """What a snapshot keeps of each producer; markers that went leave their time behind."""
    return {
        pid: (one.epoch, one.batches[-1:] and one.batches[-1][:4], one.txn_first_offset)
        for pid, one in log.producers.states.items()
    }


def run(count: int) -> None:
    run_state_machine_as_test(Compacted, settings=examples(count, stateful_step_count=25))


def test_nothing_is_lost_and_nothing_comes_back() -> None:
    run(8)


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_comes_back_in_the_long_run() -> None:
    run(60)

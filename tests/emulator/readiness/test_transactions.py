"""`timing="kafka"`: between the answer to EndTxn and the markers a coordinator is busy."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.readiness.figures import RETRIES_MS, RETRY_MS
from odradek.emulator.transactions.transaction import Producer, State, Transaction
from odradek.wire import Error

from tests.requests.produce import batch, produce_request
from tests.requests.transactions import (
    NOBODY,
    add_request,
    end_request,
    init_request,
    txn_commit_request,
)
from tests.support.cluster import open_cluster
from tests.support.patient import Patient, errors_until_none

BUSY = Error.CONCURRENT_TRANSACTIONS


class TxnPatient:
    """A transactional producer x that waits for answers, on a cluster where all else is ready."""

    def __init__(self, path: Path) -> None:
        self.cluster = open_cluster(path, timing="kafka")
        self.cluster.create_topic("t", 1, {})
        self.cluster.topics.ensure_internal("__transaction_state")
        self.cluster.topics.ensure_internal("__consumer_offsets")
        self.cluster.advance(5000)
        self.client = Patient(self.cluster)
        self.who = NOBODY
        self.sequence = 0
        assert self.init() == Error.NONE

    @property
    def state(self) -> Transaction:
        return self.cluster.transactions.coordinator_for("x").find("x")

    def init(self) -> int:
        answer = self.client.ask(init_request(), 4)
        if not answer.error_code:
            self.who, self.sequence = Producer(answer.producer_id, answer.producer_epoch), 0
        return int(answer.error_code)

    def add(self) -> int:
        answer = self.client.ask(add_request(self.who, [("t", [0])]), 3)
        (topic,) = answer.results_by_topic_v3_and_below
        return int(topic.results_by_partition[0].partition_error_code)

    def write(self, version: int) -> int:
        data = batch(
            b"a",
            producer_id=self.who.producer_id,
            producer_epoch=self.who.epoch,
            base_sequence=self.sequence,
            transactional=True,
        )
        request = produce_request(data, transactional_id="x")
        found = self.client.ask(request, version).responses[0].partition_responses[0]
        self.sequence += not found.error_code
        return int(found.error_code)

    def commit_offset(self) -> int:
        answer = self.client.ask(txn_commit_request(self.who, ("t", 0, 1)), 5)
        return int(answer.topics[0].partitions[0].error_code)

    def end(self, version: int, commit: bool = True) -> int:
        answer = self.client.ask(end_request(self.who, commit), version)
        if version >= 5 and not answer.error_code:
            self.who, self.sequence = Producer(answer.producer_id, answer.producer_epoch), 0
        return int(answer.error_code)


@pytest.fixture
def producer(tmp_path: Path) -> TxnPatient:
    return TxnPatient(tmp_path)


def ended(producer: TxnPatient, version: int) -> None:
    """A transaction of one record, ended as a client of the first or second generation does."""
    if version < 5:
        assert producer.add() == Error.NONE
    assert producer.write(12 if version >= 5 else 11) == Error.NONE
    assert producer.end(version) == Error.NONE
    assert producer.state.state is State.PREPARE_COMMIT


@pytest.mark.parametrize("verb", ["add", "init", "end"])
def test_the_first_generation_is_asked_to_try_again(producer: TxnPatient, verb: str) -> None:
    ended(producer, 4)
    ask = {"add": producer.add, "init": producer.init, "end": lambda: producer.end(4)}[verb]
    assert errors_until_none(producer.cluster, ask) == [BUSY]
    assert not producer.state.state.is_prepared


@pytest.mark.parametrize("verb", ["commit_offset", "init", "abort"])
def test_the_second_generation_too(producer: TxnPatient, verb: str) -> None:
    ended(producer, 5)
    ask = {
        "commit_offset": producer.commit_offset,
        "init": producer.init,
        "abort": lambda: producer.end(5, commit=False),
    }[verb]
    assert errors_until_none(producer.cluster, ask) == [BUSY]


def test_a_record_of_the_second_generation_waits_at_the_broker(producer: TxnPatient) -> None:
    ended(producer, 5)
    assert producer.write(12) == Error.NONE
    assert RETRY_MS <= producer.client.waited_ms < 2 * RETRY_MS
    assert producer.state.state is State.ONGOING


def test_but_not_for_ever(producer: TxnPatient, monkeypatch: pytest.MonkeyPatch) -> None:
    timing = producer.cluster.timing
    assert timing is not None
    monkeypatch.setattr(timing, "once_decided", lambda complete: None)  # never complete
    ended(producer, 5)
    assert producer.write(12) == BUSY
    assert RETRIES_MS <= producer.client.waited_ms < RETRIES_MS + RETRY_MS
    assert producer.sequence == 0


def test_the_markers_come_after_the_answer(producer: TxnPatient) -> None:
    ended(producer, 4)
    partition = producer.cluster.partition("t", 0)
    assert (partition.log_end_offset, partition.last_stable_offset) == (1, 0)
    producer.cluster.advance(100)
    assert (partition.log_end_offset, partition.last_stable_offset) == (2, 2)
    assert producer.state.state is State.COMPLETE_COMMIT


def test_a_restart_in_between_completes_it(tmp_path: Path) -> None:
    producer = TxnPatient(tmp_path)
    ended(producer, 4)
    producer.cluster.close()
    again = open_cluster(tmp_path, timing="kafka")
    again.advance(100)
    assert again.transactions.coordinator_for("x").find("x").state is State.COMPLETE_COMMIT


def test_a_producer_that_starts_anew_waits_for_the_abort(producer: TxnPatient) -> None:
    producer.add()
    assert producer.write(11) == Error.NONE
    assert errors_until_none(producer.cluster, producer.init) == [BUSY]
    assert producer.who.epoch == 2  # fenced once, then begun


def test_without_the_switch_all_is_done_with_the_answer() -> None:
    instant: Cluster = open_cluster()
    assert instant.timing is None
    assert instant.chain == []

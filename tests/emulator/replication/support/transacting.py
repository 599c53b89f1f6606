"""Commands of transcripts for a producer that has an id:

send 0 1 2                 batches of one record, with these sequences, at the leader
begin                      a transactional id (the topic's name) gets a producer id and epoch
append                     a transactional record
commit   abort             the end of the transaction
transaction                its state, once that is not to change any more
"""

from __future__ import annotations

from typing import Any

from odradek.wire import Error, Request
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.records import build_batch

_PRODUCER_ID = 7000
_OF_A_TRANSACTION = 1
_TIMEOUT_MS = 60_000
_ALL = -1
_MOST_ASKED = 150
_PASSING = {
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_COORDINATOR,
    Error.CONCURRENT_TRANSACTIONS,
}


class Transacting:
    _ground: Any
    _topic: str
    _producer = (_PRODUCER_ID, 0)
    _sequence = 0

    def _leader(self) -> int:
        raise NotImplementedError

    def do_send(self, *sequences: str) -> list[str]:
        lines = [self._send(int(each), None) for each in sequences]
        return [f"sent: {', '.join(lines)}"]

    def do_append(self) -> list[str]:
        self._sequence += 1
        return [f"appended: {self._send(self._sequence - 1, self._topic)}"]

    def _send(self, sequence: int, transactional_id: str | None) -> str:
        producer_id, epoch = self._producer
        batch = build_batch(
            [(self._ground.now(), b"k", b"v", ())],  # of long ago, its producer is not kept
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            transactional=transactional_id is not None,
        )
        part = ProduceRequest.Topic.Partition(index=0, records=batch)
        request = ProduceRequest(
            transactional_id=transactional_id,
            acks=_ALL,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[ProduceRequest.Topic(name=self._topic, partition_data=[part])],
        )
        answer = self._ground.ask(self._leader(), request, 12)
        found = answer.responses[0].partition_responses[0]
        return f"{Error(found.error_code).name} at {found.base_offset}"

    def do_begin(self) -> list[str]:
        request = InitProducerIdRequest(
            transactional_id=self._topic, transaction_timeout_ms=_TIMEOUT_MS
        )
        answer = self._coordinated(request, 4)
        self._producer, self._sequence = (answer.producer_id, answer.producer_epoch), 0
        return [f"begun: {Error(answer.error_code).name}"]

    def do_commit(self) -> list[str]:
        return self._conclude(committed=True)

    def do_abort(self) -> list[str]:
        return self._conclude(committed=False)

    def _conclude(self, *, committed: bool) -> list[str]:
        producer_id, epoch = self._producer
        request = EndTxnRequest(
            transactional_id=self._topic,
            producer_id=producer_id,
            producer_epoch=epoch,
            committed=committed,
        )
        answer = self._coordinated(request, 5)
        if not answer.error_code:
            self._producer, self._sequence = (answer.producer_id, answer.producer_epoch), 0
        return [f"ended: {Error(answer.error_code).name}"]

    def do_transaction(self) -> list[str]:
        request = DescribeTransactionsRequest(transactional_ids=[self._topic])
        for _ in range(_MOST_ASKED):
            (found,) = self._coordinated(request, 0).transaction_states
            if not found.transaction_state.startswith("Prepare"):
                break
            self._ground.wait()
        return [f"transaction: {found.transaction_state}"]

    def _coordinated(self, request: Request, version: int) -> Any:
        """The answer of the coordinator, once it coordinates."""
        for _ in range(_MOST_ASKED):
            try:
                answer = self._ground.ask(self._coordinator(), request, version)
            except (OSError, EOFError):  # a real broker is on its way down, or up
                self._ground.wait()
                continue
            states = getattr(answer, "transaction_states", [answer])
            if states[0].error_code not in _PASSING:
                break
            self._ground.wait()
        return answer

    def _coordinator(self) -> int:
        asked = FindCoordinatorRequest(key=self._topic, key_type=_OF_A_TRANSACTION)
        for _ in range(_MOST_ASKED):
            running = self._ground.running()
            answer = self._ground.ask(running[0], asked, 3)
            if not answer.error_code and answer.node_id in running:
                break
            self._ground.wait()
        found: int = answer.node_id
        return found

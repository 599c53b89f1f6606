"""A polite client: it produces, fetches, joins a group, commits, and checks every answer. Nobody
else knows the names that it uses."""

from __future__ import annotations

import threading
import time

from odradek.wire import Error
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest

from tests.requests.committed_offsets import commit, committed
from tests.requests.fetch import fetch, values
from tests.requests.groups import heartbeat_request, joined, leave_request, sync_request
from tests.requests.produce import produce_numbered
from tests.support.connection import Connection

NAME = "polite-7f3a"
PAUSE_S = 0.004
ROUNDS_A_GROUP = 10
_RATES = ("producer_byte_rate", "consumer_byte_rate", "request_percentage")
_CONFIGS = {
    "max.message.bytes": "1000000",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "cleanup.policy": "delete",
    "min.insync.replicas": "1",
    "message.timestamp.before.max.ms": "9223372036854775807",
    "message.timestamp.type": "CreateTime",
}


class Polite(threading.Thread):
    """Goes on until `finish`; `failure` is what went wrong."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self._connection = Connection(bootstrap)
        self._over = threading.Event()
        self._began = 0.0
        self.failure: BaseException | None = None
        self.rounds = 0
        self.longest_s = 0.0
        self._set_up()
        self._producer = self._new_producer()

    def run(self) -> None:
        try:
            while not self._over.wait(PAUSE_S):
                self._began = time.monotonic()
                self._round()
                self.longest_s = max(self.longest_s, time.monotonic() - self._began)
                self._began = 0.0
        except BaseException as error:
            self.failure = error

    def waits_s(self) -> float:
        """How long the round lasts that it is in."""
        began = self._began
        return time.monotonic() - began if began else 0.0

    def finish(self, timeout_s: float) -> None:
        """Go on for some rounds, then end. Raises what went wrong, TimeoutError."""
        deadline, rounds = time.monotonic() + timeout_s, self.rounds + 2 * ROUNDS_A_GROUP
        while self.rounds < rounds and self.failure is None and time.monotonic() < deadline:
            time.sleep(PAUSE_S)
        self._over.set()
        self.join(max(1.0, deadline - time.monotonic()))
        if self.failure is not None:
            raise self.failure
        if self.is_alive():
            raise TimeoutError(f"no answer for {self.waits_s():.0f} s")

    def leave(self) -> None:
        with self._connection:
            self._over.set()

    def verify(self, bootstrap: str) -> None:
        """Whether a broker knows everything that was written."""
        with Connection(bootstrap) as connection:
            offset = 0
            while offset < self.rounds:
                answer = fetch(connection, offset, topic=NAME)
                assert answer.error_code == 0, answer
                found = values(answer)
                assert found == [b"%d" % (offset + n) for n in range(len(found))], found
                assert found, f"nothing at {offset} of {self.rounds}"
                offset += len(found)
            done = self.rounds // ROUNDS_A_GROUP * ROUNDS_A_GROUP
            if done:
                _coordinator(connection)
                kept = committed(connection, version=7, group=NAME, topic=NAME)
                assert kept.committed_offset == done, kept

    def _set_up(self) -> None:
        topic, entry = CreateTopicsRequest.Topic, AlterClientQuotasRequest.Entry
        created = topic(
            name=NAME,
            num_partitions=1,
            replication_factor=1,
            assignments=[],
            configs=[topic.Config(name=name, value=value) for name, value in _CONFIGS.items()],
        )
        answer = self._connection.ask(CreateTopicsRequest(topics=[created]), 5)
        assert answer.topics[0].error_code == 0, answer
        own = [
            entry.Entity(entity_type="user", entity_name="ANONYMOUS"),
            entry.Entity(entity_type="client-id", entity_name="by hand"),
        ]
        rates = [entry.Op(key=key, value=1e12, remove=False) for key in _RATES]
        quotas = AlterClientQuotasRequest(
            entries=[entry(entity=own, ops=rates)], validate_only=False
        )
        assert self._connection.ask(quotas, 1).entries[0].error_code == 0
        _coordinator(self._connection)

    def _new_producer(self) -> int:
        asked = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        answer = self._connection.ask(asked, 4)
        assert answer.error_code == 0, answer
        number: int = answer.producer_id
        return number

    def _round(self) -> None:
        number = self.rounds
        written = produce_numbered(
            self._connection, self._producer, number, [b"%d" % number], topic=NAME
        )
        assert written == (Error.NONE, number), written
        answer = fetch(self._connection, number, topic=NAME)
        assert (answer.error_code, values(answer)) == (0, [b"%d" % number]), answer
        self.rounds += 1
        if self.rounds % ROUNDS_A_GROUP == 0:
            self._join_and_commit(self.rounds)

    def _join_and_commit(self, offset: int) -> None:
        ask = self._connection.ask
        member = joined(self._connection, group_id=NAME)
        assert (member.error_code, member.leader) == (0, member.member_id), member
        synced = ask(sync_request(member, b"all", group_id=NAME), 3)
        assert (synced.error_code, bytes(synced.assignment)) == (0, b"all"), synced
        beat = ask(heartbeat_request(member, group_id=NAME), 3)
        assert beat.error_code == 0, beat
        error = commit(
            self._connection,
            offset,
            topic=NAME,
            group=NAME,
            member_id=member.member_id,
            generation_id_or_member_epoch=member.generation_id,
        )
        assert error is Error.NONE, error
        answer = committed(self._connection, version=7, group=NAME, topic=NAME)
        assert answer.committed_offset == offset, answer
        left = ask(leave_request(member.member_id, group=NAME), 4)
        assert left.error_code == 0, left


def _coordinator(connection: Connection) -> None:
    """Wait until the group has a coordinator."""
    asked = FindCoordinatorRequest(key=NAME, key_type=0)
    while connection.ask(asked, 3).error_code == Error.COORDINATOR_NOT_AVAILABLE:
        time.sleep(0.01)

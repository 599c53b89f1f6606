"""The rows that a real Kafka can be brought to by requests, run on one: whether clients do there
what the table says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from odradek import Emulator, GroupView, SeenTransaction, TopicView
from odradek.compat import RealKafka
from odradek.compat.clients import wait_until
from odradek.compat.wire_client.remote import RemoteCluster
from odradek.fixtures.kafka.situations import overtaking
from odradek.fixtures.views import transactions_of
from odradek.wire import Error, Refused
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest

from tests.situations.apps import apps
from tests.situations.apps.app import GROUP, TOPIC
from tests.situations.judging import Outcome
from tests.situations.rows import ROWS, Row
from tests.situations.stage import Stage

VERBS = (
    *("message_too_large", "zombie_consumer", "zombie_producer"),
    *("retention_overtakes", "topic_recreated", "partitions_added"),
)
_TIMEOUT_MS = 30_000


def rows() -> list[Row]:
    """Those."""
    return [row for row in ROWS if row.verb.split("(")[0] in VERBS]


def outcomes(client: str, only: str) -> Iterator[tuple[Row, Outcome]]:
    """What a client does in each of them."""
    these = apps(client)
    with RealKafka() as node:
        kafka = OnKafka(node.bootstrap_servers)
        for row in rows():
            if only in row.key:
                kafka.begin()
                yield row, row.run(Stage(cast(Emulator, kafka), these))


class OnKafka:
    """What the rows use of an Emulator, over a real Kafka."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap_servers = bootstrap
        self._inside = RemoteCluster(bootstrap)
        self.situations = self

    def begin(self) -> None:
        """Be as new."""
        self._ask(DeleteTopicsRequest(topic_names=[TOPIC], timeout_ms=_TIMEOUT_MS), 5)
        self._ask(DeleteGroupsRequest(groups_names=[GROUP]), 2)
        self._create_anew(TOPIC)

    def _create_anew(self, topic: str) -> None:
        """It may take a while to be deleted, to be known, and to be led."""
        wait_until(self._create, f"{topic} is created")

        def is_there() -> bool:
            try:
                return self.topic(topic).values() == []
            except Refused:
                return False

        wait_until(is_there, f"{topic} is led")

    def _create(self) -> bool:
        topic = CreateTopicsRequest.Topic(
            name=TOPIC, num_partitions=1, replication_factor=1, assignments=[], configs=[]
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS, validate_only=False)
        (found,) = self._ask(request, 5).topics
        return bool(found.error_code == Error.NONE)

    def _ask(self, request: Any, version: int) -> Any:
        return self._inside.ask(request, version)

    def topic(self, name: str) -> TopicView:
        return TopicView(self._inside, name)

    def group(self, group_id: str) -> GroupView:
        return GroupView(self._inside, group_id)

    def transactions(self) -> list[SeenTransaction]:
        return transactions_of(self._inside)

    def wait_idle(self, timeout: float) -> None:
        wait_until(
            lambda: not any(each.is_open for each in self.transactions()), "none open", timeout
        )

    # Situations

    def message_too_large(self, topic: str, max_bytes: int) -> None:
        overtaking.limit(self._inside, topic, max_bytes)

    def zombie_consumer(self, group: str) -> None:
        (member,) = self.group(group).members
        self.group(group).kick(member)

    def zombie_producer(self, transactional_id: str) -> None:
        request = InitProducerIdRequest(
            transactional_id=transactional_id, transaction_timeout_ms=60_000
        )
        wait_until(lambda: not self._ask(request, 4).error_code, "it has begun")

    def retention_overtakes(self, topic: str, *, group: str, keep: int) -> None:
        overtaking.overtake(self.topic(topic), self.group(group), keep)

    def topic_recreated(self, topic: str) -> TopicView:
        self._ask(DeleteTopicsRequest(topic_names=[topic], timeout_ms=_TIMEOUT_MS), 5)
        self._create_anew(topic)
        return self.topic(topic)

    def partitions_added(self, topic: str) -> None:
        self.topic(topic).add_partitions(1)
        wait_until(lambda: len(self.topic(topic)) == 2, "there are two")

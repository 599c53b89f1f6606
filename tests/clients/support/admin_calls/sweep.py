"""Calling every method of a stock admin client on two brokers, and what there is to call about.

`prepare` makes the same on both: topics with records, a group whose members have left, a live one
of each protocol, an open transaction. The answers are then compared as `admin_plain` shows them.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.clients.support.admin_calls.plain_values import TIMEOUT_S, outcome

# A real broker follows its controller a moment later: what only looks is asked again.
LOOKS = ("list", "describe", "get", "find_coordinator", "find_hanging", "cluster", "api_versions")
AGAIN_S = 8.0
TOPICS = {"orders": 2, "open": 1, "empty": 1, "cut": 1}
START_MS = int(time.time() * 1000) - 60_000  # young enough to be kept
# Configs of the broker itself: ports, places, and what RealKafka is started with.
OWN = {
    *("listeners", "advertised.listeners", "listener.security.protocol.map", "log.dirs"),
    *("controller.listener.names", "controller.quorum.voters", "log.cleaner.dedupe.buffer.size"),
}


class Call(NamedTuple):
    """One call: the method, and what does it, given a client."""

    method: str
    do: Callable[..., Any]

    @property
    def looks(self) -> bool:
        """Whether it changes nothing."""
        return self.method.startswith(LOOKS)


class Answers(NamedTuple):
    real: Any
    ours: Any


def ask(call: Call, real: Any, ours: Any) -> Answers:
    """Ask both clients; a look at the real broker is repeated until it has followed."""
    found = outcome(lambda: call.do(ours))
    deadline = time.monotonic() + AGAIN_S
    while True:
        answer = outcome(lambda: call.do(real))
        if answer == found or not call.looks or time.monotonic() > deadline:
            return Answers(answer, found)
        time.sleep(0.1)


def public_methods(client: type) -> set[str]:
    """The names of everything one may call of a client."""
    return {
        name
        for name, found in inspect.getmembers(client, callable)
        if not name.startswith("_") and not inspect.isclass(found)
    }


@contextmanager
def prepared(address: str) -> Iterator[None]:
    """Make what is asked about; keep its members and its transaction alive meanwhile."""
    settings = {"bootstrap.servers": address}
    admin = AdminClient(settings)
    made = admin.create_topics([NewTopic(n, p, 1) for n, p in TOPICS.items()])
    for future in made.values():
        future.result(TIMEOUT_S)
    producer = Producer({**settings, "enable.idempotence": True})
    for topic in ("orders", "cut"):
        for number in range(5):
            producer.produce(topic, b"%d" % number, partition=0, timestamp=START_MS + number)
    assert producer.flush(TIMEOUT_S) == 0
    with ExitStack() as stack:
        stack.enter_context(_open_transaction(settings))
        stack.enter_context(_member({**settings, "group.id": "live"}))
        stack.enter_context(
            _member({**settings, "group.id": "modern", "group.protocol": "consumer"})
        )
        _commit({**settings, "group.id": "done"}, TopicPartition("orders", 0, 3, "so far"))
        yield


def _commit(settings: dict[str, Any], offset: TopicPartition) -> None:
    """Commit for a group without members, once its coordinator has loaded."""
    consumer = Consumer(settings)
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            consumer.commit(offsets=[offset], asynchronous=False)
            break
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    consumer.close()


@contextmanager
def _open_transaction(settings: dict[str, Any]) -> Iterator[None]:
    producer = Producer({**settings, "transactional.id": "unfinished"})
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    producer.produce("open", b"perhaps", partition=0, timestamp=START_MS)
    producer.flush(TIMEOUT_S)
    yield
    producer.purge()


@contextmanager
def _member(settings: dict[str, Any]) -> Iterator[None]:
    """A consumer of `orders`, polled by a thread of its own, once it has its partitions."""
    consumer = Consumer(
        {
            **settings,
            "client.id": "member",
            "group.instance.id": "steady",
            "enable.auto.commit": False,
        }
    )
    has, stop = threading.Event(), threading.Event()
    consumer.subscribe(["orders"], on_assign=lambda *_: has.set())

    def poll() -> None:
        while not stop.is_set():
            consumer.poll(0.1)

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        assert has.wait(TIMEOUT_S), "no partitions"
        yield
    finally:
        stop.set()
        thread.join(TIMEOUT_S)
        consumer.close()

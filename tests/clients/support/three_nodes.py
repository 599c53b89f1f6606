"""Three real nodes of Apache Kafka, each broker and controller at once (semantics O)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from odradek.compat import RealKafka
from odradek.compat.real_kafka.node import _free_ports

NUMBERS = (1, 2, 3)
VOTERS = "controller.quorum.voters"


class _Node(RealKafka):
    """One of them, at a port that is known before it starts."""

    def __init__(self, number: int, port: int, controller_port: int, voters: str) -> None:
        listeners = f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}"
        config = {"node.id": str(number), VOTERS: voters, "listeners": listeners}
        super().__init__(config=config)
        self._chosen = port

    def _prepare(self) -> None:
        super()._prepare()
        self._port = self._chosen


@contextmanager
def three_nodes() -> Iterator[list[RealKafka]]:
    """They run until the end of this block. A quorum needs two of them: they start together."""
    ports = _free_ports(2 * len(NUMBERS))
    chosen = list(zip(NUMBERS, ports[:3], ports[3:], strict=True))
    voters = ",".join(f"{number}@127.0.0.1:{controller}" for number, _, controller in chosen)
    nodes = [_Node(*each, voters) for each in chosen]
    with ExitStack() as stack:
        for node in nodes:
            stack.callback(node.close)
        with ThreadPoolExecutor(len(nodes)) as pool:
            list(pool.map(lambda node: node.start(), nodes))
        yield list(nodes)

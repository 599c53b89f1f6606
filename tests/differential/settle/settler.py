"""All waits in one hand: both brokers are asked on connections of the settler's own."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from odradek.wire import Request
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest

from ..ask.cluster import alter_quotas, quota
from ..engine.asker import Asker
from ..engine.served import Served
from ..engine.side import Side
from . import cluster, configs, shares, topics, transactions

WARM_UP_S = 60.0
SETTLE_S = 5.0
RESTART_S = 30.0
"""How long topics may take after a restart."""
_PROBE = alter_quotas(quota([("user", "probe")], ("consumer_byte_rate", 1.0)), validate_only=True)


class Settler:
    """Waits until both brokers say the same; each wait is for `SETTLE_S` at most."""

    def __init__(self, sides: Sequence[Side], served: Served) -> None:
        self._sides, self._ranges = sides, served.ranges
        self._askers: list[Asker] = []
        self.warm_up()

    def warm_up(self) -> None:
        """Connect again, and wait until the coordinators are ready: FindCoordinator creates topics.

        Raises TimeoutError if that takes longer than `WARM_UP_S`.
        """
        for asker in self._askers:
            asker.close()
        self._askers = [Asker(side.address, self._ranges) for side in self._sides]
        deadline = time.monotonic() + WARM_UP_S
        for asker in self._askers:
            while not all(each.is_warm(asker) for each in (topics, transactions, shares)):
                if time.monotonic() > deadline:
                    raise TimeoutError("the coordinators do not become ready")
                time.sleep(0.02)

    def wait_for_topics(
        self, names: Iterable[str], groups: Iterable[str], limit_s: float = SETTLE_S
    ) -> None:
        """Wait until both brokers say the same of these topics and of these groups' offsets."""
        topics.settle(self._askers, names, groups, limit_s)

    def wait_for_configs(self, request: Request, names: Iterable[str]) -> None:
        """Wait until both brokers describe the resources that a request changes alike, and these
        topics if it changes brokers: topics follow brokers' configs a moment later still."""
        configs.settle(self._askers, request, names, SETTLE_S)

    def wait_for_transactions(self, ids: Iterable[str]) -> None:
        """Wait until both brokers describe these transactional ids alike."""
        transactions.settle(self._askers, ids, SETTLE_S)

    def wait_for_cluster(self, namespace: str) -> None:
        """Wait until both brokers describe features, quotas and a sequence's own users alike."""
        cluster.settle(self._askers, namespace, SETTLE_S)

    def wait_for_controller(self) -> None:
        """Wait until both brokers have a controller: a real one steps down when a request fails in
        a way that it does not expect, and requests to it are lost until the next is elected."""
        for asker in self._askers:  # a request that is forwarded waits for a controller
            if not asker.serves(AlterClientQuotasRequest):
                return
            asker.ask(_PROBE, AlterClientQuotasRequest.first_version)

"""What may differ from a real Kafka before 3.9, beyond what may differ from 3.9.

Such a broker keeps its metadata with ZooKeeper, or in the first form of KRaft: what follows from
where the metadata is, and words for people, are not compared.
"""

from __future__ import annotations

from odradek.wire.api.describe_configs import DescribeConfigsRequest

from ..engine.compare import Difference
from .allowance import Allowed

_OF_ZOOKEEPER = "results.configs.zookeeper."


def _is_of_zookeeper(request: DescribeConfigsRequest, difference: Difference) -> bool:
    return difference.place.startswith(_OF_ZOOKEEPER)


ALLOWED_WITH_ZOOKEEPER: tuple[Allowed, ...] = (
    Allowed(
        "where ZooKeeper is",
        DescribeConfigsRequest,
        "*",
        "the real broker is started with the address of one, and with short sessions",
        _is_of_zookeeper,
    ),
)

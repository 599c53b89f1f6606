"""Differences that are allowed, each with its reason, and lists whose order says nothing.

`kafka_4_3` has the allowances that hold against any release, `cluster` those among them about the
cluster's own APIs, and `kafka_3_9` what is allowed besides when both brokers are of that release
or an older one; `older` what is allowed besides where metadata is with ZooKeeper.
"""

from collections.abc import Mapping

from odradek.emulator.base.release import KAFKA_4_3, Release
from odradek.wire import Request
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest

from ..engine.served import Served
from .allowance import Allowances, Allowed
from .kafka_3_9 import ALLOWED_3_9
from .kafka_4_3 import ALLOWED
from .older import (
    ALLOWED_4_0,
    ALLOWED_BEFORE_0_9,
    ALLOWED_BEFORE_3_9,
    ALLOWED_BEFORE_4_2,
    ALLOWED_BEFORE_4_3,
    ALLOWED_WITH_ZOOKEEPER,
)
from .order import HASHED_BEFORE_0_9, HASHED_UNTIL_2_4, Unordered

__all__ = ["ALLOWED", "ALLOWED_3_9", "Allowances", "Allowed", "allowances_for", "hashed_lists"]


def allowances_for(served: Served, release: Release = KAFKA_4_3) -> Allowances:
    """Those of the release that both brokers are."""
    allowed = (*ALLOWED, *ALLOWED_3_9) if served.converts else ALLOWED
    if release is not KAFKA_4_3:
        allowed = (*allowed, *ALLOWED_BEFORE_4_3)
    if not served.converts and not release.lets_members_rejoin:
        allowed = (*allowed, *ALLOWED_BEFORE_4_2)
    if not served.converts and not release.hashes_subscriptions:
        allowed = (*allowed, *ALLOWED_4_0)
    if not release.lists_only_asked_directories:
        allowed = (*allowed, *ALLOWED_BEFORE_3_9)
    if not release.has_members:
        allowed = (*allowed, *ALLOWED_BEFORE_0_9)
    return Allowances(allowed if release.has_kraft else (*allowed, *ALLOWED_WITH_ZOOKEEPER))


def hashed_lists(served: Served) -> Mapping[type[Request], Mapping[str, Unordered]]:
    """The lists in answers that have no order in brokers as old as both are."""
    if not served.serves(ApiVersionsRequest):
        return HASHED_BEFORE_0_9
    return {} if served.serves(DescribeConfigsRequest, 3) else HASHED_UNTIL_2_4

"""Differences that are allowed, each with its reason, and lists whose order says nothing.

`kafka_4_3` has the allowances that hold against any release, `cluster` those among them about the
cluster's own APIs, and `kafka_3_9` what is allowed besides when both brokers are of that release
or an older one; `older` what is allowed besides where metadata is with ZooKeeper.
"""

from odradek.emulator.base.release import KAFKA_4_3, Release

from ..engine.served import Served
from .allowance import Allowances, Allowed
from .kafka_3_9 import ALLOWED_3_9
from .kafka_4_3 import ALLOWED
from .older import (
    ALLOWED_4_0,
    ALLOWED_BEFORE_3_9,
    ALLOWED_BEFORE_4_2,
    ALLOWED_BEFORE_4_3,
    ALLOWED_WITH_ZOOKEEPER,
)

__all__ = ["ALLOWED", "ALLOWED_3_9", "Allowances", "Allowed", "allowances_for"]


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
    return Allowances(allowed if release.has_kraft else (*allowed, *ALLOWED_WITH_ZOOKEEPER))

"""A Kafka broker in this process.

from odradek.emulator import Emulator

with Emulator(topics={"orders": 3}) as kafka:
    ...  # any Kafka client, with bootstrap.servers = kafka.bootstrap_servers
"""

from typing import TYPE_CHECKING

from ..wire import Error, Refused
from .advice import Advice
from .base.clock import Clock, ManualClock, SystemClock
from .base.event import Event
from .base.never_matched import NeverMatched
from .breakpoint import pause_all, resume_all
from .cluster import Cluster
from .config.configs import BrokerConfig, ConfigError
from .emulator import Emulator
from .facets.crash_points import Crash
from .facets.rule_view import RuleView
from .seen import (
    GroupView,
    NewRecord,
    PartitionView,
    SeenClient,
    SeenMember,
    SeenProducer,
    SeenRecord,
    SeenTransaction,
    TopicView,
    WaitTimeout,
    assert_exactly_once,
    assert_processed_once,
)
from .situations import Situation
from .state import Snapshot, StateError

if TYPE_CHECKING:
    from .proxy.proxy import Proxy as Proxy
    from .schedules import explore as explore

__all__ = [
    "Advice",
    "BrokerConfig",
    "Clock",
    "Cluster",
    "ConfigError",
    "Crash",
    "Emulator",
    "Error",
    "Event",
    "GroupView",
    "ManualClock",
    "NeverMatched",
    "NewRecord",
    "PartitionView",
    "Proxy",
    "Refused",
    "RuleView",
    "SeenClient",
    "SeenMember",
    "SeenProducer",
    "SeenRecord",
    "SeenTransaction",
    "Situation",
    "Snapshot",
    "StateError",
    "SystemClock",
    "TopicView",
    "WaitTimeout",
    "assert_exactly_once",
    "assert_processed_once",
    "explore",
    "pause_all",
    "resume_all",
]

if not TYPE_CHECKING:  # else a type checker would take any name for one of this module

    def __getattr__(name: str) -> object:
        """Most who use a broker use none of these: each is imported when it is asked for."""
        if name == "Proxy":
            from .proxy.proxy import Proxy

            return Proxy
        if name == "explore":
            from .schedules import explore

            return explore
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""A Kafka broker in this process.

from odradek.emulator import Emulator

with Emulator(topics={"orders": 3}) as kafka:
    ...  # any Kafka client, with bootstrap.servers = kafka.bootstrap_servers
"""

from ..wire import Error, Refused
from .advice import Advice
from .base.clock import Clock, ManualClock, SystemClock
from .base.event import Event
from .breakpoint import pause_all, resume_all
from .cluster import Cluster
from .config.configs import BrokerConfig, ConfigError
from .emulator import Emulator
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
)
from .state import Snapshot, StateError

__all__ = [
    "Advice",
    "BrokerConfig",
    "Clock",
    "Cluster",
    "ConfigError",
    "Emulator",
    "Error",
    "Event",
    "GroupView",
    "ManualClock",
    "NewRecord",
    "PartitionView",
    "Refused",
    "SeenClient",
    "SeenMember",
    "SeenProducer",
    "SeenRecord",
    "SeenTransaction",
    "Snapshot",
    "StateError",
    "SystemClock",
    "TopicView",
    "WaitTimeout",
    "assert_exactly_once",
    "pause_all",
    "resume_all",
]

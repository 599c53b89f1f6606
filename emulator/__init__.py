"""A Kafka broker in this process.

from odradek.emulator import Emulator

with Emulator(topics={"orders": 3}) as kafka:
    ...  # any Kafka client, with bootstrap.servers = kafka.bootstrap_servers
"""

from typing import TYPE_CHECKING

from ..wire.on_demand import on_demand

if TYPE_CHECKING:
    from ..wire import Error as Error
    from ..wire import Refused as Refused
    from .advice.advice import Advice as Advice
    from .base.clock import Clock as Clock
    from .base.clock import ManualClock as ManualClock
    from .base.clock import SystemClock as SystemClock
    from .base.event import Event as Event
    from .base.never_matched import NeverMatched as NeverMatched
    from .breakpoint import pause_all as pause_all
    from .breakpoint import resume_all as resume_all
    from .cluster import Cluster as Cluster
    from .config.configs import BrokerConfig as BrokerConfig
    from .config.configs import ConfigError as ConfigError
    from .emulator import Emulator as Emulator
    from .emulator import MakeKafka as MakeKafka
    from .facets.crash_points import Crash as Crash
    from .facets.rule_view import RuleView as RuleView
    from .proxy.proxy import Proxy as Proxy
    from .schedules import explore as explore
    from .security.token_endpoint import TokenEndpoint as TokenEndpoint
    from .seen import GroupView as GroupView
    from .seen import NewRecord as NewRecord
    from .seen import PartitionView as PartitionView
    from .seen import SeenClient as SeenClient
    from .seen import SeenInFlight as SeenInFlight
    from .seen import SeenMember as SeenMember
    from .seen import SeenProducer as SeenProducer
    from .seen import SeenRecord as SeenRecord
    from .seen import SeenSubtopology as SeenSubtopology
    from .seen import SeenTask as SeenTask
    from .seen import SeenTransaction as SeenTransaction
    from .seen import ShareGroupView as ShareGroupView
    from .seen import StreamsGroupView as StreamsGroupView
    from .seen import TopicView as TopicView
    from .seen import WaitTimeout as WaitTimeout
    from .seen import assert_exactly_once as assert_exactly_once
    from .seen import assert_processed_at_least_once as assert_processed_at_least_once
    from .seen import assert_processed_at_most_once as assert_processed_at_most_once
    from .seen import assert_processed_in_order as assert_processed_in_order
    from .seen import assert_processed_once as assert_processed_once
    from .situations.situation import Situation as Situation
    from .state.errors import StateError as StateError
    from .state.snapshot import Snapshot as Snapshot

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
    "MakeKafka",
    "ManualClock",
    "NeverMatched",
    "NewRecord",
    "PartitionView",
    "Proxy",
    "Refused",
    "RuleView",
    "SeenClient",
    "SeenInFlight",
    "SeenMember",
    "SeenProducer",
    "SeenRecord",
    "SeenSubtopology",
    "SeenTask",
    "SeenTransaction",
    "ShareGroupView",
    "Situation",
    "Snapshot",
    "StateError",
    "StreamsGroupView",
    "SystemClock",
    "TokenEndpoint",
    "TopicView",
    "WaitTimeout",
    "assert_exactly_once",
    "assert_processed_at_least_once",
    "assert_processed_at_most_once",
    "assert_processed_in_order",
    "assert_processed_once",
    "explore",
    "pause_all",
    "resume_all",
]

if not TYPE_CHECKING:  # else a type checker would take any name for one of this module
    # The commands of the shell need nothing of the broker.
    __getattr__ = on_demand(
        globals(),
        {
            "..wire": "Error Refused",
            ".advice.advice": "Advice",
            ".base.clock": "Clock ManualClock SystemClock",
            ".base.event": "Event",
            ".base.never_matched": "NeverMatched",
            ".breakpoint": "pause_all resume_all",
            ".cluster": "Cluster",
            ".config.configs": "BrokerConfig ConfigError",
            ".emulator": "Emulator MakeKafka",
            ".facets.crash_points": "Crash",
            ".facets.rule_view": "RuleView",
            ".proxy.proxy": "Proxy",
            ".schedules": "explore",
            ".security.token_endpoint": "TokenEndpoint",
            ".seen": "GroupView NewRecord PartitionView SeenClient SeenInFlight SeenMember "
            "SeenProducer SeenRecord SeenSubtopology SeenTask SeenTransaction ShareGroupView "
            "StreamsGroupView TopicView WaitTimeout assert_exactly_once "
            "assert_processed_at_least_once assert_processed_at_most_once "
            "assert_processed_in_order assert_processed_once",
            ".situations.situation": "Situation",
            ".state.errors": "StateError",
            ".state.snapshot": "Snapshot",
        },
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

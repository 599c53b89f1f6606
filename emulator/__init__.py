"""A Kafka broker in this process: `Embedded` runs one; what tests ask of it is in `odradek`."""

from typing import TYPE_CHECKING

from ..wire.on_demand import on_demand

if TYPE_CHECKING:
    from ..wire import Error as Error
    from ..wire import Refused as Refused
    from .base.clock import Clock as Clock
    from .base.clock import ManualClock as ManualClock
    from .base.clock import SystemClock as SystemClock
    from .base.event import Event as Event
    from .base.never_matched import NeverMatched as NeverMatched
    from .cluster import Cluster as Cluster
    from .config.configs import BrokerConfig as BrokerConfig
    from .config.configs import ConfigError as ConfigError
    from .embedded.embedded import Embedded as Embedded
    from .security.token_endpoint import TokenEndpoint as TokenEndpoint
    from .snapshots.archive import StateError as StateError
    from .snapshots.snapshot import Snapshot as Snapshot

__all__ = [
    "BrokerConfig",
    "Clock",
    "Cluster",
    "ConfigError",
    "Embedded",
    "Error",
    "Event",
    "ManualClock",
    "NeverMatched",
    "Refused",
    "Snapshot",
    "StateError",
    "SystemClock",
    "TokenEndpoint",
]
_HERE = {
    "..wire": "Error Refused",
    ".base.clock": "Clock ManualClock SystemClock",
    ".base.event": "Event",
    ".base.never_matched": "NeverMatched",
    ".cluster": "Cluster",
    ".config.configs": "BrokerConfig ConfigError",
    ".embedded.embedded": "Embedded",
    ".security.token_endpoint": "TokenEndpoint",
    ".snapshots.archive": "StateError",
    ".snapshots.snapshot": "Snapshot",
}
# Names that stood here before the storeys were parted; new code has them from `odradek`.
_BEFORE = {
    "..compat.wire_client.clients": "SeenClient",
    "..compat.wire_client.members": "SeenInFlight SeenMember",
    "..compat.wire_client.produced": "NewRecord",
    "..compat.wire_client.record": "SeenRecord",
    "..compat.wire_client.transactions": "SeenProducer SeenTransaction",
    "..compat.wire_client.waiting": "WaitTimeout",
    "..fixtures.advice.advice": "Advice",
    "..fixtures.kafka.breakpoint": "pause_all resume_all",
    "..fixtures.kafka.crash_points": "Crash",
    "..fixtures.kafka.emulator": "Emulator MakeKafka",
    "..fixtures.kafka.proxy": "Proxy",
    "..fixtures.kafka.rule_view": "RuleView",
    "..fixtures.schedules": "explore",
    "..fixtures.kafka.situations.situation": "Situation",
    "..fixtures.views.exactly_once": "assert_exactly_once",
    "..fixtures.views.groups": "GroupView",
    "..fixtures.views.processed_in_order": "assert_processed_in_order",
    "..fixtures.views.processed_once": "assert_processed_at_least_once "
    "assert_processed_at_most_once assert_processed_once",
    "..fixtures.views.share_groups": "ShareGroupView",
    "..fixtures.views.streams_groups": "SeenSubtopology SeenTask StreamsGroupView",
    "..fixtures.views.topics": "PartitionView TopicView",
}

if not TYPE_CHECKING:  # else a type checker would take any name for one of this module
    __getattr__ = on_demand(globals(), _HERE | _BEFORE)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

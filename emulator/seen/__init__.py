"""What a test sees of a broker, and does to it without a client: views of topics, groups, clients.

Views are nouns that are cheap to make and are read anew at each call. Each asks a `Source`
(source.py) with Kafka's own requests, so they show what the broker would answer a client.
"""

from typing import TYPE_CHECKING

from ...wire.on_demand import on_demand

if TYPE_CHECKING:
    from .clients import SeenClient
    from .configuring import ALL_BROKERS, BROKER, set_configs
    from .exactly_once import assert_exactly_once
    from .group_views import group_ids
    from .groups import GroupView
    from .inside import Inside
    from .members import SeenInFlight, SeenMember
    from .processed_in_order import assert_processed_in_order
    from .processed_once import (
        assert_processed_at_least_once,
        assert_processed_at_most_once,
        assert_processed_once,
    )
    from .produced import NewRecord
    from .record import Headers, SeenRecord
    from .search import counted
    from .seeds import read_seeds
    from .segments import SeenSegment
    from .share_groups import ShareGroupView
    from .source import Powers, Source, check, no_topic, unique_name
    from .streams_groups import SeenSubtopology, SeenTask, StreamsGroupView
    from .topics import PartitionView, TopicView
    from .transactions import SeenProducer, SeenTransaction, transactions_of
    from .verbs import Records
    from .waiting import Wait, WaitTimeout, count_of, in_thread, seconds_of
else:
    __getattr__ = on_demand(
        globals(),
        {
            ".clients": "SeenClient",
            ".configuring": "ALL_BROKERS BROKER set_configs",
            ".exactly_once": "assert_exactly_once",
            ".group_views": "group_ids",
            ".groups": "GroupView",
            ".inside": "Inside",
            ".members": "SeenInFlight SeenMember",
            ".processed_in_order": "assert_processed_in_order",
            ".processed_once": "assert_processed_at_least_once assert_processed_at_most_once "
            "assert_processed_once",
            ".produced": "NewRecord",
            ".record": "Headers SeenRecord",
            ".seeds": "read_seeds",
            ".search": "counted",
            ".segments": "SeenSegment",
            ".share_groups": "ShareGroupView",
            ".source": "Powers Source check no_topic unique_name",
            ".streams_groups": "SeenSubtopology SeenTask StreamsGroupView",
            ".topics": "PartitionView TopicView",
            ".transactions": "SeenProducer SeenTransaction transactions_of",
            ".verbs": "Records",
            ".waiting": "Wait WaitTimeout count_of in_thread seconds_of",
        },
    )

__all__ = [
    "ALL_BROKERS",
    "BROKER",
    "GroupView",
    "Headers",
    "Inside",
    "NewRecord",
    "PartitionView",
    "Powers",
    "Records",
    "SeenClient",
    "SeenInFlight",
    "SeenMember",
    "SeenProducer",
    "SeenRecord",
    "SeenSegment",
    "SeenSubtopology",
    "SeenTask",
    "SeenTransaction",
    "ShareGroupView",
    "Source",
    "StreamsGroupView",
    "TopicView",
    "Wait",
    "WaitTimeout",
    "assert_exactly_once",
    "assert_processed_at_least_once",
    "assert_processed_at_most_once",
    "assert_processed_in_order",
    "assert_processed_once",
    "check",
    "count_of",
    "counted",
    "group_ids",
    "in_thread",
    "no_topic",
    "read_seeds",
    "seconds_of",
    "set_configs",
    "transactions_of",
    "unique_name",
]

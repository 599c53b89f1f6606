"""What a test sees of a broker, and does to it without a client: views of topics, groups, clients.

Views are nouns that are cheap to make and are read anew at each call. Each asks a `Source`
(source.py) with Kafka's own requests, so they show what the broker would answer a client.
"""

from .clients import SeenClient
from .exactly_once import assert_exactly_once
from .groups import GroupView
from .inside import Inside
from .members import SeenInFlight, SeenMember
from .processed_once import assert_processed_once
from .produced import NewRecord
from .record import Headers, SeenRecord
from .seeds import read_seeds
from .segments import SeenSegment
from .share_groups import ShareGroupView
from .source import Powers, Source
from .streams_groups import SeenSubtopology, SeenTask, StreamsGroupView
from .topics import PartitionView, TopicView
from .transactions import SeenProducer, SeenTransaction, transactions_of
from .verbs import Records
from .waiting import WaitTimeout

__all__ = [
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
    "WaitTimeout",
    "assert_exactly_once",
    "assert_processed_once",
    "read_seeds",
    "transactions_of",
]

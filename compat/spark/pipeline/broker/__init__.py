"""Topics of any Kafka over the wire: which there are, their offsets, their batches as bytes.

    with Cluster("localhost:9092") as cluster:
        (topic,) = find_topics(cluster, ["orders"])
        ends = offsets(cluster, topic.places, LATEST)
        for fetched in fetch(cluster, ("orders", 0), 0, ends["orders", 0], committed=True):
            ...  # fetched.records: whole batches, fetched.aborted: what is not to be seen in them

Everything raises BrokerError, with a line for the user. Left out: TLS and SASL.
"""

from __future__ import annotations

from .cluster import BrokerError, Cluster, NoTopic, Place
from .fetching import Fetched, OffsetGone, fetch, fetch_round
from .offsets import EARLIEST, LATEST, offsets, stable_offsets
from .producing import Identity, Producer, stamp
from .topics import Topic, create_topic, find_topics, topic_configs

__all__ = [
    "EARLIEST",
    "LATEST",
    "BrokerError",
    "Cluster",
    "Fetched",
    "Identity",
    "NoTopic",
    "OffsetGone",
    "Place",
    "Producer",
    "Topic",
    "create_topic",
    "fetch",
    "fetch_round",
    "find_topics",
    "offsets",
    "stable_offsets",
    "stamp",
    "topic_configs",
]

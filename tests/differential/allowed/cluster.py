"""The cluster's own APIs: which differences are allowed, which lists have no order, and why."""

from __future__ import annotations

from odradek.wire import Request

from ..engine.compare import Difference

ORDERLESS = (
    (34, "results"),
    (34, "results.partitions"),
    (35, "results.topics"),
    (35, "results.topics.partitions"),
    (43, "replica_election_results"),
    (48, "entries"),
    (48, "entries.entity"),
    (48, "entries.values"),
    (49, "entries"),
    (49, "entries.entity"),
    (50, "results"),
    (50, "results.credential_infos"),
    (51, "results"),
    (61, "topics.partitions.active_producers"),
)
"""(API key, path) of lists that a real broker puts together in hash maps."""

PLACES = (
    (
        "the room on the disk",
        35,
        ("results.log_dir", "results.total_bytes", "results.usable_bytes"),
        "each broker has a directory of its own, and others write to the disk meanwhile",
    ),
    (
        "how far the metadata log is",
        55,
        (
            "topics.partitions.high_watermark",
            "topics.partitions.leader_epoch",
            "topics.partitions.current_voters.log_end_offset",
            "nodes.listeners.port",
        ),
        "a real controller writes registrations and a no-op twice a second, begins an epoch with"
        " each start, and has a port of its own",
    ),
)
"""Name, API key, places, reason."""

FORGOTTEN = (
    "users whom a real node forgets when it starts",
    50,
    "results",
    "credentials that are in its log are missing after a restart, which ones depends on what else"
    " was removed, and in which order",
)


def is_forgotten(request: Request, difference: Difference) -> bool:
    """Whether the real broker lists some of our users, and no others."""
    real, ours = difference.real, difference.ours
    is_part = isinstance(real, list) and isinstance(ours, list)
    return is_part and len(real) < len(ours) and all(each in ours for each in real)


EPOCH = (
    "the features' epoch",
    18,
    "finalized_features_epoch",
    "it is an offset in the metadata log, which a real controller writes more to",
)


def lists_every_topic(request: Request) -> bool:
    """ElectLeaders or DescribeLogDirs for all there are."""
    return getattr(request, "topics", ()) is None or (
        getattr(request, "topic_partitions", ()) is None
    )

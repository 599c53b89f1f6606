"""What may differ in answers about the cluster itself: features, users, directories, quorum."""

from __future__ import annotations

from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_quorum import DescribeQuorumRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest

from ..engine.compare import Difference
from .allowance import Allowed, at


def _are_forgotten(request: object, difference: Difference) -> bool:
    """Whether the real broker lists some of our users, and no others."""
    real, ours = difference.real, difference.ours
    are_lists = isinstance(real, list) and isinstance(ours, list)
    return are_lists and len(real) < len(ours) and all(each in ours for each in real)


EPOCH = Allowed(
    "the features' epoch",
    ApiVersionsRequest,
    "finalized_features_epoch",
    "it is an offset in the metadata log, which a real controller writes more to",
)
FORGOTTEN = Allowed(
    "users whom a real node forgets when it starts",
    DescribeUserScramCredentialsRequest,
    "results",
    "credentials that are in its log are missing after a restart; which ones depends on what else"
    " was removed, and in which order",
    _are_forgotten,
    ends=True,
)
SPACE_ON_DISK = Allowed(
    "the space on the disk",
    DescribeLogDirsRequest,
    "*",
    "each broker has a directory of its own, and others write to the disk meanwhile",
    at("results.log_dir", "results.total_bytes", "results.usable_bytes"),
)
METADATA_LOG = Allowed(
    "how far the metadata log is",
    DescribeQuorumRequest,
    "*",
    "a real controller writes registrations and a no-op twice a second, begins an epoch with each"
    " start, and has a port of its own",
    at(
        "topics.partitions.high_watermark",
        "topics.partitions.leader_epoch",
        "topics.partitions.current_voters.log_end_offset",
        "nodes.listeners.port",
    ),
)
ALLOWED_OF_THE_CLUSTER = (EPOCH, FORGOTTEN, SPACE_ON_DISK, METADATA_LOG)

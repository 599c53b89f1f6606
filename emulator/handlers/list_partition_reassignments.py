"""ListPartitionReassignments (46): the moves that are going on. There are none.

A move is over when it begins, for all brokers share one log (metadata/leadership.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ..base.call import Call
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(ListPartitionReassignmentsRequest)
def list_reassignments(
    cluster: Cluster, call: Call, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(error_message=None, topics=[])

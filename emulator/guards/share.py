"""What the APIs of share groups need: the group, each topic; to keep their state, to be a broker.

Left out: a right to a topic that is taken away while a session has it: it is still read there.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from ...wire import Refused
from ...wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from ...wire.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from ...wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from ...wire.api.share_acknowledge import ShareAcknowledgeRequest
from ...wire.api.share_fetch import ShareFetchRequest
from ..division.division import Refusal, smallest
from ..division.entries import Entry
from ..division.places import TOPIC
from ..handlers.share_acknowledgements import check_member
from ..security.authorizer.acl import Kind, Operation
from .asking import (
    MESSAGES,
    Authorization,
    PartlyDenied,
    Verdict,
    lacking,
    needs_one,
)
from .guard import authorize


@authorize(ShareFetchRequest, ShareAcknowledgeRequest)
def records(asking: Authorization, request: Any) -> Verdict:
    """Without a group there is nothing to ask; what no member can be is answered before the
    topics."""
    if request.group_id is None:
        return None
    refusal = needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id)
    if refusal is not None:
        return refusal
    try:
        check_member(asking.cluster, request.group_id, request.member_id)
    except Refused:
        return None
    return asking.without(request, lacking(asking, Operation.READ, Kind.TOPIC))


@authorize(AlterShareGroupOffsetsRequest)
def alter_offsets(asking: Authorization, request: AlterShareGroupOffsetsRequest) -> Verdict:
    """Of a topic that may not be read nothing is logged if none of its partitions is named."""
    message = MESSAGES[Kind.GROUP]
    refusal = needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id, message)
    if refusal is not None:
        return refusal
    lacks = lacking(asking, Operation.READ, Kind.TOPIC, MESSAGES[Kind.TOPIC])
    rest = copy(request)
    rest.topics = [t for t in request.topics if t.partitions or not lacks({TOPIC: t.topic_name})]
    found = asking.without(rest, lacks)
    if found is None:
        return PartlyDenied(rest, lambda own: None)

    def finish(own: Any) -> None:
        found.finish(own)
        for each in own.responses:
            topic = asking.cluster.topics.get(each.topic_name)
            if topic is not None:
                each.topic_id = topic.id

    return PartlyDenied(found.request, finish)


@authorize(DeleteShareGroupOffsetsRequest)
def delete_offsets(asking: Authorization, request: DeleteShareGroupOffsetsRequest) -> Verdict:
    message = MESSAGES[Kind.GROUP]
    refusal = needs_one(asking, request, Operation.DELETE, Kind.GROUP, request.group_id, message)
    if refusal is not None:
        return refusal
    return asking.without(
        request, lacking(asking, Operation.READ, Kind.TOPIC, MESSAGES[Kind.TOPIC])
    )


@authorize(DescribeShareGroupOffsetsRequest)
def describe_offsets(asking: Authorization, request: DescribeShareGroupOffsetsRequest) -> Verdict:
    """ "All topics" leaves out what may not be described."""
    of_all = {group.group_id for group in request.groups if group.topics is None}

    def hide(own: Any) -> None:
        for group in own.groups:
            if group.group_id in of_all and not group.error_code:
                names = [topic.topic_name for topic in group.topics]
                seen = asking.allowed(Operation.DESCRIBE, Kind.TOPIC, names, is_logged=False)
                group.topics = [topic for topic in group.topics if topic.topic_name in seen]

    lacks = lacking(asking, Operation.DESCRIBE, Kind.TOPIC, MESSAGES[Kind.TOPIC])

    def refuse(entry: Entry) -> Refusal | None:
        refusal = lacks(entry)
        return refusal and refusal._replace(also={"start_offset": -1})

    of_groups = lacking(asking, Operation.DESCRIBE, Kind.GROUP)
    refuses = {1: of_groups, smallest(request, asking.version): refuse}
    return asking.without(request, refuses, hide)

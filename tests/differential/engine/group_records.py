"""The records of a sequence's own groups in `__consumer_offsets` and `__share_group_state`.

Keys and values are decoded and shown in their order, together with the producer, epoch and sequence
in the header of their batch. Records of other sequences' groups are left out, and so is where a
batch ends: a real broker may put into one batch what several requests cause. Not compared: hashes
of topics, which follow from ids that each broker draws, versions of the cluster's metadata, and
times near now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from odradek.wire import Message
from odradek.wire.batch import HEADER_SIZE, MAGIC, BatchHeader, read_header
from odradek.wire.records import read_records
from odradek.wire.stored import consumer_groups as groups
from odradek.wire.stored import share_groups as shares
from odradek.wire.stored import share_state as states
from odradek.wire.stored import streams_groups as streams
from odradek.wire.stored.groups import GroupMetadataKey, GroupMetadataValue
from odradek.wire.stored.keyed import Key, read_key, read_value
from odradek.wire.stored.offsets import OffsetCommitKey, OffsetCommitValue

Order = Callable[[Any], str]

# The class of a value, by the class of its key.
_VALUES: dict[type[Key], type[Message]] = {
    OffsetCommitKey: OffsetCommitValue,
    GroupMetadataKey: GroupMetadataValue,
    groups.ConsumerGroupMetadataKey: groups.ConsumerGroupMetadataValue,
    groups.ConsumerGroupPartitionMetadataKey: groups.ConsumerGroupPartitionMetadataValue,
    groups.ConsumerGroupMemberMetadataKey: groups.ConsumerGroupMemberMetadataValue,
    groups.ConsumerGroupTargetAssignmentMetadataKey: (
        groups.ConsumerGroupTargetAssignmentMetadataValue
    ),
    groups.ConsumerGroupTargetAssignmentMemberKey: groups.ConsumerGroupTargetAssignmentMemberValue,
    groups.ConsumerGroupCurrentMemberAssignmentKey: (
        groups.ConsumerGroupCurrentMemberAssignmentValue
    ),
    groups.ConsumerGroupRegularExpressionKey: groups.ConsumerGroupRegularExpressionValue,
    shares.ShareGroupMemberMetadataKey: shares.ShareGroupMemberMetadataValue,
    shares.ShareGroupMetadataKey: shares.ShareGroupMetadataValue,
    shares.ShareGroupTargetAssignmentMetadataKey: shares.ShareGroupTargetAssignmentMetadataValue,
    shares.ShareGroupTargetAssignmentMemberKey: shares.ShareGroupTargetAssignmentMemberValue,
    shares.ShareGroupCurrentMemberAssignmentKey: shares.ShareGroupCurrentMemberAssignmentValue,
    shares.ShareGroupStatePartitionMetadataKey: shares.ShareGroupStatePartitionMetadataValue,
    streams.StreamsGroupMemberMetadataKey: streams.StreamsGroupMemberMetadataValue,
    streams.StreamsGroupMetadataKey: streams.StreamsGroupMetadataValue,
    streams.StreamsGroupTargetAssignmentMetadataKey: (
        streams.StreamsGroupTargetAssignmentMetadataValue
    ),
    streams.StreamsGroupTargetAssignmentMemberKey: streams.StreamsGroupTargetAssignmentMemberValue,
    streams.StreamsGroupCurrentMemberAssignmentKey: (
        streams.StreamsGroupCurrentMemberAssignmentValue
    ),
    streams.StreamsGroupTopologyKey: streams.StreamsGroupTopologyValue,
}
# The same of `__share_group_state`.
_STATE_VALUES: dict[type[Key], type[Message]] = {
    states.ShareSnapshotKey: states.ShareSnapshotValue,
    states.ShareUpdateKey: states.ShareUpdateValue,
}
_TARGETS = (
    groups.ConsumerGroupTargetAssignmentMemberKey.__name__,
    shares.ShareGroupTargetAssignmentMemberKey.__name__,
    streams.StreamsGroupTargetAssignmentMemberKey.__name__,
)

# Entries with one of these fields come from a hash map.
_UNORDERED = {"topic_id", "member_id"}


def own_records(
    data: bytes, namespace: str, *, is_state: bool = False
) -> Iterator[tuple[BatchHeader, Message, Any, int]]:
    """The records of a sequence's own groups: header of the batch, key, value, version of the
    value. The value is None for a tombstone. `is_state`: of `__share_group_state`. Raises
    WireError."""
    own = namespace.encode()
    values = _STATE_VALUES if is_state else _VALUES
    pos = 0
    while len(data) - pos >= HEADER_SIZE:
        header = read_header(data, pos)
        if header.magic < MAGIC:
            return  # of releases before 0.11: not compared
        if header.size > len(data) - pos:
            return
        for record in read_records(data[pos : pos + header.size]):
            if header.is_control or record.key is None or own not in record.key:
                continue
            key, _ = read_key(values, record.key)
            if record.value is None:
                yield header, key, None, -1
            else:
                yield header, key, *read_value(values[type(key)], record.value)
        pos += header.size


def normalized(tree: Any, now_ms: int, near_ms: int, order: Order) -> Any:
    """A value without what may differ between two right brokers. `order` is the key by which lists
    that come from hash maps are sorted."""
    if isinstance(tree, list):
        soft = [normalized(value, now_ms, near_ms, order) for value in tree]
        is_unordered = any(_UNORDERED & e.keys() for e in soft if isinstance(e, dict))
        return sorted(soft, key=order) if is_unordered else soft
    if not isinstance(tree, dict):
        return tree
    if "expire_timestamp" in tree:  # shown as the time from the commit on
        lasts_ms = tree["expire_timestamp"] - tree["commit_timestamp"]
        tree = {**tree, "expire_timestamp": f"after {lasts_ms} ms"}
    if ("topic_id" in tree or "subtopology_id" in tree) and "partitions" in tree:
        tree = {**tree, **_sorted_partitions(tree)}
    rest = {name: normalized(value, now_ms, near_ms, order) for name, value in tree.items()}
    for name, value in rest.items():
        if name.endswith("timestamp") and isinstance(value, int):
            rest[name] = "<now>" if abs(value - now_ms) < near_ms else value
        elif name == "metadata_hash" and value:
            rest[name] = "<hash>"
        elif name == "version":
            rest[name] = "<version>"
    return rest


def _sorted_partitions(entry: Any) -> dict[str, Any]:
    """The partitions of a topic in order, with their epochs if there are any."""
    places = sorted(range(len(entry["partitions"])), key=lambda at: entry["partitions"][at])
    epochs = entry.get("assignment_epochs") or []
    found = {"partitions": [entry["partitions"][at] for at in places]}
    if len(epochs) == len(places):
        found["assignment_epochs"] = [epochs[at] for at in places]
    return found


def in_order(rows: list[Any], order: Order) -> list[Any]:
    """The records as they were written, except that tombstones of one type, and the parts of a
    target assignment, are sorted: they are written in the order of a hash map."""
    ordered: list[Any] = []
    for (kind, is_gone), those in groupby(rows, lambda r: (r["key"]["type"], r["value"] is None)):
        run = list(those)
        is_unordered = is_gone or kind in _TARGETS
        ordered += sorted(run, key=lambda r: order(r["key"])) if is_unordered else run
    return ordered

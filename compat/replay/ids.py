"""Ids that each broker gives out in its own way: ids of topics, producers, members and
fetch sessions, generations and epochs. A replayed request has those of the new broker.

Rules:
- A topic's id is that of the topic with its name.
- A pair is learnt where the recorded answer and the new one both have it: JoinGroup and the
  heartbeats of newer groups (member, generation or epoch), InitProducerId and EndTxn (producer id
  with its epoch, also in the batches of Produce), Fetch and ShareFetch (sessions).
- Leader epochs are left out: a broker checks only those that it is sent.
- What no answer has shown, as the member of a group that was joined before the journal began, stays
  as it was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct as Packing
from typing import Any

from ...emulator.control.traffic.exchange import ids_of
from ...wire import Message, Request, Response, WireError
from ...wire.batch import batches, checksum
from ...wire.schema import Struct

_CRC_AT, _PRODUCER_AT = 17, 43
_CRC, _PRODUCER = Packing(">I"), Packing(">qh")
_LEADER_EPOCHS = ("current_leader_epoch", "last_fetched_epoch", "committed_leader_epoch")
_NO_EPOCH = -1
_GENERATIONS = ("generation_id", "generation_id_or_member_epoch", "member_epoch")
_PRODUCERS = (
    ("producer_id", "producer_epoch"),
    ("v3_and_below_producer_id", "v3_and_below_producer_epoch"),
)


class Ids:
    """The ids of the recording and those of the new broker. `topic_names`: those of the journal, by
    id."""

    def __init__(self, topic_names: Mapping[bytes, str], new_topics: Mapping[str, bytes]) -> None:
        self._topic_names = dict(topic_names)
        self._topics = dict(new_topics)
        self._members: dict[str, str] = {}
        self._generations: dict[tuple[str, int], int] = {}
        self._producers: dict[tuple[int, int], tuple[int, int]] = {}
        self._sessions: dict[tuple[int, int], int] = {}

    def learn(self, request: Request, was: Response, now: Response, node_id: int) -> None:
        """A recorded request, its recorded answer, and the new one."""
        self._topic_names.update(ids_of(was))
        self._topics.update((name, topic_id) for topic_id, name in ids_of(now))
        old, new = _Known(was), _Known(now)
        if old.member_id and new.member_id:
            self._members[old.member_id] = new.member_id
        group = _Known(request).group_id or ""
        for name in ("generation_id", "member_epoch"):
            before, after = getattr(old, name), getattr(new, name)
            if before is not None and after is not None and before > 0:
                self._generations[group, before] = after
        if (old.producer_id or -1) >= 0 and (new.producer_id or -1) >= 0:
            before = old.producer_id, old.producer_epoch
            self._producers[before] = new.producer_id, new.producer_epoch
        if old.session_id and new.session_id:
            self._sessions[node_id, old.session_id] = new.session_id

    def put_into(self, request: Request, node_id: int) -> None:
        self._change(request, node_id, _Known(request).group_id or "")

    def _change(self, struct: Any, node_id: int, group: str) -> None:
        names = {field.name for field, _ in type(struct).fields()}
        for name in _GENERATIONS:
            if name in names:
                value = getattr(struct, name)
                setattr(struct, name, self._generations.get((group, value), value))
        for id_name, epoch_name in _PRODUCERS:
            if id_name in names:
                known = getattr(struct, id_name), getattr(struct, epoch_name)
                producer_id, epoch = self._producers.get(known, known)
                setattr(struct, id_name, producer_id)
                setattr(struct, epoch_name, epoch)
        if "session_id" in names:
            struct.session_id = self._sessions.get((node_id, struct.session_id), struct.session_id)
        for name in names & set(_LEADER_EPOCHS):
            setattr(struct, name, _NO_EPOCH)
        for field, kind in type(struct).fields():
            value = getattr(struct, field.name)
            if field.name == "member_id":
                struct.member_id = self._members.get(value, value)
            elif field.name == "topic_id":
                struct.topic_id = self._topic(value)
            elif field.name == "topic_ids" and value:
                struct.topic_ids = list(map(self._topic, value))
            elif field.name == "records" and value:
                struct.records = self._batches(value)
            elif kind.struct is not None and value:
                for part in value if kind.is_list else [value]:
                    self._change(part, node_id, group)

    def _topic(self, topic_id: bytes) -> bytes:
        name = self._topic_names.get(bytes(topic_id))
        return topic_id if name is None else self._topics.get(name, topic_id)

    def _batches(self, records: Any) -> Any:
        """Batches with the new broker's producer ids, and the checksums of that."""
        changed = bytearray(records)
        try:
            for pos, head in batches(records):
                known = head.producer_id, head.producer_epoch
                if known in self._producers:
                    _PRODUCER.pack_into(changed, pos + _PRODUCER_AT, *self._producers[known])
                    _CRC.pack_into(changed, pos + _CRC_AT, checksum(changed, pos, head.size))
        except WireError:  # an older format, without producers; or damaged, and sent so
            return records
        return changed


class _Known:
    """The fields of a message; None for one that it does not have."""

    def __init__(self, message: Message) -> None:
        self._message: Struct = message

    def __getattr__(self, name: str) -> Any:
        return getattr(self._message, name, None)

"""Records of `__consumer_offsets`: what offsets and every type of group write there and read back.

    key    int16 record type, then the fields of that type
    value  int16 version, then the fields of that version; null is a tombstone

Each part of the coordinator defines its own records and registers, by record type, how they are
decoded and replayed (runtime.py). Records since KIP-848 are a key message and a value message, both
as stored: one class, `MessageRecord`, serves all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ...wire import Message, WireError
from ...wire.primitives import Buffer
from ...wire.records import NewRecord
from ...wire.records import Record as LoggedRecord
from ...wire.stored.keyed import Key, keyed, read_key, read_value

_MESSAGE_VERSION = 0


class Record(Protocol):
    """One record before it is encoded. A tombstone removes what its key names."""

    @property
    def group_id(self) -> str: ...

    @property
    def record_type(self) -> int:
        """The number that leads its key."""
        ...

    def encoded(self) -> tuple[bytes, bytes | None]:
        """Key and value; a tombstone has no value."""
        ...


Decode = Callable[[Buffer, Buffer | None], Record]
"""Makes a record of key and value. Raises WireError."""


class MessageRecord(NamedTuple):
    """A record of a group since KIP-848: messages as key and value, no value in a tombstone."""

    key: Key
    value: Message | None

    @property
    def group_id(self) -> str:
        group_id: str = self.key.group_id  # type: ignore[attr-defined]
        return group_id

    @property
    def record_type(self) -> int:
        return self.key.first_type

    def encoded(self) -> tuple[bytes, bytes | None]:
        value = None if self.value is None else keyed(self.value, _MESSAGE_VERSION)
        return keyed(self.key, self.key.first_type), value


def message_decoders(messages: Mapping[type[Key], type[Message]]) -> dict[int, Decode]:
    """How records with these keys and values are decoded, by record type. A value of a newer
    version than is known is read as the newest that is."""

    def decoder(key_class: type[Key], value_class: type[Message]) -> Decode:
        def decode_messages(key: Buffer, value: Buffer | None) -> MessageRecord:
            decoded, _ = read_key((key_class,), key)
            if value is None:
                return MessageRecord(decoded, None)
            return MessageRecord(decoded, read_value(value_class, value, newer=True)[0])

        return decode_messages

    return {key.first_type: decoder(key, value) for key, value in messages.items()}


@dataclass(frozen=True, slots=True)
class Replayed:
    """A record read from the log. `producer_id` is set for an offset inside a transaction."""

    record: Record
    producer_id: int | None = None


@dataclass(frozen=True, slots=True)
class TransactionEnd:
    """A marker in the log: this producer's transaction has ended."""

    producer_id: int
    commit: bool


LogEntry = Replayed | TransactionEnd


def encode(record: Record, now: int) -> NewRecord:
    """Key and value of a record, with the time of writing as its timestamp."""
    return NewRecord(now, *record.encoded())


def decode(logged: LoggedRecord, decoder_of: Callable[[int], Decode | None]) -> Record | None:
    """The record in these bytes; None if there is no decoder for its type.

    Raises WireError for bytes that are no record of a coordinator.
    """
    if logged.key is None or len(logged.key) < 2:
        raise WireError(f"record {logged.offset} of __consumer_offsets has no key")
    found = decoder_of(int.from_bytes(logged.key[:2], "big"))
    return None if found is None else found(logged.key, logged.value)

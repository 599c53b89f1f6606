"""What an admin client answers, as plain values that two brokers can be compared by.

Whatever a client gives (futures, classes of three libraries, errors) becomes lists, dictionaries,
strings and numbers. What differs from broker to broker is replaced by a word: addresses, ids,
moments, directories. An error is its class, its code and its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from enum import Enum
from typing import Any
from uuid import UUID

TIMEOUT_S = 30.0
_MOMENT_MS = 1_500_000_000_000
_OF_ITS_OWN = {
    # Ids, sizes, places and counters that say nothing of behaviour.
    *("port", "partition_size", "size", "total_bytes", "usable_bytes", "log_dir", "member_id"),
    *("producer_id", "topic_id", "replica_directory_id", "cluster_id", "correlation_id"),
    *("finalized_epoch", "leader_epoch", "coordinator_epoch", "high_watermark", "log_end_offset"),
    *("throttle_time_ms", "last_timestamp", "last_fetch_timestamp", "last_caught_up_timestamp"),
    *("transaction_start_time_ms",),
}
_REPLACED = [
    (r"[\x00-\x1f]", ""),  # librdkafka lets some strings run on behind their end
    (r"(127\.0\.0\.1|localhost):\d+(/\w+)?", "HOST:PORT"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
    (r"\b[A-Za-z0-9_-]{22}\b", "ID"),
    (r"\b1[5-9]\d{11}\b", "TIME"),
    (r"\bnode \d+\b", "node N"),
    (r"<class '[\w.]*?(\w+)'>", r"\1"),
    (r"at 0x[0-9a-f]+", "at ADDRESS"),
    (r"(producer_?[iI]d|throttle_time_ms|leader_epoch)=\d+", r"\1=N"),
]


def outcome(call: Callable[[], Any]) -> Any:
    """What a call brings, or how it fails, as plain values."""
    try:
        return plain(call())
    except Exception as error:
        return plain(error)


def plain(value: Any, name: str = "") -> Any:
    """One value; `name` is that of the field it stands in."""
    match value:
        case None | bool() | float():
            return value
        case Enum():
            return value.name
        case _ if name in _OF_ITS_OWN:
            return f"{name.upper()}" if value not in (-1, None) else value
        case int():
            return "TIME" if value > _MOMENT_MS and value < _MOMENT_MS * 2 else value
        case str():
            return _words(value)
        case bytes():
            return _words(value.decode("latin-1"))
        case UUID():
            return "UUID" if value.int else "no UUID"
        case type():
            return value.__name__
        case Future():
            return outcome(lambda: value.result(TIMEOUT_S))
        case BaseException():
            return _error(value)
        case Mapping():
            return _pairs(value)
        case set() | frozenset():
            return sorted((plain(each) for each in value), key=repr)
        case tuple() if hasattr(value, "_asdict"):
            return {key: plain(each, key) for key, each in value._asdict().items()}
        case list() | tuple():
            return _in_order([plain(each, name) for each in value])
    return _object(value)


def _in_order(values: list[Any]) -> list[Any]:
    """A list; one of entries in an order of their own, as a real broker's is that of a hash."""
    if any(isinstance(each, (list, dict)) for each in values):
        return sorted(values, key=repr)
    return values


def _words(text: str) -> str:
    for pattern, word in _REPLACED:
        text = re.sub(pattern, word, text)
    return text


def _error(error: BaseException) -> list[Any]:
    said = list(error.args)
    code = getattr(error, "errno", None)
    if said and type(said[0]).__name__ == "KafkaError":  # confluent-kafka's
        code = said[0].code()
        said = [said[0].str()]
    return [type(error).__name__, code, [plain(each) for each in said]]


def _pairs(found: Mapping[Any, Any]) -> list[Any]:
    """A dictionary's entries, in an order of their own: keys need not be strings."""
    pairs = [
        [plain(key), plain(each, key if isinstance(key, str) else "")]
        for key, each in found.items()
    ]
    return sorted(pairs, key=lambda pair: repr(pair[0]))


def _object(value: Any) -> Any:
    for method in ("to_dict", "to_object"):  # kafka-python's and aiokafka's answers
        if hasattr(value, method):
            return plain(getattr(value, method)())
    if type(value).__name__ == "Uuid":  # confluent-kafka's
        return "UUID"
    if type(value).__name__ == "KafkaError":
        return ["KafkaError", value.code(), _words(value.str())]
    fields = getattr(value, "__dict__", None) or {
        key: getattr(value, key)
        for key in dir(value)
        if not key.startswith("_") and not callable(getattr(value, key))
    }
    shown = {key.lstrip("_"): plain(each, key.lstrip("_")) for key, each in fields.items()}
    return {"is": type(value).__name__, **shown}

"""Every difference that is allowed, with its reason; and the lists that have no order.

A difference is judged by an `Allowed`: the API it is about, the place of the field (its path
without indices), and, where that says too much, a test of the request and of the two values. What
never applied in a run is reported, so that this table does not outlive its reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from odradek.wire import Request

from ..ask.old_sets import holds_wrappers
from ..engine.compare import NOTHING, Difference
from . import cluster as allowed_cluster


def _any(request: Request) -> bool:
    return True


@dataclass(frozen=True)
class Unordered:
    """A list whose order says nothing. With `keeps_good` only entries that do not exist have no
    order: the others keep theirs, and come first."""

    reason: str
    keeps_good: bool = False
    applies: Callable[[Request], bool] = _any


_HASHED = Unordered("the answer is put together in a hash map")
_ERRORS = Unordered("entries that are refused at once are gathered in a hash map", keeps_good=True)


def _asks_for_all(request: Request) -> bool:
    """OffsetFetch of whatever the group has committed."""
    groups = getattr(request, "groups", [])
    return request.topics is None or any(g.topics is None for g in groups)  # type: ignore[attr-defined]


_STORED = Unordered("committed offsets are kept in hash maps", applies=_asks_for_all)

# Errors of what does not exist: unknown topic or partition, bad name, unknown and foreign id.
UNKNOWN = frozenset({3, 17, 100, 103})
# (API key, path)
UNORDERED: dict[tuple[int, str], Unordered] = {
    (0, "responses"): _HASHED,
    (0, "responses.partition_responses"): _HASHED,
    (1, "responses"): _ERRORS,
    (2, "topics"): _HASHED,
    (2, "topics.partitions"): _HASHED,
    (3, "topics"): _ERRORS,
    (3, "topics.partitions"): Unordered("up to 3.9 they are gathered in a hash set"),
    (9, "topics"): _STORED,
    (9, "topics.partitions"): _STORED,
    (9, "groups.topics"): _STORED,
    (9, "groups.topics.partitions"): _STORED,
    (11, "members"): _HASHED,
    (15, "groups"): Unordered("groups are asked for shard by shard"),
    (15, "groups.members"): _HASHED,
    (16, "groups"): Unordered("groups are listed shard by shard, each a hash map"),
    (19, "topics"): _HASHED,
    (20, "responses"): _HASHED,
    (21, "topics"): _HASHED,
    (21, "topics.partitions"): _HASHED,
    (24, "results_by_topic_v3_and_below"): _HASHED,
    (24, "results_by_topic_v3_and_below.results_by_partition"): _HASHED,
    (24, "results_by_transaction.topic_results"): _HASHED,
    (24, "results_by_transaction.topic_results.results_by_partition"): _HASHED,
    (27, "markers"): _HASHED,
    (27, "markers.topics"): _HASHED,
    (27, "markers.topics.partitions"): _HASHED,
    (33, "responses"): _HASHED,
    (37, "results"): _HASHED,
    (57, "results"): _HASHED,
    (65, "transaction_states.topics"): _HASHED,
    (65, "transaction_states.topics.partitions"): _HASHED,
    (66, "unknown_state_filters"): _HASHED,
    (42, "results"): Unordered("groups are asked for shard by shard"),
    (68, "assignment.topic_partitions"): _HASHED,
    (68, "assignment.topic_partitions.partitions"): _HASHED,
    (69, "groups"): Unordered("groups are asked for shard by shard"),
    (69, "groups.members"): _HASHED,
    (69, "groups.members.subscribed_topic_names"): _HASHED,
    (69, "groups.members.assignment.topic_partitions"): _HASHED,
    (69, "groups.members.assignment.topic_partitions.partitions"): _HASHED,
    (69, "groups.members.target_assignment.topic_partitions"): _HASHED,
    (69, "groups.members.target_assignment.topic_partitions.partitions"): _HASHED,
    (74, "config_resources"): _HASHED,
}
UNORDERED |= dict.fromkeys(allowed_cluster.ORDERLESS, _HASHED)
# Lists whose entries have a name, and come in the order of a hash map: compared by name.
KEYED: dict[tuple[int, str], str] = {
    (18, "api_keys"): "api_key",
    (18, "supported_features"): "name",
    (18, "finalized_features"): "name",
    (19, "topics.configs"): "name",
    (32, "results.configs"): "name",
}

_PARTITIONS_MAX = 2**31 - 2001

Test = Callable[[Request, Difference], bool]


def _always(request: Request, difference: Difference) -> bool:
    return True


@dataclass(frozen=True)
class Allowed:
    """One allowed difference. `api` is an API key, None for any; `place` "*" is any field. With
    `ends` the two brokers are in different states after it, and the sequence ends."""

    name: str
    api: int | None
    place: str
    reason: str
    applies: Test = _always
    ends: bool = False

    def covers(self, request: Request, difference: Difference) -> bool:
        """Whether it is this difference."""
        return (
            self.api in (None, request.api_key)
            and self.place in ("*", difference.place)
            and self.applies(request, difference)
        )


def _is_not_served(request: Request, difference: Difference) -> bool:
    return difference.place.startswith("api_keys.") and is_missing(difference.ours)


def _is_at(places: tuple[str, ...], request: Request, difference: Difference) -> bool:
    return difference.place in places


def _is_past_the_last(request: Request, difference: Difference) -> bool:
    cursor = request.cursor  # type: ignore[attr-defined]
    return cursor is not None and cursor.partition_index > _PARTITIONS_MAX


def _is_broken_session(request: Request, difference: Difference) -> bool:
    is_served = request.isolation_level in (0, 1)  # type: ignore[attr-defined]
    is_cause = is_served or bool(_unknown_ids(request))
    return is_cause and difference.real == -1 and difference.ours == 0


def _names_unknown_ids(request: Request, difference: Difference) -> bool:
    return is_missing(difference.real) and len(_unknown_ids(request)) > 1


def _unknown_ids(request: Request) -> list[bytes]:
    """The ids of a fetch that are none of a topic, once for each partition."""
    topics = request.topics  # type: ignore[attr-defined]
    return [t.topic_id for t in topics if t.topic_id[:15] == bytes(15) for _ in t.partitions]


def _is_documentation(request: Request, difference: Difference) -> bool:
    return difference.place.endswith(".documentation")


# What follows from how a broker was started: listeners, directories, a real controller's quorum.
_STARTED = (
    "advertised.listeners",
    "broker.id",
    "controller.listener.names",
    "controller.quorum.voters",
    "group.initial.rebalance.delay.ms",
    "listener.security.protocol.map",
    "listeners",
    "log.dirs",
    "node.id",
    "process.roles",
)


def _is_of_the_start(request: Request, difference: Difference) -> bool:
    return difference.place.startswith(tuple(f"results.configs.{name}." for name in _STARTED))


def _has_waited_for_a_topic_that_went(request: Request, difference: Difference) -> bool:
    is_error = difference.place == "responses.error_code"
    is_shape = difference.place == "responses.aborted_transactions"
    return request.max_wait_ms > 0 and (  # type: ignore[attr-defined]
        (is_error and (difference.real, difference.ours) == (3, 100))
        or (is_shape and (difference.real, difference.ours) == (None, []))
    )


def _is_unknown_config(request: Request, difference: Difference) -> bool:
    real = difference.real
    is_secret = isinstance(real, dict) and real["value"] is None and real["is_sensitive"]
    return is_secret and is_missing(difference.ours)


def _lists_in_another_order(request: Request, difference: Difference) -> bool:
    real, ours = difference.real, difference.ours
    return isinstance(real, str) and isinstance(ours, str) and sorted(real) == sorted(ours)


ALLOWED: tuple[Allowed, ...] = (
    Allowed(
        "an API that is not emulated yet is not advertised",
        18,
        "*",
        "advertising what would close the connection helps nobody; goes with each API that comes",
        _is_not_served,
    ),
    Allowed(*allowed_cluster.EPOCH),
    Allowed(*allowed_cluster.FORGOTTEN, allowed_cluster.is_forgotten, ends=True),
    *(
        Allowed(name, api, "*", reason, partial(_is_at, places))
        for name, api, places, reason in allowed_cluster.PLACES
    ),
    Allowed(
        "who leads a group whose leader left",
        11,
        "leader",
        "the next leader is the first of a hash map of ids that the broker drew",
        ends=True,
    ),
    Allowed(
        "a cursor near the largest number",
        75,
        "*",
        "the real broker's arithmetic wraps and names a negative partition to go on with",
        _is_past_the_last,
    ),
    Allowed(
        "a session with several partitions of unknown ids",
        1,
        "error_code",
        "the real broker cannot tell topics without a name apart and fails; we answer 100 each",
        _is_broken_session,
        ends=True,
    ),
    Allowed(
        "waiting with several partitions of unknown ids",
        1,
        "",
        "the same, when the fetch has waited: the real broker then never answers",
        _names_unknown_ids,
        ends=True,
    ),
    Allowed(
        "the documentation of configs",
        32,
        "*",
        "Kafka's sentences about its configs are its own text; ours are ours, and fewer",
        _is_documentation,
    ),
    Allowed(
        "configs of how the two brokers were started",
        32,
        "*",
        "the real one has a controller's listener, ports and directories of its own",
        _is_of_the_start,
    ),
    Allowed(
        "a fetch by id that waits when its topic goes",
        1,
        "*",
        "the real broker answers 3 or 100, whichever of its threads is first to notice",
        _has_waited_for_a_topic_that_went,
    ),
    Allowed(
        "configs that the real broker is given and has never heard of",
        32,
        "*",
        "it keeps and shows them as secrets; the emulator refuses names that it does not know",
        _is_unknown_config,
    ),
    *(
        Allowed(
            f"the order of names in a sentence of API {api}",
            api,
            "responses.error_message",
            "they come from a hash set; of two in one bucket the order hangs on its history",
            _lists_in_another_order,
        )
        for api in (33, 44)
    ),
    Allowed(
        "recompressed by another library: size",
        1,
        "responses.records.compressed.batch_length",
        "two implementations of a codec need not write the same bytes; the records are compared",
    ),
    *(
        Allowed(
            f"an old message compressed by another library: {what}",
            1,
            f"responses.records.compressed.{what}",
            "the messages in it are compared; the end of the answer follows from its size",
        )
        for what in ("checksum", "size", "left")
    ),
    Allowed(
        "old messages compressed by another library: how many fit",
        1,
        "responses.records",
        "an answer is cut where the stored bytes end, wherever that is in what they become",
        holds_wrappers,
    ),
    Allowed(
        "recompressed by another library: checksum",
        1,
        "responses.records.compressed.crc",
        "two implementations of a codec need not write the same bytes; the records are compared",
    ),
)


class Allowances:
    """The allowed differences, and how often each has applied."""

    def __init__(self, allowed: Sequence[Allowed] = ALLOWED) -> None:
        self._allowed = tuple(allowed)
        self.used: Counter[str] = Counter()

    def find(self, request: Request | None, difference: Difference) -> Allowed | None:
        """The first that covers the difference."""
        if request is None:
            return None
        for allowed in self._allowed:
            if allowed.covers(request, difference):
                self.used[allowed.name] += 1
                return allowed
        return None

    def unused(self) -> list[Allowed]:
        """Those that have not applied."""
        return [each for each in self._allowed if not self.used[each.name]]


def is_missing(value: Any) -> bool:
    """Whether a side had nothing there."""
    return isinstance(value, str) and value == NOTHING

"""What may differ from a real Kafka 3.9 beyond what may differ from 4.3.

What old clients send and get is compared field by field; so is every request in its lowest
versions. But a 3.9 node keeps its groups with another coordinator (Scala's, gone in 4.0) than the
one that the emulator follows, and has other words for some refusals.
"""

from __future__ import annotations

from odradek.emulator.config.broker_table import UNLISTED
from odradek.wire import Request

from ..ask.old_sets import asks_for_too_much, is_cut_elsewhere
from ..engine.compare import Difference
from ..engine.versions import Served
from .allowed import ALLOWED, Allowances, Allowed, is_missing


def allowances_for(served: Served) -> Allowances:
    """Those of the release that both brokers are."""
    return Allowances((*ALLOWED, *ALLOWED_OLD) if served.converts else ALLOWED)


def _are_lists(request: Request, difference: Difference) -> bool:
    return isinstance(difference.real, list) and isinstance(difference.ours, list)


def _is_words(request: Request, difference: Difference) -> bool:
    return difference.place.endswith("message")


def _was_closed(request: Request, difference: Difference) -> bool:
    is_old = any(t.topic for t in request.topics)  # type: ignore[attr-defined]
    return is_old and (difference.real == "closed" or is_missing(difference.real))


def _is_shown_less(request: Request, difference: Difference) -> bool:
    is_named_only = (difference.real, difference.ours) == ("Empty", "Dead")
    return difference.real in (b"", 328) or is_named_only


def _is_order(request: Request, difference: Difference) -> bool:
    return difference.place.endswith("partition_index") or difference.place == "topics.name"


def _is_ghost(request: Request, difference: Difference) -> bool:
    return (difference.real, difference.ours) == (22, 69)


def _is_no_group(request: Request, difference: Difference) -> bool:
    return (difference.real, difference.ours) == (0, 69)


def _is_never_answered(request: Request, difference: Difference) -> bool:
    return is_missing(difference.real)


def _names_a_resource_twice(request: Request, difference: Difference) -> bool:
    """Kinds that 3.9 does not know are one to it."""
    named = [
        (r.resource_type if r.resource_type in (2, 4, 8, 16) else 0, r.resource_name)
        for r in request.resources  # type: ignore[attr-defined]
    ]
    return is_missing(difference.real) and len(named) > len({*named})


def _is_a_rate(request: Request, difference: Difference) -> bool:
    return difference.place.startswith(tuple(f"results.configs.{name}" for name in UNLISTED))


def _is_there_once(request: Request, difference: Difference) -> bool:
    return is_missing(difference.real) != is_missing(difference.ours)


ALLOWED_OLD: tuple[Allowed, ...] = (
    *(
        Allowed(
            f"3.9 gathers partitions of groups in maps: API {api}",
            api,
            place,
            "a partition that is named twice is answered once there; the emulator follows 4.3",
            _are_lists,
            ends=True,
        )
        for api, place in (
            (8, "topics"),
            (8, "topics.partitions"),
            (9, "topics"),
            (9, "topics.partitions"),
            (9, "groups.topics"),
            (9, "groups.topics.partitions"),
            (28, "topics"),
            (28, "topics.partitions"),
            (47, "topics"),
            (47, "topics.partitions"),
        )
    ),
    *(
        Allowed(
            f"3.9 answers partitions of groups in the order of a map: API {api}",
            api,
            "*",
            "the emulator follows 4.3: as they were asked",
            _is_order,
            ends=True,
        )
        for api in (8, 9, 28)
    ),
    *(
        Allowed(
            f"records compressed by another library: where the last is {what}",
            1,
            f"responses.records.{what}",
            "an answer is cut where the stored bytes end, and those may be a few bytes more",
            is_cut_elsewhere,
        )
        for what in ("left", "cut")
    ),
    Allowed(
        "old messages compressed by another library: the last is whole on one side only",
        1,
        "responses.records.offset",
        "an answer is cut where the stored bytes end, and may end there with a wrapper",
        _is_there_once,
        ends=True,
    ),
    Allowed(
        "an entry in a wrapper that is larger than the real broker's memory",
        0,
        "responses.partition_responses.error_code",
        "it makes room for the whole entry before it sees that the entry is cut; the emulator looks"
        " first",
        asks_for_too_much,
    ),
    Allowed(
        "a commit to a group of which nothing is stored",
        8,
        "topics.partitions.error_code",
        "3.9 knows a group that was only named; the emulator follows 4.3",
        _is_ghost,
        ends=True,
    ),
    Allowed(
        "members whose votes for a protocol are even",
        11,
        "protocol_name",
        "3.9 takes the first of another map; the emulator follows 4.3",
        ends=True,
    ),
    Allowed(
        "rates that only a running broker has",
        32,
        "*",
        "3.9 shows them as it shows what it does not know; the emulator follows 4.3",
        _is_a_rate,
    ),
    Allowed(
        "AlterConfigs that names a resource twice",
        33,
        "",
        "3.9 never answers some of them",
        _names_a_resource_twice,
        ends=True,
    ),
    Allowed(
        "OffsetFetch of no group at all",
        9,
        "",
        "3.9 never answers it",
        _is_never_answered,
        ends=True,
    ),
    Allowed(
        "deleting offsets of a group of which nothing is stored",
        47,
        "error_code",
        "3.9 knows a group that was only named; the emulator follows 4.3",
        _is_no_group,
        ends=True,
    ),
    Allowed(
        "deleting a group of which nothing is stored",
        42,
        "results.error_code",
        "3.9 knows a group that was only named; the emulator follows 4.3",
        ends=True,
    ),
    Allowed(
        "what 3.9 shows of a group",
        15,
        "*",
        "fewer operations, no assignment while members join, and groups that were only named;"
        " the emulator follows 4.3",
        _is_shown_less,
    ),
    Allowed(
        "groups of which nothing is stored",
        16,
        "groups",
        "3.9 lists a group that was only named; the emulator follows 4.3",
        _are_lists,
        ends=True,
    ),
    *(
        Allowed(
            f"other words of 3.9: API {api}",
            api,
            "*",
            "sentences for people changed with 4.x; the codes are compared",
            _is_words,
        )
        for api in (19, 37, 45, 64, 33, 44)
    ),
    Allowed(
        "the leader's address with a refusal",
        1,
        "node_endpoints",
        "3.9 names it to strangers who act as replicas; the emulator follows 4.3",
        _are_lists,
    ),
    Allowed(
        "damage behind what can be converted",
        1,
        "",
        "the real broker closes the connection in the middle of its answer; the emulator fills",
        _was_closed,
        ends=True,
    ),
)

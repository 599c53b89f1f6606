"""Defects of stock clients that a test seems to have met, as hints under its timeline.

Each was seen with a real Kafka 4.3.1, too: docs/schedules.md. What a broker sees does not prove
them, so that a hint says "may".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ...wire import Error
from ..base.event import Event

_LIBRDKAFKA = "rdkafka"
_ENDS = ("transaction committed", "transaction aborted", "transaction timed out")
_BREAKS = ("killed", "power cut", "network", "broker killed")
_LOSES = re.compile(r"drop_reply|disconnect")
_FAILS = re.compile(r"fail\(Error\.(\w+)")
_ASKED_AGAIN = ("found offset", "found no offset", "fetched", "fetched nothing")


def hints(events: Sequence[Event]) -> list[str]:
    """A sentence for each."""
    return list(dict.fromkeys(hint for rule in _RULES for hint in rule(events)))


def _of_librdkafka(events: Sequence[Event]) -> set[str]:
    connected = (each for each in events if each.kind == "connected")
    return {each.client for each in connected if _LIBRDKAFKA in str(each.details.get("software"))}


def _forgotten_coordinator(events: Sequence[Event]) -> Iterator[str]:
    """A transaction of librdkafka that began after a connection had ended uncleanly is open at the
    end, and its producer has committed offsets in one before."""
    clients, is_broken, sends_offsets, open_ones = _of_librdkafka(events), False, False, set()
    for each in events:
        if each.kind in _BREAKS or (each.kind == "rule" and _LOSES.search(each.reason)):
            is_broken = True
        elif each.kind == "committed" and each.transactional_id and each.client in clients:
            sends_offsets = True
            open_ones.discard(each.transactional_id)
        elif each.kind == "transaction begun" and is_broken and sends_offsets:
            open_ones.add(each.transactional_id)
        elif each.kind in _ENDS:
            open_ones.discard(each.transactional_id)
    for name in sorted(open_ones):
        yield (
            f"the transaction of {name} is open, and a connection was lost before: librdkafka's "
            "send_offsets_to_transaction may wait for ever then (its issue 5511); "
            '"metadata.recovery.strategy": "none" cures it, which client_config sets'
        )


def _not_asked_again(events: Sequence[Event]) -> Iterator[str]:
    """OffsetFetch of librdkafka is answered NOT_COORDINATOR, and it does not ask again."""
    clients = _of_librdkafka(events)
    for number, each in enumerate(events):
        if each.kind != "refused" or each.api != "OffsetFetch" or each.client not in clients:
            continue
        later = (one for one in events[number:] if one.client == each.client)
        if each.error is Error.NOT_COORDINATOR and not any(o.kind in _ASKED_AGAIN for o in later):
            yield (
                f"{each.client} was answered NOT_COORDINATOR once when it asked for the offsets of "
                f"{each.group}, and has not asked again: librdkafka 2.16 does not; its poll() "
                "returns the error, after which only a new consumer goes on"
            )


def _committed_all_the_same(events: Sequence[Event]) -> Iterator[str]:
    """A transaction is committed in which a Produce was refused for good."""
    failed: dict[str, str] = {}
    open_ones: set[str] = set()
    for each in events:
        if each.kind == "transaction begun":
            open_ones.add(each.transactional_id)
            failed.pop(each.transactional_id, None)
        elif each.api == "Produce" and len(open_ones) == 1 and (error := _final(each)):
            failed[next(iter(open_ones))] = error
        elif each.kind in _ENDS:
            open_ones.discard(each.transactional_id)
            error = failed.pop(each.transactional_id, "")
            if error and each.kind == "transaction committed":
                yield (
                    f"the transaction of {each.transactional_id} was committed, though a record in "
                    f"it was refused ({error}): aiokafka commits unless what send() returned is "
                    "awaited; use send_and_wait(), or await it within the transaction"
                )


def _final(event: Event) -> str:
    """The error of a Produce that is not to be tried again, or nothing."""
    error = event.error if event.kind == "refused" else None
    if event.kind == "rule" and (found := _FAILS.search(event.reason)):
        error = Error.__members__.get(found[1])
    return "" if error is None or error.retriable else error.name


def _unstable_offset(events: Sequence[Event]) -> Iterator[str]:
    """An offset is read of which a transaction that is open has another."""
    pending: dict[tuple[str, str, int], str] = {}
    for each in events:
        place = (each.group, each.topic, each.partition)
        if each.kind == "committed" and each.transactional_id:
            pending[place] = each.transactional_id
        elif each.kind in _ENDS:
            pending = {at: name for at, name in pending.items() if name != each.transactional_id}
        elif each.kind == "found offset" and place in pending:
            yield (
                f"{each.client} read an offset of {each.group} of which the transaction of "
                f"{pending[place]} had a newer one pending: it does not ask for stable offsets, as "
                "aiokafka; records may be processed twice unless one consumer follows the other"
            )


_RULES: tuple[Callable[[Sequence[Event]], Iterator[str]], ...] = (
    _forgotten_coordinator,
    _not_asked_again,
    _committed_all_the_same,
    _unstable_offset,
)

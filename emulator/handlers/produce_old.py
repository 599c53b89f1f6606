"""Produce v0-2, as brokers up to 3.9 serve them: message sets of magic 0 and 1 become one batch.

produce.py calls this where a release converts old formats. The rules (semantics, L1-L12):
- Only the first entry of each partition says whether a request is transactional, which it may not
  be before v3 (53); then every entry of the partitions that exist is walked for producer ids. What
  cannot be walked refuses the whole request.
- A partition named twice gets its last set. A set is judged where newer versions judge a batch.
- Nothing whole is no error: the answer is 0 with base offset -1, and nothing is stored.
- One batch of magic 2 is judged as in newer versions, but zstd is taken too.

A null set, which a real broker never answers, is refused as in newer versions (87).
Left out: what wire/legacy/up_conversion.py leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from ...wire import Buffer, Error, Refused
from ...wire.batch import HEADER_SIZE, MAGIC, read_header
from ...wire.legacy.as_batches import old_header
from ...wire.legacy.mixed_sets import RecordRefused, stored_batches, whole_batch
from ...wire.legacy.stored_sets import stored_messages
from ...wire.legacy.up_conversion import (
    Rules,
    first_magic,
    lone_batch,
    produced_magic,
    up_convert,
)
from ..base.release import Release
from ..base.turns import Gate, Slices
from ..config.configs import TopicConfig
from ..partitions.produced import Produced
from ..partitions.produced_batches import (
    CODECS,
    DECOMPRESSED_MAX,
    Checked,
    RecordsRejected,
    check_format,
    validate,
)

BATCHES_SINCE = 3
"""The first version of Produce that takes nothing but batches."""


def is_old(release: Release, version: int) -> bool:
    """Whether what is produced in this version may hold more than one batch. A broker of up to 2.0
    looks at batches with the same eyes."""
    return version < BATCHES_SINCE or not release.names_invalid_records


def refusal_of_all(sent: Iterable[Produced], known: Iterable[Produced]) -> Refused | None:
    """Why a whole request is refused. `known` is what is sent to partitions that exist."""
    for each in sent:
        if each.damage is not None:
            return each.damage
        if each.is_transactional:
            return Refused(Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    try:
        for each in known:
            produced_magic(each.data or b"")
    except Refused as refused:
        return refused
    return None


def to_be_stored(
    data: Buffer | None,
    config: TopicConfig,
    now: int,
    scan_limit: int | None,
    partition: str,
    large: Gate,
) -> Slices[list[Checked]]:
    """The batches that a set becomes on a topic: one, or none when nothing in it is whole; up to
    2.0 as many as are sent, if none of them is compressed. The arguments are those of `validate`.
    Raises Refused."""
    if data is None:
        raise Refused(Error.INVALID_RECORD)
    rules = _rules(config)
    if rules.magic < MAGIC:
        entries = stored_messages(data, rules, now, DECOMPRESSED_MAX)
        return [Checked(memoryview(each), old_header(each)) for each in entries]
    if not config.broker.release.gathers_record_errors:
        batch = whole_batch(data, rules)
        if batch is not None:
            check_format(read_header(batch), config)
            with suppress(Refused):  # what is wrong with it the other way says
                given = config, now, scan_limit, partition, large
                return [(yield from validate(batch, read_header(batch), *given))]
        try:
            found = stored_batches(data, rules, now, DECOMPRESSED_MAX, partition)
        except RecordRefused as refused:
            named: list[tuple[int, str | None]] = [(refused.index, None)]
            raise RecordsRejected(refused.error, refused.message or "", named) from None
        return [Checked(each, read_header(each)) for each in found]
    walks = config.broker.release.walks_produced_batches
    if (produced_magic(data) if walks else first_magic(data)) == MAGIC:
        batch = lone_batch(data, config.max_message_bytes)
        header = read_header(batch) if len(batch) >= HEADER_SIZE else None
        checked = yield from validate(batch, header, config, now, scan_limit, partition, large)
        return [checked]
    return _converted(data, rules, now)


def _converted(data: Buffer, rules: Rules, now: int) -> list[Checked]:
    converted = up_convert(data, rules, now, DECOMPRESSED_MAX)
    return [] if converted is None else [Checked(converted, read_header(converted))]


def _rules(config: TopicConfig) -> Rules:
    wanted = config.compression_type
    return Rules(
        max_message_bytes=config.max_message_bytes,
        segment_bytes=config.log_config().segment_bytes,
        codec=None if wanted == "producer" else CODECS.get(wanted, 0),
        level=config.compression_level,
        log_append_time=config.log_append_time,
        before_max_ms=config.timestamp_before_max_ms,
        after_max_ms=config.timestamp_after_max_ms,
        is_compacted=config.is_compacted,
        takes_broker_times=config.broker.release.takes_broker_times,
        magic=MAGIC if config.broker.release.stores_batches else config.magic,
        judges_messages=config.broker.release.has_members,
        takes_several=not config.broker.release.names_invalid_records,
        looks_at_magic_first=config.broker.release.looks_at_magic_first,
        checks_counts=config.broker.release.checks_counts,
    )

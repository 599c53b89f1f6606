"""What brokers up to 3.9 do to a fetch answer before old clients get it (semantics, L13-L23).

fetch_run.py calls this where a release converts old formats, for each partition of an answer:
- v0-9 on a topic with compression.type=zstd: 76, whatever is stored and whatever the read found.
- v0-3 on a topic with message.downconversion.enable=false: 35, likewise.
- v0-1 get messages of magic 0, v2-3 of magic 1 (wire/legacy/down_conversion.py); what is damaged or
  zstd at the front is an error in place of records. Limits and waiting count what is stored, not
  what it becomes. In v0-2 a first batch larger than the limits is cut like any other, so that
  nothing of it is left.

Where a real broker closes the connection, for more than 128 KiB of zstd behind what could be
converted, this one fills.
"""

from __future__ import annotations

from functools import partial
from typing import cast

from ...wire import Buffer, Error, Refused
from ...wire.api.fetch import FetchResponse
from ...wire.batch import MAGIC
from ...wire.frames import Part
from ...wire.legacy.as_batches import MAGIC_END
from ...wire.legacy.down_conversion import (
    begins_whole,
    down_convert_at_once,
    down_convert_later,
    taken,
)
from ...wire.legacy.stored_sets import as_magic_0
from ..base.release import Release
from ..config.configs import TopicConfig
from ..partitions.produced_batches import DECOMPRESSED_MAX

Answered = FetchResponse.Topic.Partition

BATCHES_SINCE = 4
"""The first version of Fetch that gets batches of magic 2."""
WHOLE_SINCE = 3
"""The first version in which a first batch is given whole, however large."""
ZSTD_SINCE = 10
_MAGIC_1_SINCE = 2


def as_old(
    answer: Answered, version: int, offset: int, config: TopicConfig, release: Release
) -> Answered:
    """The answer of one partition, read from `offset` on, as a client of this version gets it.

    Raises Refused(UNKNOWN_SERVER_ERROR) for damage: then the whole request has failed.
    """
    failed = partial(_failed, answer, release)
    if config.compression_type == "zstd":
        return failed(Error.UNSUPPORTED_COMPRESSION_TYPE)
    if version >= BATCHES_SINCE:
        return answer
    if not config.down_conversion and (
        release.refuses_empty_conversions or begins_whole(answer.records or b"")
    ):
        return failed(Error.UNSUPPORTED_VERSION)
    if not answer.records:
        return answer
    magic = 1 if version >= _MAGIC_1_SINCE else 0
    try:
        given = answer.records, magic, offset, DECOMPRESSED_MAX
        if not release.stores_batches and not _begins_with_batch(answer.records):
            if config.magic > magic:
                stored = taken(answer.records, 0, len(answer.records))
                answer.records = as_magic_0(stored, DECOMPRESSED_MAX)
            return answer
        if release.converts_step_by_step:
            keeps_cut = not release.leaves_out_cut_batches
            records = down_convert_later(*given, keeps_cut=keeps_cut)
        else:
            records = down_convert_at_once(*given, drops_headers=release.drops_headers)
        answer.records = cast(Buffer, records)
    except OSError:
        return failed(Error.KAFKA_STORAGE_ERROR)
    except Refused as refused:
        if refused.error is not Error.UNSUPPORTED_COMPRESSION_TYPE:
            raise
        return failed(refused.error)
    return answer


def _begins_with_batch(stored: Part) -> bool:
    """Whether a batch of magic 2 is stored, as in internal topics. Raises OSError."""
    head = taken(stored, 0, MAGIC_END)
    return len(head) == MAGIC_END and head[MAGIC_END - 1] == MAGIC


def _failed(answer: Answered, release: Release, error: Error) -> Answered:
    return Answered(
        partition_index=answer.partition_index,
        error_code=error,
        high_watermark=-1,
        records=None if release.refuses_empty_conversions else b"",
        aborted_transactions=[] if release.lists_aborted_of_unknown else None,
    )

"""The checks of a produced batch before it is appended, in their order.

Base offset 0, size, CRC, whether the header is consistent, then every record. The order decides
which error a client sees when several apply (semantics, B7-B12). Earlier checks: produced.py.

Left out: message sets of magic 0 and 1. Produce v3 and later refuse them (INVALID_RECORD); for v0-2
of old releases they are converted to a batch first (handlers/produce_old.py).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from ...wire import Error, Refused, WireError
from ...wire.batch import (
    CODEC_MASK,
    HEADER_SIZE,
    LAST_OFFSET_END,
    MAGIC,
    NO_TIMESTAMP,
    OVERHEAD,
    BatchHeader,
    checksum,
    read_header,
    restamp,
)
from ...wire.compression import Codec, decompress, decompress_in_pieces
from ...wire.primitives import Buffer
from ...wire.records import NewRecord, Record, build_batch, read_records
from ...wire.scan import Problem, Scan, record_problems, runs_out, scan
from ..base.turns import Gate, Slices
from ..config.configs import TopicConfig

NO_PRODUCER_ID = -1
_UNBOUNDED = (-(2**63), 2**63 - 1)
DECOMPRESSED_MAX = 64 << 20
"""A batch that decompresses to more bytes is refused: kilobytes must not stop a broker."""
_SMALL_MAX = 256 << 10
"""A batch that decompresses to no more is checked at once."""

CODECS = {"gzip": Codec.GZIP, "snappy": Codec.SNAPPY, "lz4": Codec.LZ4, "zstd": Codec.ZSTD}


class RecordsRejected(Refused):
    """Some records are invalid: each with its index in the batch and a message."""

    def __init__(self, error: Error, message: str, records: list[tuple[int, str | None]]) -> None:
        super().__init__(error, message)
        self.records = records


class Checked(NamedTuple):
    """A batch that may be appended, and its header as it is stored."""

    batch: bytearray | memoryview
    header: BatchHeader


def plain_header(
    data: memoryview, config: TopicConfig, now: int, scan_limit: int | None
) -> BatchHeader | None:
    """The header of data that is one valid batch, to be stored as it is: neither compressed nor of
    a transaction. None for all else, which `Produced` and `validate` judge; the arguments are
    those of `validate`."""
    size = len(data)
    if size < HEADER_SIZE:
        return None
    header = read_header(data)
    base_offset, length, _, magic, crc, attributes, delta, base, latest, *producer, count = header
    if base_offset or length != size - OVERHEAD or magic != MAGIC or attributes:
        return None
    if count != delta + 1 or count <= 0 or (scan_limit is not None and count > scan_limit):
        return None
    if producer[0] >= 0 and (producer[2] < 0 or config.magic < MAGIC):
        return None
    if size > config.max_message_bytes or config.log_append_time:
        return None
    if config.compression_type in CODECS or checksum(data, 0, size) != crc:
        return None
    fault, earliest, found, null_keys, _, _ = scan(data[HEADER_SIZE:], count, base)
    if fault or found != latest or (null_keys and config.is_compacted):
        return None
    if earliest < now - config.timestamp_before_max_ms:
        return None
    return header if latest <= now + config.timestamp_after_max_ms else None


def validate(
    batch: memoryview,
    header: BatchHeader | None,
    config: TopicConfig,
    now: int,
    scan_limit: int | None,
    partition: str,
    large: Gate,
) -> Slices[Checked]:
    """Check a batch against its topic's configs, and return it as it is stored. `header` is the
    batch's, None if the batch is too short for one.

    Stamps log append time or the largest timestamp in place, and recompresses where the topic
    has a codec of its own. Records of a batch with more than `scan_limit` records are not checked;
    None checks all. `partition` is its name, for messages to clients. What is large once it is
    decompressed passes a gate first, one batch at a time: so there is room. Raises Refused.
    """
    header = _whole(batch, header, config)
    if scan_limit is not None and header.count > scan_limit:
        return _unscanned(batch, header, config, now)
    payload: Buffer | None = batch[HEADER_SIZE:]
    if header.attributes & CODEC_MASK:
        payload = _small(header.codec, batch[HEADER_SIZE:])
    if payload is not None:
        return _scanned(batch, header, payload, config, now, partition)
    yield from large.enter()
    try:
        pieces = decompress_in_pieces(header.codec, batch[HEADER_SIZE:], DECOMPRESSED_MAX)
        return _scanned(batch, header, (yield from _whole_of(pieces)), config, now, partition)
    finally:
        large.leave()


def _small(codec: Codec, payload: memoryview) -> Buffer | None:
    """The decompressed payload; None if it is large, or damaged."""
    try:
        return decompress(codec, payload, _SMALL_MAX)
    except WireError:
        return None


def _whole_of(pieces: Generator[int, None, Buffer]) -> Slices[Buffer]:
    """The whole of the pieces, one in a slice. Raises Refused."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            whole: Buffer = end.value
            return whole
        except WireError:
            raise Refused(Error.UNKNOWN_SERVER_ERROR) from None
        yield


def _whole(batch: memoryview, header: BatchHeader | None, config: TopicConfig) -> BatchHeader:
    """The header of a batch that is worth looking into. Raises Refused."""
    if batch[:8] != bytes(8):
        raise Refused(Error.INVALID_RECORD)
    if len(batch) < LAST_OFFSET_END:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    if len(batch) > config.max_message_bytes:
        raise Refused(Error.MESSAGE_TOO_LARGE)
    if header is None or checksum(batch, 0, len(batch)) != header.crc:
        raise Refused(Error.CORRUPT_MESSAGE)
    _check_header(header)
    check_format(header, config)
    return header


def check_format(header: BatchHeader, config: TopicConfig) -> None:
    """Old messages have no producer. Raises Refused(UNSUPPORTED_FOR_MESSAGE_FORMAT)."""
    if header.producer_id >= 0 and config.magic < MAGIC:
        raise Refused(Error.UNSUPPORTED_FOR_MESSAGE_FORMAT)


def _unscanned(batch: memoryview, header: BatchHeader, config: TopicConfig, now: int) -> Checked:
    """The result of a batch of which only the header is checked. Raises Refused."""
    target = _target_codec(header.codec, config)
    if target != header.codec:
        return _rebuilt(batch, header, config, target, now)
    return _stamped(batch, header, config, header.max_timestamp, now)


def _scanned(
    batch: memoryview,
    header: BatchHeader,
    payload: Buffer,
    config: TopicConfig,
    now: int,
    partition: str,
) -> Checked:
    """Check every record of the payload. Raises Refused."""
    codec = header.codec
    target = _target_codec(codec, config)
    kept = target == codec
    found = scan(payload, header.count, header.base_timestamp)
    looks_at_contents = kept and config.broker.release.gathers_record_errors
    if error := found.fault.error(compressed=bool(codec), kept=looks_at_contents):
        refuses = config.broker.release.refuses_long_records
        if not refuses and not codec and runs_out(payload, header.count):
            error = Error.UNKNOWN_SERVER_ERROR
        raise Refused(error)
    try:
        _check_records(payload, header, found, config, now)
    except _Problems as refused:
        raise _rejected(refused.problems, batch, config, now, partition) from None
    if not kept:
        is_incomplete = header.producer_id != NO_PRODUCER_ID and (
            header.producer_epoch < 0 or header.base_sequence < 0
        )
        if found.min_timestamp < -1 or is_incomplete:
            # A real broker fails to rebuild a batch with such a timestamp or producer.
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        return _rebuilt(batch, header, config, target, now)
    if codec and not found.consecutive:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    latest = header.max_timestamp if header.is_log_append_time else found.max_timestamp
    latest = max(latest, NO_TIMESTAMP)
    return _stamped(batch, header, config, latest, now)


def _check_header(header: BatchHeader) -> None:
    if header.count <= 0 or header.last_offset_delta + 1 != header.count:
        raise Refused(Error.INVALID_RECORD)
    if header.is_control:
        raise Refused(Error.INVALID_RECORD)
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise Refused(Error.INVALID_RECORD)
    if header.attributes & CODEC_MASK > Codec.ZSTD:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)


def _check_records(
    payload: Buffer,
    header: BatchHeader,
    found: Scan,
    config: TopicConfig,
    now: int,
) -> None:
    """Raises _Problems for null keys on a compacted topic and for times out of bounds."""
    keyless = config.is_compacted and found.null_keys > 0
    earliest, latest = _bounds(config, now)
    if header.is_log_append_time:
        # The producer gives every record one timestamp, that of the header.
        time = header.max_timestamp
        all_untimely = config.log_append_time or not earliest <= time <= latest or time == -1
        all_untimely |= not config.broker.release.takes_broker_times
        untimely = all_untimely
    else:
        all_untimely = False
        untimely = found.min_timestamp < earliest or found.max_timestamp > latest
    if not keyless and not untimely:
        return
    if all_untimely:
        raise _Problems([(index, Problem.TIMESTAMP) for index in range(header.count)])
    raise _Problems(
        record_problems(
            payload,
            header.count,
            header.base_timestamp,
            null_keys=config.is_compacted,
            earliest=earliest,
            latest=latest,
        )
    )


def _bounds(config: TopicConfig, now: int) -> tuple[int, int]:
    """The earliest and latest timestamp of a record (ms); unbounded with log append time."""
    if config.log_append_time:
        return _UNBOUNDED
    return (
        max(now - config.timestamp_before_max_ms, -(2**63)),
        min(now + config.timestamp_after_max_ms, 2**63 - 1),
    )


def _shown_bounds(config: TopicConfig, now: int) -> tuple[int, int]:
    """The same for messages, where Java's sums overflow."""
    if config.log_append_time:
        return _UNBOUNDED
    latest = now + config.timestamp_after_max_ms
    return now - config.timestamp_before_max_ms, latest - 2**64 if latest >= 2**63 else latest


class _Problems(Exception):
    def __init__(self, problems: list[tuple[int, Problem]]) -> None:
        super().__init__(problems)
        self.problems = problems


def _rejected(
    problems: list[tuple[int, Problem]],
    batch: memoryview,
    config: TopicConfig,
    now: int,
    partition: str,
) -> RecordsRejected:
    release, bounds = config.broker.release, _shown_bounds(config, now)
    partition += "" if release.ends_with_partition else "."
    try:
        found = read_records(batch)
    except WireError:  # a wrong length that the scan tolerates
        found = []
    records: list[tuple[int, str | None]] = [
        (index, _sentence(problem, index, found[index] if found else None, bounds, partition))
        for index, problem in problems
    ]
    if any(problem is Problem.TIMESTAMP for _, problem in problems):
        message = "One or more records have been rejected due to invalid timestamp"
        return RecordsRejected(Error.INVALID_TIMESTAMP, message, records)
    if not release.counts_rejected_records:
        message = "One or more records have been rejected"
        return RecordsRejected(Error.INVALID_RECORD, message, records)
    shown = ", ".join(
        f"RecordError(batchIndex={index}, message='{sentence}')" for index, sentence in records[:3]
    )
    return RecordsRejected(
        Error.INVALID_RECORD,
        f"One or more records have been rejected due to {len(records)} record errors in total,"
        f" and only showing the first three errors at most: [{shown}]",
        records,
    )


def _sentence(
    problem: Problem, index: int, record: Record | None, bounds: tuple[int, int], partition: str
) -> str:
    """Kafka's message for a record that is invalid on its topic."""
    if problem is Problem.KEY:
        return f"Compacted topic cannot accept message without key in topic partition {partition}"
    time = NO_TIMESTAMP if record is None else record.timestamp
    if bounds != _UNBOUNDED and time != NO_TIMESTAMP:
        return (
            f"Timestamp {time} of message with offset {index} is out of range. The timestamp should"
            f" be within [{bounds[0]}, {bounds[1]}]"
        )
    key = 0 if record is None else len(record.key or b"")
    value = 0 if record is None else len(record.value or b"")
    return (
        f"Invalid timestamp type in message DefaultRecord(offset={index}, timestamp={time},"
        f" key={key} bytes, value={value} bytes). Producer should not set timestamp type to"
        " LogAppendTime."
    )


def _target_codec(codec: Codec, config: TopicConfig) -> Codec:
    wanted = config.compression_type
    return codec if wanted == "producer" else CODECS.get(wanted, Codec.NONE)


def _stamped(
    batch: memoryview, header: BatchHeader, config: TopicConfig, max_timestamp: int, now: int
) -> Checked:
    """Set the largest timestamp or the time of the append, if that is a change."""
    if config.log_append_time:
        restamp(batch, 0, now, True)
        return Checked(batch, read_header(batch))
    if header.max_timestamp != max_timestamp or header.is_log_append_time:
        restamp(batch, 0, max_timestamp, False)
        return Checked(batch, read_header(batch))
    return Checked(batch, header)


def _rebuilt(
    batch: memoryview, header: BatchHeader, config: TopicConfig, codec: Codec, now: int
) -> Checked:
    """Recompress: offsets are renumbered, record attributes dropped, the producer kept."""
    try:
        records = read_records(batch)
    except WireError:
        raise Refused(Error.INVALID_RECORD) from None
    rebuilt = build_batch(
        [NewRecord(r.timestamp, r.key, r.value, r.headers) for r in records],
        codec=codec,
        level=config.compression_level(codec),
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
        log_append_time=now if config.log_append_time else None,
    )
    if len(rebuilt) > config.max_message_bytes:
        raise Refused(Error.MESSAGE_TOO_LARGE)
    return Checked(rebuilt, read_header(rebuilt))

"""The options of `format("odradek")`: named as the stock Kafka connector's where it has them.

Read as Spark gives them: names in any case, values as text. What is unknown is refused with the
likely name, what is known but has no meaning here (a broker's address) with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias, TypeVar

from ..segments.encoder import RECORDS_IN_BATCH
from ..segments.schema import BATCH_COLUMNS, CODECS, RECORD_COLUMNS
from ..segments.writer import SEGMENT_BYTES
from .columns import BATCH_NAMES

T = TypeVar("T")
Offsets: TypeAlias = dict[str, dict[str, int]]
"""Topic -> partition -> offset or timestamp, as the connector's JSON has it."""
Isolation: TypeAlias = Literal["read_committed", "read_uncommitted"]

EARLIEST: Final = -2
LATEST: Final = -1
HEADERS: Final = "headers"


class OptionError(ValueError):
    """An option is unknown, missing or has a wrong value; the text names it."""


OPTIONS: Final = {
    "path": "rsw",
    "topics": "rs",
    "subscribe": "rs",
    "subscribePattern": "rs",
    "assign": "rs",
    "startingOffsets": "rs",
    "startingOffsetsByTimestamp": "rs",
    "startingTimestamp": "rs",
    "startingOffsetsByTimestampStrategy": "rs",
    "endingOffsets": "r",
    "endingOffsetsByTimestamp": "r",
    "endingTimestamp": "r",
    "includeHeaders": "rsw",
    "batchColumns": "rs",
    "columns": "rs",
    "rows": "rs",
    "kafka.isolation.level": "rs",
    "readUpTo": "rs",
    "failOnDataLoss": "rs",
    "skipDamage": "rs",
    "damageReport": "rs",
    "minPartitions": "rs",
    "planReport": "r",
    "maxOffsetsPerTrigger": "s",
    "topic": "w",
    "numPartitions": "w",
    "kafka.compression.type": "w",
    "recordsInBatch": "w",
    "segmentBytes": "w",
    "checkpointLocation": "w",
}
"""Each option, and who takes it: r a batch, s a stream, w a sink."""
_SPELLED: Final = {name.lower(): name for name in OPTIONS}
_USES: Final = {"r": "reading a batch", "s": "reading a stream", "w": "writing"}
_CHOICES: Final = {"topics", "subscribe", "subscribePattern", "assign"}


@dataclass(frozen=True)
class Selection:
    """Which partitions are read: of topics by name or wildcard, by a pattern, or one by one."""

    names: tuple[str, ...] = ()
    """Exact names: one that is missing is an error."""
    wildcards: tuple[str, ...] = ()
    pattern: str | None = None
    assigned: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Limit:
    """Where reading starts or ends: one of these, the first that is given."""

    timestamp: int | None = None
    by_timestamp: Offsets | None = None
    offsets: Offsets | Literal["earliest", "latest"] = "latest"

    @property
    def is_late(self) -> bool:
        """Whether the end may be meant in some partition."""
        by_time = self.timestamp is not None or self.by_timestamp is not None
        return by_time or LATEST in _values(self.offsets, "latest")


@dataclass(frozen=True)
class ReadOptions:
    path: str
    selection: Selection
    columns: tuple[str, ...]
    start: Limit
    end: Limit
    no_match_is_latest: bool = False
    """Where no record is as late as a starting timestamp: start at the end, instead of an error."""
    isolation: Isolation = "read_uncommitted"
    read_up_to: str | None = None
    """logEnd or highWatermark; None decides by the number of replicas."""
    fail_on_data_loss: bool = True
    skip_damage: bool = False
    damage_report: str | None = None
    """A folder for what was left out, one JSON file of each task that left something out."""
    partitions_min: int = 0
    of_batches: bool = False
    """Whether a row is a batch, instead of a record."""
    plan_report: str | None = None
    """A file for what a query reads."""
    offsets_max: int | None = None
    """Of one trigger of a stream."""


@dataclass(frozen=True)
class WriteOptions:
    path: str
    topic: str | None = None
    """Of all records, whatever their column says."""
    partitions: int | None = None
    """Of a topic that does not exist yet."""
    codec: str = "none"
    records_in_batch: int = RECORDS_IN_BATCH
    segment_bytes: int = SEGMENT_BYTES


@dataclass
class _OptionReader:
    """The options given, by their proper names; each is taken once."""

    values: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        return self.values.get(name)

    def one_of(self, name: str, choices: tuple[str, ...], default: str) -> str:
        value = self.values.get(name, default)
        if value not in (*choices, default):
            raise OptionError(f"option {name}: {value!r} is none of {', '.join(choices)}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.values.get(name, str(default)).lower()
        if value not in ("true", "false"):
            raise OptionError(f"option {name}: {value!r} is neither true nor false")
        return value == "true"

    def number(self, name: str, least: int = 1) -> int | None:
        value = self.values.get(name)
        if value is None:
            return None
        return self._read(name, value, lambda text: _at_least(int(text), least))

    def offsets(self, name: str) -> Offsets | None:
        value = self.values.get(name)
        return None if value is None else self._read(name, value, _offsets)

    def names(self, name: str) -> tuple[str, ...]:
        parts = (part.strip() for part in self.values.get(name, "").split(","))
        return tuple(part for part in parts if part)

    def _read(self, name: str, value: str, read: Callable[[str], T]) -> T:
        try:
            return read(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise OptionError(f"option {name}: {value!r}: {error}") from None


def read_options(given_options: Mapping[str, str], *, stream: bool) -> ReadOptions:
    """The options of a reader. Raises OptionError."""
    options = _known(given_options, "s" if stream else "r")
    start = _limit(options, "starting", "latest" if stream else "earliest")
    end = _limit(options, "ending", "latest")
    _check_literals(start, end, stream=stream)
    strategy = options.one_of("startingOffsetsByTimestampStrategy", ("error", "latest"), "error")
    isolation = options.one_of(
        "kafka.isolation.level", ("read_uncommitted", "read_committed"), "read_uncommitted"
    )
    return ReadOptions(
        path=_path(options),
        selection=_selection(options),
        columns=_columns(options),
        start=start,
        end=end,
        no_match_is_latest=strategy == "latest",
        isolation="read_committed" if isolation == "read_committed" else "read_uncommitted",
        read_up_to=options.one_of("readUpTo", ("logEnd", "highWatermark"), "") or None,
        fail_on_data_loss=options.flag("failOnDataLoss", True),
        skip_damage=options.flag("skipDamage", False),
        damage_report=options.text("damageReport"),
        partitions_min=options.number("minPartitions") or 0,
        of_batches=_of_batches(options),
        plan_report=options.text("planReport"),
        offsets_max=options.number("maxOffsetsPerTrigger"),
    )


def columns_of(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that a reader with these options has. Raises OptionError."""
    return _columns(_known(options, "rs"))


def write_options(given_options: Mapping[str, str]) -> WriteOptions:
    """The options of a writer. Raises OptionError."""
    options = _known(given_options, "w")
    return WriteOptions(
        path=_path(options),
        topic=options.text("topic"),
        partitions=options.number("numPartitions"),
        codec=options.one_of("kafka.compression.type", CODECS, "none"),
        records_in_batch=options.number("recordsInBatch") or RECORDS_IN_BATCH,
        segment_bytes=options.number("segmentBytes") or SEGMENT_BYTES,
    )


def _known(options: Mapping[str, str], uses: str) -> _OptionReader:
    known = {}
    for name, value in options.items():
        proper = _SPELLED.get(name.lower())
        if proper is None:
            raise OptionError(_unknown(name, uses))
        if not set(uses) & set(OPTIONS[proper]):
            for_what = " and ".join(_USES[use] for use in OPTIONS[proper])
            raise OptionError(f"option {proper} is for {for_what}, not for {_USES[uses[0]]}")
        known[proper] = value
    return _OptionReader(known)


def _unknown(name: str, uses: str) -> str:
    taken = {each.lower(): each for each, by in OPTIONS.items() if set(by) & set(uses)}
    if name.lower().startswith("kafka.") and name.lower() not in taken:
        likely = get_close_matches(name.lower(), [x for x in taken if x.startswith("kafka.")], 1)
        if not likely:
            return f"option {name}: a data directory has no broker and no client to configure"
    else:
        likely = get_close_matches(name.lower(), taken, 1)
    return f"there is no option {name}: {_hint(taken, likely)}"


def _hint(known: Mapping[str, str], likely: Sequence[str]) -> str:
    if likely:
        return f"did you mean {known[likely[0]]}?"
    return f"there are {', '.join(known.values())}"


def _path(options: _OptionReader) -> str:
    path = options.text("path")
    if not path:
        raise OptionError("option path: name the data directory: load(PATH) or save(PATH)")
    scheme, separator, rest = path.partition(":/")
    if separator and scheme == "file":
        return "/" + rest.lstrip("/")
    if separator and re.fullmatch(r"[a-zA-Z][a-zA-Z0-9+.-]+", scheme):
        raise OptionError(f"option path: {path}: only directories of this file system can be used")
    return path


def _selection(options: _OptionReader) -> Selection:
    chosen = sorted(_CHOICES & set(options.values))
    if len(chosen) > 1:
        raise OptionError(f"options {' and '.join(chosen)}: only one of them can be given")
    pattern = options.text("subscribePattern")
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise OptionError(f"option subscribePattern: {pattern!r}: {error}") from None
    assigned = options.values.get("assign")
    return Selection(
        names=options.names("subscribe"),
        wildcards=options.names("topics"),
        pattern=pattern,
        assigned=() if assigned is None else options._read("assign", assigned, _assigned),
    )


def _of_batches(options: _OptionReader) -> bool:
    if options.one_of("rows", ("records", "batches"), "records") == "records":
        return False
    for name in ("includeHeaders", "batchColumns"):
        if options.flag(name, False):
            raise OptionError(f"option {name}: it is of rows that are records, not batches")
    return True


def _columns(options: _OptionReader) -> tuple[str, ...]:
    headers = options.flag("includeHeaders", False)
    shown = [name for name in RECORD_COLUMNS if headers or name != HEADERS]
    if options.flag("batchColumns", False):
        shown += BATCH_COLUMNS
    names = options.names("columns")
    every: Iterable[str] = (*RECORD_COLUMNS, *BATCH_COLUMNS)
    if _of_batches(options):
        every = shown = list(BATCH_NAMES)
    known = {name.lower(): name for name in every}
    for name in names:
        if name.lower() not in known:
            hint = _hint(known, get_close_matches(name.lower(), known, 1))
            raise OptionError(f"option columns: there is no column {name}: {hint}")
    return tuple(dict.fromkeys(known[name.lower()] for name in names)) or tuple(shown)


def _limit(options: _OptionReader, edge: str, default: Literal["earliest", "latest"]) -> Limit:
    offsets: Any = options.text(f"{edge}Offsets") or default
    if offsets.lower() in ("earliest", "latest"):
        offsets = offsets.lower()
    else:
        offsets = options.offsets(f"{edge}Offsets")
    return Limit(
        timestamp=options.number(f"{edge}Timestamp", least=0),
        by_timestamp=options.offsets(f"{edge}OffsetsByTimestamp"),
        offsets=offsets,
    )


def _check_literals(start: Limit, end: Limit, *, stream: bool) -> None:
    """A batch must not start at the end, and nothing ends at the beginning."""
    if not stream and LATEST in _values(start.offsets, "latest"):
        raise OptionError("option startingOffsets: a batch cannot start at latest (-1)")
    if EARLIEST in _values(end.offsets, "earliest"):
        raise OptionError("option endingOffsets: a batch cannot end at earliest (-2)")


def _values(offsets: Offsets | str, literal: str) -> Iterator[int]:
    if isinstance(offsets, str):
        if offsets == literal:
            yield EARLIEST if literal == "earliest" else LATEST
    else:
        for partitions in offsets.values():
            yield from partitions.values()


def _offsets(text: str) -> Offsets:
    found = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise ValueError('offsets are given by partition: {"orders": {"0": 5, "1": -2}}')
    return {
        str(topic): {
            str(int(partition)): _integer(value) for partition, value in partitions.items()
        }
        for topic, partitions in found.items()
    }


def _assigned(text: str) -> tuple[tuple[str, int], ...]:
    return tuple(
        (str(topic), _integer(each))
        for topic, partitions in json.loads(text).items()
        for each in partitions
    )


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is no whole number")
    return value


def _at_least(value: int, least: int) -> int:
    if value < least:
        raise ValueError(f"must be at least {least}")
    return value

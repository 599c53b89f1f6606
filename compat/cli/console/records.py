"""`odradek records`, or `consume`: the records of a topic, filtered; with --follow also new ones.

    odradek records localhost:9092 orders
    odradek records localhost:9092 orders --from -10 --follow
    odradek records localhost:9092 orders --last 10
    odradek records localhost:9092 orders --from 15m --key '^42$' --value espresso --max 5
    odradek records localhost:9092 orders --where .customer.city=Oslo --format '%k %s\\n'
    odradek records localhost:9092 orders --group billing           from what it committed on
    odradek records localhost:9092 orders --json | jq .value
    odradek records localhost:9092 orders --output orders.jsonl     once more: goes on behind it

One line for each: partition, offset, time, key, value, headers. Text that is not UTF-8 is shown
with escapes; in --json such a value is base64, as `value_base64`. Records of internal topics are
shown in words. Several partitions are read at once: order holds within one.

An export in a file, which can be gone on with: the file itself says how far it is.

Each line is what `odradek records --json` prints. A last line that is not whole, as a kill leaves
it, is cut off. So nothing is lost and nothing is there twice, however the export ended.

The last records of a topic: those with the latest timestamps, of all partitions together.

Reading as a member of a group: from what it has committed, and committing what was shown.

What counts as done is committed once a second, when the group rebalances, and at the end. So after
Ctrl-C nothing is shown twice; what was shown after the last commit is shown again if the process is
killed, or if the group gave the partitions to another member meanwhile.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ....wire.api.metadata import MetadataResponse
from ....wire.records import Record
from .arguments import INT32, header, named, pattern, whole
from .client import Brokers, ConsoleError
from .decoding import REGISTRY, Decoded, Decoder, Decoding, decoder, kind
from .filters import condition, matches
from .formats import as_json, as_line, format_of
from .joining import Membership, Rebalanced
from .offsets import LATEST, Place, Position, bounds, look_up, parse_position, resolve
from .reading import Reader


def go_on(path: Path, topic: str) -> tuple[IO[bytes], dict[int, int]]:
    """The file, to be written to at its end, and the next offset of each partition that it has.
    Raises ConsoleError if it holds something else."""
    try:
        file = path.open("r+b") if path.exists() else path.open("w+b")
    except OSError as error:
        raise ConsoleError(f"{path} cannot be written: {error.strerror}") from None
    found: dict[int, int] = {}
    whole = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            break
        place = _place(line, topic)
        if place is None:
            file.close()
            raise ConsoleError(f"{path}, line {number}: this is no record of {topic} in JSON")
        found[place[0]] = max(found.get(place[0], 0), place[1] + 1)
        whole += len(line)
    file.truncate(whole)
    file.seek(whole)
    return file, found


def _place(line: bytes, topic: str) -> tuple[int, int] | None:
    try:
        entry = json.loads(line)
        if entry["topic"] == topic:
            return int(entry["partition"]), int(entry["offset"])
    except (ValueError, KeyError, TypeError):
        return None
    return None


_WIDER = 4


def last(
    brokers: Brokers,
    topic: MetadataResponse.Topic,
    count: int,
    is_wanted: Callable[[int, Record], bool],
    *,
    committed: bool,
) -> list[tuple[int, Record]]:
    """The last `count` that are wanted, in the order of their timestamps. Raises ConsoleError."""
    found: list[tuple[int, Record]] = []
    limits = bounds(brokers, [topic], committed=committed)
    for (name, index), (first, after) in limits.items():
        width = count
        while True:  # there may be fewer records than offsets, and not all are wanted
            start = max(first, after - width)
            reader = Reader(
                brokers, topic, {(name, index): start}, committed=committed, follow=False
            )
            own = [(each, record) for each, record in reader if is_wanted(each, record)]
            if len(own) >= count or start == first:
                break
            width *= _WIDER
        found += own[-count:]
    found.sort(key=lambda each: (each[1].timestamp, each[0], each[1].offset))
    return found[-count:]


_COMMIT_S = 1.0
_IDLE_S = 0.3


class GroupReader:
    """Iterate over it: (partition, record). `done` and `close` at the end."""

    def __init__(
        self,
        brokers: Brokers,
        topic: MetadataResponse.Topic,
        group: str,
        start: Position,
        *,
        committed: bool,
        follow: bool,
        flush: Callable[[], None],
    ) -> None:
        """`start`: of partitions without a committed offset. `flush` is called before a commit."""
        self._brokers = brokers
        self._topic = topic.name or ""
        self._start = start
        self._committed = committed
        self._follow = follow
        self._flush = flush
        self._member = Membership(brokers, group, self._topic)
        self._reader: Reader | None = None
        self._committed_offsets: dict[int, int] = {}
        self._committed_at = time.monotonic()

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        while True:
            mine = self._member.join()
            try:
                self._reader = self._new_reader(mine)
                yield from self._reader
                if not self._follow:
                    return
                while True:  # nothing is assigned
                    self._between()
                    time.sleep(_IDLE_S)
            except Rebalanced:
                self._commit_what_may_be()

    @property
    def done(self) -> dict[int, int]:
        """How far each partition is: the caller adds the last record it has shown."""
        return {} if self._reader is None else self._reader.done

    def close(self) -> None:
        """Commit, and leave the group. Raises ConsoleError."""
        self._commit_what_may_be()
        self._member.leave()

    def _new_reader(self, mine: list[int]) -> Reader:
        self._committed_offsets = {}
        topic = self._brokers.topic(self._topic)
        topic.partitions = [each for each in topic.partitions if each.partition_index in mine]
        starts = resolve(self._brokers, [topic], self._start, committed=self._committed)
        starts |= self._went_on(starts)
        return Reader(
            self._brokers,
            topic,
            starts,
            committed=self._committed,
            follow=self._follow,
            grows=False,
            between=self._between,
        )

    def _went_on(self, starts: dict[Place, int]) -> dict[Place, int]:
        return {place: at for place, at in self._member.committed().items() if place in starts}

    def _between(self) -> None:
        self._member.beat()
        if time.monotonic() - self._committed_at > _COMMIT_S:
            self._commit()

    def _commit(self) -> None:
        self._committed_at = time.monotonic()
        new = {
            index: at for index, at in self.done.items() if self._committed_offsets.get(index) != at
        }
        if new:
            self._flush()
            self._member.commit(new)
            self._committed_offsets |= new

    def _commit_what_may_be(self) -> None:
        """Commit; say so if others have the partitions already."""
        try:
            self._commit()
        except Rebalanced:
            print(
                f"odradek: group {self._member.group} rebalanced before the last records shown "
                "were committed: they are shown again",
                file=sys.stderr,
            )
        except ConsoleError as error:
            print(f"odradek: {error}: the last records shown are not committed", file=sys.stderr)


_METADATA_LOG = "__cluster_metadata"
_FROM_START = parse_position("earliest")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek records ADDRESS`."""
    parser.add_argument("topic", help="its name")
    _add_which(parser)
    _add_filters(parser)
    _add_how_shown(parser)


def _add_which(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "-p",
        "--partition",
        type=whole(0, INT32),
        metavar="N",
        action="append",
        default=[],
        help="only this one; may be repeated",
    )
    what = "earliest (the default), latest, an offset, -N, an age (15m, 2h, 3d) or a time"
    add(
        *("-o", "--from", "--offset"),
        dest="start",
        metavar="POSITION",
        type=parse_position,
        help=f"{what}; with --group: where it has committed nothing",
    )
    add("--to", "--until", metavar="POSITION", type=parse_position, help="stop before it")
    add("--last", type=whole(1, INT32), metavar="N", help="the N latest, of all partitions")
    add(
        *("-n", "-c", "--max", "--num", "--max-messages"),
        type=whole(1, INT32),
        metavar="N",
        help="stop after N records shown",
    )
    add("--from-beginning", action="store_true", help="as without --from, which is the default")
    add("-f", "--follow", action="store_true", help="wait for more, until Ctrl-C")
    add(
        *("-g", "--group", "-G"),
        metavar="NAME",
        type=named,
        help="read as a member of it, and commit what was shown",
    )
    add("--committed", action="store_true", help="no open or aborted transactions")


def _add_filters(parser: argparse.ArgumentParser) -> None:
    for option, what in (("--key", "key"), ("--value", "value")):
        parser.add_argument(
            option, metavar="REGEX", type=pattern, help=f"only records whose {what} matches"
        )
    parser.add_argument(
        "--header", metavar="NAME=REGEX", type=header, help="only records with such a header"
    )
    parser.add_argument(
        "--where",
        metavar="PATH=VALUE",
        type=condition,
        action="append",
        default=[],
        help="only records whose value is JSON in which it holds: .city=Oslo, .items[*].price>5, "
        ".note~REGEX; may be repeated",
    )


def _add_how_shown(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(format=as_line)
    add = parser.add_argument
    add("--json", dest="format", action="store_const", const=as_json, help="one object a line")
    add(
        "--format",
        type=format_of,
        metavar="FORMAT",
        help="table (the default), json, raw (values), or a template, as '%%k %%s\\n'",
    )
    add(
        "-s",
        "--decode",
        type=kind,
        action="append",
        default=[],
        metavar="[key=|value=]KIND",
        help="text, json, hex, base64, a number (int32, i, <q, double, ...), avro, protobuf",
    )
    add("-r", "--registry", metavar="URL", help="of the schema registry, which decodes")
    add(
        "--output", metavar="FILE", type=Path, help="write JSON there; goes on behind what it holds"
    )


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    _refuse_what_contradicts(options)
    decoding = _decoding(options)
    topic = _topic(brokers, options)
    with Output(options) as output:
        reader = _reader(brokers, options, topic, output)
        try:
            for count, (partition, record) in enumerate(
                _wanted(reader, options, decoding, output), 1
            ):
                if count == options.max:
                    reader.done[partition] = record.offset + 1
                    break
        finally:
            if isinstance(reader, GroupReader):
                output.flush()
                reader.close()
    return 0


def _refuse_what_contradicts(options: argparse.Namespace) -> None:
    for one, other in (
        ("last", "start"),
        ("last", "to"),
        ("last", "group"),
        ("last", "output"),
        ("group", "partition"),
        ("group", "output"),
        ("group", "to"),
        ("follow", "to"),
    ):
        if getattr(options, one) and getattr(options, other):
            names = {"start": "from"}
            raise ConsoleError(f"--{one} and --{names.get(other, other)} contradict each other")


class Output:
    """Where records are written: standard output, or a file with what is already in it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.starts: dict[int, int] = {}
        self._file: IO[bytes] | None = None
        self._show = options.format
        self._flushes = options.follow
        if options.output is not None:
            self._file, self.starts = go_on(options.output, options.topic)
            self._show = as_json

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, found: Decoded) -> None:
        text = self._show(found)
        if self._file is not None:
            self._file.write(text if isinstance(text, bytes) else text.encode())
        else:
            _write(text)
        if self._flushes:
            self.flush()

    def flush(self) -> None:
        (self._file or sys.stdout).flush()


def _write(data: str | bytes) -> None:
    """In one call, so that no line is torn."""
    if isinstance(data, str):
        sys.stdout.write(data)
        return
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode(errors="backslashreplace"))
    else:
        buffer.write(data)


def _topic(brokers: Brokers, options: argparse.Namespace) -> MetadataResponse.Topic:
    """With the partitions that are asked for. Raises ConsoleError."""
    if options.topic == _METADATA_LOG:
        raise ConsoleError(
            f"{_METADATA_LOG} is served to controllers alone: Kafka's DumpLogSegments reads it in "
            "a directory, with --cluster-metadata-decoder"
        )
    topic = brokers.topic(options.topic)
    there = {part.partition_index for part in topic.partitions}
    for index in options.partition:
        if index not in there:
            raise ConsoleError(f"topic {options.topic} has no partition {index}")
    if options.partition:
        topic.partitions = [p for p in topic.partitions if p.partition_index in options.partition]
    return topic


def _decoding(options: argparse.Namespace) -> Decoding:
    """Raises ConsoleError where a registry is needed and not named, or a package is missing."""
    registry: Decoder | None = None
    if options.registry:
        from .schemas import registry_decoder

        registry = registry_decoder(options.registry)
    chosen: dict[bool, Decoder | None] = {True: registry, False: registry}
    for each in options.decode:
        if each.name in REGISTRY and registry is None:
            raise ConsoleError(f"{each.name} needs --registry URL")
        chosen[each.of_key] = decoder(each.name, registry)
    return Decoding(options.topic, key=chosen[True], value=chosen[False])


def _reader(
    brokers: Brokers, options: argparse.Namespace, topic: MetadataResponse.Topic, output: Output
) -> Reader | GroupReader:
    start: Position = options.start or _FROM_START
    if options.group is not None:
        return GroupReader(
            brokers,
            topic,
            options.group,
            start,
            committed=options.committed,
            follow=options.follow,
            flush=output.flush,
        )
    starts = resolve(brokers, [topic], start, committed=options.committed)
    ends = look_up(brokers, [topic], LATEST, committed=options.committed)
    if options.start is not None:
        _say_what_is_beyond(options, starts, ends)
    if options.last is not None:
        starts = ends
    starts |= {
        (options.topic, index): at
        for index, at in output.starts.items()
        if (options.topic, index) in starts
    }
    stops = resolve(brokers, [topic], options.to) if options.to is not None else {}
    return Reader(
        brokers,
        topic,
        starts,
        committed=options.committed,
        follow=options.follow,
        ends={index: at for (_, index), at in stops.items()},
        grows=not options.partition,
    )


def _say_what_is_beyond(
    options: argparse.Namespace, starts: dict[Place, int], ends: dict[Place, int]
) -> None:
    """On standard error: an offset or a time behind the end is likely a mistake."""
    start: Position = options.start
    beyond = [
        place for place, at in starts.items() if start.offset is not None and at < start.offset
    ]
    if beyond:
        listed = ", ".join(
            f"{topic}-{index} at {ends[topic, index]}" for topic, index in sorted(beyond)
        )
        print(f"odradek: offset {start.offset} is beyond the end: {listed}", file=sys.stderr)
    is_time = start.timestamp is not None and start.timestamp >= 0
    if is_time and starts == ends and any(ends.values()):
        print(f"odradek: no record of {options.topic} is of that time or later", file=sys.stderr)


def _wanted(
    reader: Reader | GroupReader, options: argparse.Namespace, decoding: Decoding, output: Output
) -> Iterator[tuple[int, Record]]:
    """Write the records that match; yield each once it is written."""
    for partition, record in _from(reader, options, decoding):
        found = decoding.decode(partition, record)
        if matches(options, found):
            output.write(found)
            yield partition, record


def _from(
    reader: Reader | GroupReader, options: argparse.Namespace, decoding: Decoding
) -> Iterator[tuple[int, Record]]:
    if options.last is not None and isinstance(reader, Reader):
        yield from last(
            reader.brokers,
            reader.topic,
            options.last,
            lambda partition, record: matches(options, decoding.decode(partition, record)),
            committed=options.committed,
        )
    yield from reader

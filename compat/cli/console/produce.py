"""`odradek produce`: records to a topic of any Kafka, from lines of text, JSON, or a template.

    echo 'one espresso' | odradek produce localhost:9092 orders
    odradek produce localhost:9092 orders orders.txt --key-separator :
    odradek records localhost:9092 orders --json | odradek produce localhost:9092 copy --json
    odradek produce localhost:9092 orders --generate 1000 '{"id": {seq}, "city": {city}}'

Each line is a record, as it comes. With --json a line is what `odradek records --json` prints: key,
value, headers, timestamp and partition are kept, topic and offset are not. Records with a key go
where Kafka's own clients send them, others to the partitions in turn. A record is sent until it is
stored; with --transactional-id all of them are committed together at the end, or none is. With
--resume FILE an import that was interrupted goes on where it was.

With --registry the lines are JSON, and stored as Avro, Protobuf or JSON of a schema: that of
--schema, or the newest of the subject TOPIC-value.

Records as they come: what has arrived together is sent together, without waiting for more.

Ctrl-C while something must not be torn: it is noted, and raised afterwards.

How far an import is, in a small file: `odradek produce --resume FILE`.

Of records that say where they come from (`odradek records --json`) it is the next offset of each
partition there, so that they may come in another order the next time; of other lines, their number.
It is written after the broker has stored what came together. So after Ctrl-C nothing is missing
and nothing is there twice; after a kill what was stored last, at most a few thousand records, is
stored once more. With a transactional id it is written once, after the commit.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

from ....wire.api.create_topics import CreateTopicsRequest
from ....wire.compression import Codec
from ....wire.records import NewRecord
from .arguments import INT32, named, whole
from .client import Brokers, ConsoleError, check
from .incoming import FIELDS, Encode, lines_of, made, of_lines, template
from .offsets import parse_position
from .sending import Placed, Sender

_MOST_AT_ONCE = 5000
_MOST_WAITING = 20_000
_PAUSE_S = 0.005
_LINGER_S = 0.005  # what comes so soon after another goes with it, as with `linger.ms`


def chunks(records: Iterable[Placed], rate: float | None) -> Generator[list[Placed], None, None]:
    """Records that come together, without waiting for more. What is wrong with a record is raised
    after those before it."""
    waiting = _Waiting()
    Thread(target=waiting.read, args=(records,), name="odradek-input", daemon=True).start()
    begin, done = time.monotonic(), 0
    most = _MOST_AT_ONCE if rate is None else max(1, min(_MOST_AT_ONCE, int(rate / 10)))
    try:
        while not waiting.is_over:
            chunk = waiting.take(most)
            if chunk:
                if rate is not None:
                    time.sleep(max(0.0, begin + done / rate - time.monotonic()))
                yield chunk
                done += len(chunk)
    finally:
        waiting.is_wanted = False
    if waiting.problem is not None:
        raise waiting.problem


class _Waiting:
    """Records that one thread has read, and another takes: many at once, which costs little."""

    def __init__(self) -> None:
        self.problem: BaseException | None = None
        self.is_wanted = True
        """Whether more is read."""
        self._records: deque[Placed] = deque()
        self._is_read = False
        self._there = Event()

    @property
    def is_over(self) -> bool:
        return self._is_read and not self._records

    def read(self, records: Iterable[Placed]) -> None:
        """Read them all, never many more than were taken."""
        try:
            for each in records:
                self._records.append(each)
                if not self._there.is_set():
                    self._there.set()
                while self.is_wanted and len(self._records) > _MOST_WAITING:
                    time.sleep(_PAUSE_S)
                if not self.is_wanted:
                    break
        except BaseException as error:  # it is raised where the records are sent
            self.problem = error
        self._is_read = True
        self._there.set()

    def take(self, most: int) -> list[Placed]:
        """Those that are there, once there is one or all are read; up to so many."""
        chunk: list[Placed] = []
        while len(chunk) < most and not self.is_over:
            if self._records:
                chunk.append(self._records.popleft())
                continue
            self._there.clear()
            if self._records or self._is_read:
                continue
            if not self._there.wait(_LINGER_S if chunk else None):
                break
        return chunk


@contextmanager
def held() -> Iterator[None]:
    """Within it Ctrl-C waits; a second one does not. Outside the main thread it does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    is_noted = False

    def note(number: int, frame: object) -> None:
        nonlocal is_noted
        if is_noted:
            raise KeyboardInterrupt
        is_noted = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if is_noted:
        raise KeyboardInterrupt


class Progress:
    """Progress: the records stored, and its file."""

    def __init__(self, path: Path, topic: str) -> None:
        """Raises ConsoleError if the file is about something else."""
        self._path = path
        self._topic = topic
        self._lines = 0
        self._sources: dict[str, dict[str, int]] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        try:
            state: Any = json.loads(self._path.read_text())
            topic, self._lines = state["topic"], int(state["lines"])
            self._sources = {
                name: {str(index): int(at) for index, at in offsets.items()}
                for name, offsets in state["sources"].items()
            }
        except OSError as error:
            raise ConsoleError(f"{self._path} cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ConsoleError(f"{self._path} was not written by --resume") from None
        if topic != self._topic:
            raise ConsoleError(f"{self._path} is of an import to {topic}, not to {self._topic}")

    def left(self, records: Iterable[Placed]) -> Iterator[Placed]:
        to_skip = self._lines
        for each in records:
            if each.source is None:
                to_skip -= 1
                if to_skip < 0:
                    yield each
                continue
            topic, partition, offset = each.source
            if offset >= self._sources.get(topic, {}).get(str(partition), 0):
                yield each

    def add(self, stored: Iterable[Placed]) -> None:
        for each in stored:
            if each.source is None:
                self._lines += 1
            else:
                topic, partition, offset = each.source
                of_topic = self._sources.setdefault(topic, {})
                of_topic[str(partition)] = max(of_topic.get(str(partition), 0), offset + 1)

    def save(self) -> None:
        """Write the file in the place of the one before. Raises ConsoleError."""
        state = {"topic": self._topic, "lines": self._lines, "sources": self._sources}
        new = self._path.with_name(f"{self._path.name}.new")
        try:
            new.write_text(json.dumps(state))
            os.replace(new, self._path)
        except OSError as error:
            raise ConsoleError(f"{self._path} cannot be written: {error.strerror}") from None


_SHOWN_EVERY_S = 1.0
_ACKS = {"1": 1, "all": -1}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek produce ADDRESS`."""
    _add_records(parser)
    _add_schemas(parser)
    _add_sending(parser)


def _add_records(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topic", help="its name")
    add("files", metavar="FILE", nargs="*", help="lines of these; standard input for - or none")
    add("--json", action="store_true", help="lines as `odradek records --json` prints them")
    add(
        "--generate",
        nargs=2,
        action=_Generate,
        metavar=("N", "TEMPLATE"),
        help=f"make N values from a template, with the fields {_fields()}",
    )
    add("--seed", type=whole(0, INT32), metavar="N", help="of --generate: the same records again")
    add(
        *("-v", "--value"),
        metavar="TEXT",
        action="append",
        default=[],
        help="one record with this value, in place of lines; may be repeated",
    )
    add("-k", "--key", type=template, help="of each record; with --generate a template, too")
    add("-K", "--key-separator", metavar="TEXT", type=_some, help="a line is KEY TEXT VALUE")
    add(
        "-H",
        "--header",
        metavar="NAME=VALUE",
        type=_header,
        action="append",
        default=[],
        help="of each record; may be repeated",
    )
    add("-p", "--partition", type=whole(0, INT32), metavar="N", help="all go to this one")
    add(
        "--timestamp",
        metavar="TIME",
        type=_timestamp,
        help="of each record: ms since 1970, a time or an age (15m, 2h, 3d); default: now",
    )
    add("--null", metavar="TEXT", help="a key or value that is this text is null")
    add("--copies", type=whole(1, INT32), metavar="N", default=1, help="each record so many times")


def _add_schemas(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-r", "--registry", metavar="URL", help="of the schema registry; lines are JSON then")
    what = "register this one (.avsc, .proto, .json)"
    add("--schema", metavar="FILE", type=Path, help=f"of values: {what}")
    add("--subject", metavar="NAME", help="of values: its newest schema; default: TOPIC-value")
    add("--key-schema", metavar="FILE", type=Path, help=f"of keys: {what}; default: keys are text")
    add("--key-subject", metavar="NAME", help="of keys: its newest schema")
    add("--message", metavar="NAME", help="of a Protobuf schema; default: the first")


def _add_sending(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        *("-z", "--codec", "--compression-codec", "--compression"),
        choices=[each.name.lower() for each in Codec],
        default="none",
        help="how batches are compressed",
    )
    add(
        *("--acks", "--request-required-acks"),
        type=_acks,
        choices=list(_ACKS),
        default="all",
        help="who has stored it: the leader, or all in sync",
    )
    add("--transactional-id", metavar="ID", type=named, help="in one transaction")
    add("--rate", type=_rate, metavar="N", help="at most so many records a second")
    add("--create-topic", type=whole(1, INT32), metavar="PARTITIONS", help="if it does not exist")
    add(
        "--resume",
        metavar="FILE",
        type=Path,
        help="go on after what this file says is stored; it is written on the way",
    )
    add("--quiet", action="store_true", help="no line at the end that says what was stored")


def _fields() -> str:
    return ", ".join(f"{{{name}}} ({what})" for name, (what, _) in FIELDS.items())


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    encode, progress = _encode(options), _progress(options)
    if options.value and (options.files or options.generate):
        raise ConsoleError("--value, and other values beside it: give one of them")
    if options.value:
        values = enumerate(options.value, 1)
        lines = ((f"value {number}", text.encode()) for number, text in values)
        records = of_lines(options, lines, encode)
    elif options.generate:
        records = made(options, encode)
    else:
        records = of_lines(options, lines_of(options.files, sys.stdin.buffer), encode)
    if progress is not None:
        records = progress.left(records)
    if options.create_topic is not None:
        _create(brokers, options.topic, options.create_topic)
    sender = Sender(
        brokers,
        options.topic,
        codec=Codec[options.codec.upper()],
        acks=_ACKS[options.acks],
        transactional_id=options.transactional_id,
    )
    sender.begin()
    is_whole, shown = False, Shown(sender, quiet=options.quiet)
    try:
        for chunk in chunks(_copied(records, options.copies), options.rate):
            _send(sender, chunk, progress)
            shown.look()
        is_whole = True
    finally:
        sender.end(commit=is_whole)
        if is_whole and progress is not None:
            progress.save()
        shown.clear()
        if not options.quiet:
            _tell(sender, is_whole)
    return 0


class Shown:
    """How far it is, at a terminal: a line on standard error that is written over each second."""

    def __init__(self, sender: Sender, *, quiet: bool, every_s: float = _SHOWN_EVERY_S) -> None:
        self._sender = sender
        self._is_wanted = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._every_s = every_s
        self._begin = self._last = monotonic()
        self._text = ""

    def look(self) -> None:
        now = monotonic()
        if self._is_wanted and now - self._last >= self._every_s:
            count, self._last = sum(self._sender.sent.values()), now
            rate = count / (now - self._begin)
            self.clear()
            self._text = f"{count:,} records to {self._sender.topic}, {rate:,.0f} a second"
            print(self._text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._text:
            print(f"\r{' ' * len(self._text)}\r", end="", file=sys.stderr)
            self._text = ""


def _send(sender: Sender, chunk: list[Placed], progress: Progress | None) -> None:
    """Store these; what is stored is noted before Ctrl-C ends the command."""
    if progress is None:
        sender.send(chunk)
        return
    with held():
        sender.send(chunk)
        progress.add(chunk)
        if sender.transactional_id is None:
            progress.save()


def _progress(options: argparse.Namespace) -> Progress | None:
    if options.resume is None:
        return None
    if options.generate or options.copies > 1:
        raise ConsoleError("--resume is for lines, not with --generate or --copies")
    return Progress(options.resume, options.topic)


def _encode(options: argparse.Namespace) -> Encode:
    """Raises ConsoleError where the registry is not named, or refuses."""
    of_schemas = ("schema", "subject", "key_schema", "key_subject", "message")
    if not options.registry:
        if needless := next((each for each in of_schemas if getattr(options, each)), None):
            raise ConsoleError(f"--{needless.replace('_', '-')} needs --registry URL")
        return lambda record: record
    from .schemas import registry_encoder

    subject = options.subject or f"{options.topic}-value"
    of_value = registry_encoder(options.registry, subject, options.schema, options.message)
    of_key = None
    if options.key_schema or options.key_subject:
        subject = options.key_subject or f"{options.topic}-key"
        of_key = registry_encoder(options.registry, subject, options.key_schema, None)

    def encode(record: NewRecord) -> NewRecord:
        key, value = record.key, record.value
        if value is not None:
            value = of_value(bytes(value))
        if key is not None and of_key is not None:
            key = of_key(bytes(key))
        return record._replace(key=key, value=value)

    return encode


def _tell(sender: Sender, is_whole: bool) -> None:
    """On standard error, so that it can be shown while something else is piped."""
    count = sum(sender.sent.values())
    records = "1 record" if count == 1 else f"{count:,} records"
    places = ", ".join(f"{n:,} to {sender.topic}-{p}" for p, n in sorted(sender.sent.items()))
    state = "" if is_whole or sender.transactional_id is None else ", aborted"
    print(f"{records} to {sender.topic}{state}{f' ({places})' if count else ''}", file=sys.stderr)


def _copied(records: Iterable[Placed], copies: int) -> Iterator[Placed]:
    for each in records:
        yield from repeat(each, copies)


def _create(brokers: Brokers, name: str, partitions: int) -> None:
    if any(each.name == name and not each.error_code for each in brokers.topics([name])):
        return
    topic = CreateTopicsRequest.Topic(
        name=name, num_partitions=partitions, replication_factor=-1, assignments=[], configs=[]
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=int(brokers.timeout * 1000))
    (result,) = brokers.ask_controller(request).topics
    check(result.error_code, f"topic {name}", result.error_message)
    brokers.topic(name, is_new=True)


# Arguments


class _Generate(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        count, text = values
        try:
            setattr(namespace, self.dest, (whole(1, INT32)(count), template(text)))
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None


def _acks(text: str) -> str:
    return "all" if text == "-1" else text


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < 1e9:
        raise argparse.ArgumentTypeError(f"not a number of records a second: {text!r}")
    return rate


def _some(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a separator is not empty")
    return text.encode().decode("unicode_escape") if text.startswith("\\") else text


def _header(text: str) -> tuple[str, bytes]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"not of the form NAME=VALUE: {text!r}")
    return name, value.encode()


def _timestamp(text: str) -> int:
    if text.isdigit():
        return int(text)
    position = parse_position(text)
    if position.timestamp is None or position.timestamp < 0:
        raise argparse.ArgumentTypeError(f"not a time: {text!r}")
    return position.timestamp

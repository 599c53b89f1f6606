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
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path
from time import monotonic
from typing import Any

from ....wire.api.create_topics import CreateTopicsRequest
from ....wire.compression import Codec
from ....wire.records import NewRecord
from .arguments import INT32, named, whole
from .arriving import chunks
from .client import Brokers, ConsoleError, check
from .incoming import Encode, lines_of, made, of_lines
from .interrupts import held
from .offsets import parse_position
from .resuming import Progress
from .sending import Placed, Sender
from .templates import FIELDS, template

_SHOWN_EVERY_S = 1.0
_ACKS = {"1": 1, "all": -1}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek produce ADDRESS`."""
    _add_records(parser)
    _add_schemas(parser)
    _add_sending(parser)


def _add_records(parser: argparse.ArgumentParser) -> None:
    """What the records are."""
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
    """Which schemas of a registry keys and values have."""
    add = parser.add_argument
    add("-r", "--registry", metavar="URL", help="of the schema registry; lines are JSON then")
    what = "register this one (.avsc, .proto, .json)"
    add("--schema", metavar="FILE", type=Path, help=f"of values: {what}")
    add("--subject", metavar="NAME", help="of values: its newest schema; default: TOPIC-value")
    add("--key-schema", metavar="FILE", type=Path, help=f"of keys: {what}; default: keys are text")
    add("--key-subject", metavar="NAME", help="of keys: its newest schema")
    add("--message", metavar="NAME", help="of a Protobuf schema; default: the first")


def _add_sending(parser: argparse.ArgumentParser) -> None:
    """How they are sent."""
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


def run(brokers: Brokers, asked: argparse.Namespace) -> int:
    """Run the command. Raises ConsoleError."""
    encode, progress = _encode(asked), _progress(asked)
    if asked.value and (asked.files or asked.generate):
        raise ConsoleError("--value, and other values beside it: give one of them")
    if asked.value:
        values = enumerate(asked.value, 1)
        lines = ((f"value {number}", text.encode()) for number, text in values)
        records = of_lines(asked, lines, encode)
    elif asked.generate:
        records = made(asked, encode)
    else:
        records = of_lines(asked, lines_of(asked.files, sys.stdin.buffer), encode)
    if progress is not None:
        records = progress.left(records)
    if asked.create_topic is not None:
        _create(brokers, asked.topic, asked.create_topic)
    sender = Sender(
        brokers,
        asked.topic,
        codec=Codec[asked.codec.upper()],
        acks=_ACKS[asked.acks],
        transactional_id=asked.transactional_id,
    )
    sender.begin()
    is_whole, shown = False, Shown(sender, quiet=asked.quiet)
    try:
        for chunk in chunks(_copied(records, asked.copies), asked.rate):
            _send(sender, chunk, progress)
            shown.look()
        is_whole = True
    finally:
        sender.end(commit=is_whole)
        if is_whole and progress is not None:
            progress.save()
        shown.clear()
        if not asked.quiet:
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
        """Show it, if it is time."""
        now = monotonic()
        if self._is_wanted and now - self._last >= self._every_s:
            count, self._last = sum(self._sender.sent.values()), now
            rate = count / (now - self._begin)
            self.clear()
            self._text = f"{count:,} records to {self._sender.topic}, {rate:,.0f} a second"
            print(self._text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
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


def _progress(asked: argparse.Namespace) -> Progress | None:
    if asked.resume is None:
        return None
    if asked.generate or asked.copies > 1:
        raise ConsoleError("--resume is for lines, not with --generate or --copies")
    return Progress(asked.resume, asked.topic)


def _encode(asked: argparse.Namespace) -> Encode:
    """Raises ConsoleError where the registry is not named, or refuses."""
    of_schemas = ("schema", "subject", "key_schema", "key_subject", "message")
    if not asked.registry:
        if needless := next((each for each in of_schemas if getattr(asked, each)), None):
            raise ConsoleError(f"--{needless.replace('_', '-')} needs --registry URL")
        return lambda record: record
    from .schemas import registry_encoder

    subject = asked.subject or f"{asked.topic}-value"
    of_value = registry_encoder(asked.registry, subject, asked.schema, asked.message)
    of_key = None
    if asked.key_schema or asked.key_subject:
        subject = asked.key_subject or f"{asked.topic}-key"
        of_key = registry_encoder(asked.registry, subject, asked.key_schema, None)

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
    """N and a template."""

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
    """Records a second."""
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

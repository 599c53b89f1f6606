"""`odradek journal FILE`: look into a journal of requests and answers.

FILE is one that `kafka.journal.save`, `odradek serve --journal` or `odradek proxy --journal` has
written (.jsonl, .pcapng), or a capture of packets by tcpdump, dumpcap or Wireshark.

    odradek journal kept.jsonl                         a line for each request
    odradek journal kept.jsonl --api Produce --topic orders --error NOT_LEADER_OR_FOLLOWER
    odradek journal kept.jsonl --show 12               one of them, field by field
    odradek journal kept.jsonl --json | jq .response   for programs: JSON Lines
    odradek journal captured.pcapng --save kept.jsonl

Exit status: 0; 1 if nothing fits, or the file cannot be read; 2 for a wrong option.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .console.arguments import whole
from .console.output import fail, one_line, with_output

if TYPE_CHECKING:
    from ...emulator.control.traffic.chosen import Chosen
    from ...emulator.control.traffic.exchange import Exchange

_MOST = 10**12
_OUTCOMES = ["waiting", "answered", "no reply", "closed", "malformed"]


def add_journal(commands: Any) -> None:
    """Add the sub-command to argparse's subparsers."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "journal",
        help="look into a journal of requests and answers, or a capture",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a journal, or a capture of packets")
    add_choice(parser)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--show", metavar="NUMBER", type=whole(1, _MOST), help="show one request in full"
    )
    shown.add_argument("--json", action="store_true", help="print JSON Lines, decoded")
    shown.add_argument("--save", metavar="FILE", help="write them to FILE.jsonl or FILE.pcapng")


def add_choice(parser: argparse.ArgumentParser) -> None:
    chosen = parser.add_argument_group("which requests")
    chosen.add_argument(
        "--api", action="append", default=[], metavar="NAME", help="of this API; may be repeated"
    )
    chosen.add_argument("--client", metavar="ID", help="of this client id")
    chosen.add_argument("--topic", metavar="NAME", help="that name this topic")
    chosen.add_argument("--connection", type=whole(1, _MOST), metavar="NUMBER", help="of this one")
    chosen.add_argument("--error", metavar="NAME", help="with this error in the answer")
    chosen.add_argument("--outcome", choices=_OUTCOMES, help="that came to this end")
    chosen.add_argument("--since", type=_time, metavar="TIME", help="from this time on (ISO, UTC)")
    chosen.add_argument("--until", type=_time, metavar="TIME", help="before this time")
    chosen.add_argument(
        "--broker-port",
        type=whole(1, 65535),
        metavar="PORT",
        help="the brokers' in a capture (who was connected to)",
    )


def run_journal(options: argparse.Namespace) -> int:
    from ...emulator.control.traffic.exchange import NotAJournal

    try:
        chosen = choose(options)
    except (NotAJournal, OSError) as error:
        return fail(f"{options.file}: {getattr(error, 'strerror', None) or error}")
    except ValueError as error:
        return fail(str(error), 2)
    if options.save is not None:
        return _save(chosen, options.save)
    if options.show is not None:
        found = [each for each in chosen if each.number == options.show]
        if not found:
            return fail(f"there is no request {options.show} in {options.file}")
        return with_output(lambda: _print(_in_full(found[0])))
    lines = map(_json if options.json else str, chosen)
    return with_output(lambda: _print(lines) if chosen else 1)


def choose(options: argparse.Namespace) -> Chosen:
    """The requests of the file that the options want. Raises NotAJournal, OSError, ValueError."""
    from ...emulator.control.request_matcher import api_of
    from ...emulator.control.traffic.chosen import Chosen
    from ...emulator.control.traffic.files import load
    from ...wire import Error

    keys = {api_of(name, served=False).api_key for name in options.api}
    if options.error is not None and options.error not in Error.__members__:
        raise ValueError(f"there is no error {options.error!r}")
    traffic = load(options.file, options.broker_port)

    def is_wanted(exchange: Exchange) -> bool:
        begin, end = options.since or 0.0, options.until or float("inf")
        return (not keys or exchange.api_key in keys) and begin <= exchange.time_ms < end

    return Chosen(traffic.exchanges, traffic.dropped).of(
        client_id=options.client,
        topic=options.topic,
        connection=options.connection,
        error=None if options.error is None else Error[options.error],
        outcome=options.outcome,
        where=is_wanted,
    )


def _save(chosen: Chosen, path: str) -> int:
    try:
        chosen.save(path)
    except ValueError as error:
        return fail(str(error), 2)
    except OSError as error:
        return fail(f"{path}: {error.strerror}")
    return 0


def _json(exchange: Exchange) -> str:
    from ...emulator.control.traffic.jsonl import as_json

    return json.dumps(as_json(exchange))


def _in_full(exchange: Exchange) -> Iterator[str]:
    from ...wire import WireError
    from ...wire.explain.frames import explain_request, explain_response
    from ...wire.explain.printed import lines

    yield str(exchange)
    yield str(exchange.connection)
    request = exchange.request_size.to_bytes(4, "big") + exchange.request_frame
    yield ""
    yield from lines(explain_request(request), len(request))
    if exchange.response_frame is None:
        return
    response = exchange.response_size.to_bytes(4, "big") + exchange.response_frame
    yield ""
    try:
        explained = explain_response(response, exchange.api_key, exchange.response_version)
        yield from lines(explained, len(response))
    except WireError as error:
        yield f"the answer, {len(response)} bytes, cannot be decoded: {error}"


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(one_line(line))
    return 0


def _time(text: str) -> float:
    """A time in ms since 1970; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"not a time such as 2026-01-31T12:00:00: {text!r}"
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000

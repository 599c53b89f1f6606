"""`odradek replay FILE --to HOST:PORT`: send the requests of a journal to a broker again.

FILE is a journal (.jsonl, .pcapng) or a capture, as for `odradek journal`. Each connection is one
again, its requests in their order and at their pace. What another broker gives out otherwise is put
into them: ids of topics, producers, members and sessions, generations, epochs. Each request whose
answer has other errors than it had then is a line of output.

    odradek replay field.jsonl --to localhost:9092
    odradek replay captured.pcapng --to localhost:9092 --speed max --client billing

Records of a topic, an export or a data directory are replayed by `odradek replay PLACE HOST:PORT`,
which needs odradek[pipeline].

Exit status: 0 if all is answered as it was; 1 if not, or the file or the broker cannot be read; 2
for a wrong option.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .console.arguments import addresses, parse_addresses, seconds
from .console.output import fail, one_line, with_output
from .journal import add_choice, choose

if TYPE_CHECKING:
    from ...emulator.control.traffic.chosen import Chosen
    from ..replay.player import Player

_TIMEOUT_S = 30.0
_METADATA = 12


def main(arguments: Sequence[str]) -> int:
    """Run the command with the arguments after `replay`; return the exit status."""
    from .main import Parser

    parser = Parser(
        prog="odradek replay",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a journal, or a capture of packets")
    parser.add_argument(
        "--to",
        type=addresses,
        required=True,
        metavar="HOST:PORT",
        help="a broker; several with commas",
    )
    parser.add_argument(
        "--speed",
        type=_speed,
        default=1.0,
        metavar="N",
        help="so many times as fast as recorded; max: as fast as it goes, in the same order (1)",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=_TIMEOUT_S,
        metavar="SECONDS",
        help=f"how long an answer may take ({_TIMEOUT_S:g})",
    )
    add_choice(parser)
    return run_replay(parser.parse(arguments))


def run_replay(options: argparse.Namespace) -> int:
    from ...emulator.control.traffic.exchange import NotAJournal

    try:
        chosen = choose(options)
    except (NotAJournal, OSError) as error:
        return fail(f"{options.file}: {getattr(error, 'strerror', None) or error}")
    except ValueError as error:
        return fail(str(error), 2)
    try:
        player = _player(chosen, options)
    except ConnectionError as error:
        return fail(str(error))
    asyncio.run(player.play())
    return with_output(lambda: _report(player))


def _player(chosen: Chosen, options: argparse.Namespace) -> Player:
    """A player that knows the broker's topics. Raises ConnectionError."""
    from ...wire.api.metadata import MetadataRequest
    from ..replay.ids import Ids
    from ..replay.player import Player
    from ..wire_client.blocking_connection import Connection

    first = next(parse_addresses(options.to))
    connection = Connection(*first, options.timeout)
    try:
        version = connection.version(MetadataRequest, _METADATA)
        answer = connection.ask(MetadataRequest(topics=None), version)
    finally:
        connection.close()
    topics = {topic.name: bytes(topic.topic_id) for topic in answer.topics}
    brokers = {each.node_id: (each.host, each.port) for each in answer.brokers}
    names = chosen[0].connection.topic_names if len(chosen) else {}
    ids = Ids(names, topics)
    return Player(list(chosen), ids, first, brokers, options.speed, options.timeout)


def _report(player: Player) -> int:
    different = [each for each in player.played if each.difference]
    for each in different:
        print(one_line(str(each)))
    count, some = len(player.played), len(different)
    print(f"{count} requests, {count - some} answered as they were, {some} not", file=sys.stderr)
    return 1 if different else 0


def _speed(text: str) -> float:
    if text == "max":
        return math.inf
    try:
        speed = float(text)
    except ValueError:
        speed = math.nan
    if not 0 < speed < math.inf:
        raise argparse.ArgumentTypeError(f"neither a number above 0 nor max: {text!r}")
    return speed

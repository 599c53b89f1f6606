"""Find everything that is wrong with stored topics, by file, byte and offset.

PLACE is a data directory, PATH/TOPIC, PATH/TOPIC-0, a .log file, or topics of a broker
(HOST:PORT/TOPIC). Nothing is changed. Damage is what a broker would trip over, or a reader miss; a
remark (a skewed key, times that go back, an open transaction) is no fault unless --strict is given.
"""

# Each segment is checked by itself (segment_check.py) and leaves a summary, whose size does not
# grow with the records; the summaries of a partition are then joined in order (partition_check.py),
# and what stands beside the partitions is checked once (directory_check.py).

from __future__ import annotations

import argparse

from ....cli.console.arguments import whole
from ..command import add_engine_options, add_output_options, run_command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `odradek audit`."""
    parser.add_argument(
        "place", metavar="PLACE", help="a directory, a part of it, or HOST:PORT/TOPIC"
    )
    parser.add_argument("--strict", action="store_true", help="remarks count as damage")
    parser.add_argument(
        "--jump",
        type=_minutes,
        default=60.0,
        metavar="MINUTES",
        help="times that go back by more are remarked on (default: 60)",
    )
    parser.add_argument(
        "--limit",
        type=whole(0, 1_000_000),
        default=100,
        metavar="N",
        help="findings to show (default: 100)",
    )
    parser.add_argument(
        "--cluster-id",
        metavar="ID",
        help="the cluster that the directory should be of: another one is damage",
    )
    parser.epilog = "exit status: 0 nothing is damaged; 1 something is; 2 the place cannot be read."
    add_engine_options(parser)
    add_output_options(parser)


def _minutes(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1
    if not 0 <= found <= 1e9:
        raise argparse.ArgumentTypeError(f"not a number of minutes from 0 to 1e9: {text!r}")
    return found


def run(options: argparse.Namespace) -> int:
    """`odradek audit`."""
    from .command import audited

    return run_command(options, lambda: audited(options))

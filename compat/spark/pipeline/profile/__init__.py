"""Say what is in topics, data directories or files.

PLACE is HOST:PORT/TOPIC, a data directory, PATH/TOPIC, PATH/TOPIC-0, a .log file, or Parquet, JSON
Lines, CSV or Avro. It has rates over time, sizes, codecs, how many different keys there are and
which are frequent, shares of nulls, and what JSON values look like; by topic and partition.
"""

from __future__ import annotations

import argparse

from ..command import (
    add_engine_options,
    add_isolation,
    add_output_options,
    add_ranges,
    run_command,
)
from ..files import FORMATS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `odradek profile`."""
    parser.add_argument("place", metavar="PLACE", help="what to look at, as above")
    parser.add_argument("--html", metavar="FILE", help="also as one HTML page with charts")
    parser.add_argument("--format", choices=FORMATS, help="of files whose names do not tell it")
    add_ranges(parser)
    add_isolation(parser)
    add_engine_options(parser)
    add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """`odradek profile`."""
    from .command import profiled

    return run_command(options, lambda: profiled(options))

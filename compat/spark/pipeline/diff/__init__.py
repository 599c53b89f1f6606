"""Compare two topics, data directories or files, record by record.

A and B are HOST:PORT/TOPIC, a data directory, PATH/TOPIC, PATH/TOPIC-0, a .log file, or Parquet,
JSON Lines, CSV or Avro. Findings are records that are missing in B, extra in B, changed, reordered,
or duplicated, and some of each field by field.

By offset, two records belong together if partition and offset are the same; one whose content is
found at another offset is reordered. By key, those with the same key belong together, in their
order; by value, those with the same value, in any order. Records without a key (or value) belong
together if they are equal.

A file that is no export (rows of a CSV file, say) has the same options as for `odradek load`:
--key, --value, --timestamp and --headers name its columns. What one side has nothing of is not
compared.
"""

from __future__ import annotations

import argparse

from ....cli.console.arguments import whole
from ..command import add_engine_options, add_isolation, add_output_options, run_command
from ..files import FORMATS

COMPARED = ("key", "value", "headers", "timestamp")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `odradek diff`."""
    parser.add_argument("a", metavar="A", help="one place")
    parser.add_argument("b", metavar="B", help="the other place")
    parser.add_argument(
        "--by",
        choices=["offset", "key", "value"],
        help="what belongs together (default: offset if both have offsets in the same partitions, "
        "else key if both have keys, else value)",
    )
    parser.add_argument(
        "--ignore",
        type=_columns,
        action="extend",
        default=[],
        metavar="COLUMN[,COLUMN]",
        help=f"columns not to compare, of {', '.join(COMPARED)}; may be repeated",
    )
    parser.add_argument(
        "--sample",
        type=whole(0, 10_000),
        default=3,
        metavar="N",
        help="how many of each to show (default: 3)",
    )
    parser.add_argument("--format", choices=FORMATS, help="of files whose names do not tell it")
    parser.add_argument("--work", metavar="DIR", help="where temporary files go, about 60 bytes "
                        "a record (default: the system's)")  # fmt: skip
    columns = parser.add_argument_group("columns of a file that is no export, as for odradek load")
    for name, what in (
        ("key", "the key (default: none)"),
        ("value", "the value (default: the whole row as JSON)"),
        ("timestamp", "the time"),
        ("headers", "the headers"),
    ):
        columns.add_argument(f"--{name}", metavar="COLUMN", help=what)
    parser.epilog = "exit status: 0 no difference; 1 differences; 2 a place cannot be read."
    add_isolation(parser)
    add_engine_options(parser)
    add_output_options(parser)


def _columns(text: str) -> list[str]:
    names = [each.strip() for each in text.split(",")]
    unknown = [each for each in names if each not in COMPARED]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"nothing that is compared: {unknown[0]!r} (choose from {', '.join(COMPARED)})"
        )
    return names


def run(options: argparse.Namespace) -> int:
    """`odradek diff`."""
    from .command import compared

    return run_command(options, lambda: compared(options))

"""Write files of Parquet, JSON Lines, CSV or Avro into a topic, or straight into segment files.

    odradek load orders.parquet localhost:9092/orders --create-topic 3
    odradek load day1.jsonl day2.jsonl localhost:9092/orders --key id --timestamp created
    odradek load export/ data/orders --create-topic 3 --codec zstd

Files with the columns of Spark's connector (key, value, partition, timestamp, headers, ...), such
as `odradek export` makes, are loaded as the records that they are. Of other files each row is a
value, as JSON, unless --value names a column. Records without a partition go to that of their key,
as Kafka's producers choose it; those without a key take turns.

Each record is written once, also when a load was interrupted and goes on with --resume.
"""

from __future__ import annotations

import argparse

from ....cli.console.arguments import whole
from ..command import (
    add_engine_options,
    add_output_options,
    add_resume_options,
    add_topic_configs,
    run_command,
)
from ..files import FORMATS
from .load import load

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `odradek load`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="files, or folders of them")
    parser.add_argument(
        "place",
        help="HOST:PORT/TOPIC or a data directory's PATH/TOPIC; without a topic, records go "
        "to the one in their column",
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="of the files (default: by their endings)"
    )
    columns = parser.add_argument_group("columns")
    for name, what in (
        ("key", "the key (default: none, or the column key of a file of records)"),
        ("value", "the value; json is the whole row"),
        ("topic", "the topic, if PLACE names none"),
        ("partition", "the partition"),
        ("timestamp", "the time: Arrow's, milliseconds, or ISO 8601 (default: the present)"),
        ("headers", "the headers: a list of keys and values, an object, or JSON text of these"),
    ):
        columns.add_argument(f"--{name}", metavar="COLUMN", help=what)
    parser.add_argument(
        "--codec", choices=CODECS, default="none", help="compression of batches (default: none)"
    )
    parser.add_argument(
        "--create-topic",
        type=whole(1, 100_000),
        metavar="PARTITIONS",
        help="create a topic that is not there",
    )
    add_topic_configs(parser)
    parser.add_argument(
        "--unordered",
        action="store_true",
        help="write several pieces of the files into a topic at a time: quicker, but records of "
        "one key may change places",
    )
    parser.add_argument(
        "--sink",
        choices=["wire", "connector"],
        default="wire",
        help="how a broker is written to: wire (the default) keeps timestamps and can be resumed; "
        "connector is Spark's stock Kafka sink, which does neither",
    )
    add_engine_options(parser)
    add_resume_options(parser)
    add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    return run_command(options, lambda: load(options))

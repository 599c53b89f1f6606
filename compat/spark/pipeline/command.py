"""The common parts of all commands: options, the summary, exit codes, Ctrl-C.

Exit codes: 0 everything is as it should be; 1 differences or damage were found; 2 the command could
not do what it was asked (one line on standard error); 130 after Ctrl-C.

The summary goes to standard output: for people, or with --json as one JSON object.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ....wire import Refused
from ...cli.console.arguments import setting, whole
from ...cli.console.client import ConsoleError
from ...cli.console.output import fail, with_output
from ...unavailable import Unavailable
from ..segments.damaged import Damaged
from ..segments.listing import PlaceError
from .engine import LIMIT_BYTES, in_bytes
from .errors import PipelineError
from .splits import Offsets

INTERRUPTED = 130
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass
class Outcome:
    result: Mapping[str, Any]
    """For --json."""
    lines: Sequence[str] = field(default_factory=list)
    """For people."""
    status: int = 0


def run_command(options: argparse.Namespace, work: Callable[[], Outcome]) -> int:
    try:
        outcome = work()
    except (PipelineError, PlaceError, ConsoleError, Unavailable, Damaged, Refused) as error:
        return fail(str(error), 2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return fail(f"{where}{error.strerror or error}", 2)
    except KeyboardInterrupt:
        resumes = hasattr(options, "resume")
        return fail("interrupted" + ("; --resume goes on" if resumes else ""), INTERRUPTED)

    def show() -> int:
        if options.json:
            print(json.dumps(outcome.result))
        else:
            print("\n".join(outcome.lines))
        return outcome.status

    return with_output(show)


def add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="the summary as one JSON object")
    group.add_argument("--quiet", action="store_true", help="no progress, also on a terminal")


def add_engine_options(parser: argparse.ArgumentParser, *, processes: bool = True) -> None:
    """Add --engine and what goes to Spark; and --processes, unless Arrow's is this one alone."""
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine",
        choices=["arrow", "spark"],
        help="Arrow in processes of this machine, or Spark (default: chosen by size)",
    )
    group.add_argument(
        "--engine-limit",
        type=size,
        default=LIMIT_BYTES,
        metavar="SIZE",
        help=f"more bytes than this are Spark's; such as 500M (default: {in_bytes(LIMIT_BYTES)})",
    )
    if processes:
        group.add_argument(
            "--processes",
            type=whole(1, 1024),
            metavar="N",
            help="of the Arrow engine (default: one a processor)",
        )
    else:
        parser.set_defaults(processes=1)
    group.add_argument("--master", metavar="URL", help="Spark's master (default: local[2])")
    group.add_argument(
        "--conf",
        type=spark_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of Spark; may be repeated",
    )
    group.add_argument(
        "--packages",
        action="append",
        default=[],
        metavar="GROUP:NAME:VERSION",
        help="an archive of Maven for Spark; may be repeated",
    )


def add_resume_options(parser: argparse.ArgumentParser, *, state: bool = True) -> None:
    """Add --resume, and --state for a command without a directory of its own for that."""
    group = parser.add_argument_group("going on after an interruption")
    group.add_argument(
        "--resume", action="store_true", help="go on where the same command was interrupted"
    )
    if state:
        group.add_argument(
            "--state",
            metavar="FILE",
            help="where it is noted what is done (default: below ~/.local/state/odradek)",
        )


def add_topic_configs(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--topic-config",
        "--config",
        type=setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a config of topics that are created, such as retention.ms=-1; may be repeated",
    )


def add_isolation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--isolation",
        choices=["read_committed", "read_uncommitted"],
        default="read_committed",
        help="with read_uncommitted also records of open and aborted transactions "
        "(default: read_committed)",
    )


def add_ranges(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "range", "Partitions that the JSON of an offset leaves out are read whole."
    )
    text = 'an offset for all partitions, or JSON: {"orders": {"0": 23, "1": -2}}'
    group.add_argument(
        "--from-offset", default=None, type=offsets, metavar="OFFSET", help=f"earliest, {text}"
    )
    group.add_argument(
        "--to-offset",
        default=None,
        type=offsets,
        metavar="OFFSET",
        help="up to before this one: latest (the default), or as above, with -1 for the end",
    )
    group.add_argument(
        "--since",
        type=moment,
        metavar="TIME",
        help="records from this time on: milliseconds, or ISO 8601 (UTC if it has no zone)",
    )
    group.add_argument("--until", type=moment, metavar="TIME", help="records before this time")


def offsets_of(options: argparse.Namespace) -> Offsets:
    """The offsets given to the options of `add_ranges`."""
    start, end = options.from_offset, options.to_offset
    return Offsets(
        start=start if isinstance(start, int) else None,
        end=end if isinstance(end, int) else None,
        starts=start if isinstance(start, dict) else {},
        ends=end if isinstance(end, dict) else {},
    )


def spark_setting(text: str) -> tuple[str, str]:
    """spark.NAME=VALUE: Spark has no other settings."""
    name, value = setting(text)
    if not name.startswith("spark."):
        raise argparse.ArgumentTypeError(
            f"Spark's settings begin with spark.: {text!r} (a topic's are set by --topic-config)"
        )
    return name, value


def size(text: str) -> int:
    """A number of bytes: 500M, 10GB."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([kmgt]?)b?", text.strip().lower())
    if not found:
        raise argparse.ArgumentTypeError(f"not a size such as 500M or 10GB: {text!r}")
    return int(float(found[1]) * _UNITS[found[2]])


def moment(text: str) -> int:
    """A time in milliseconds."""
    if re.fullmatch("-?[0-9]{1,18}", text):
        return int(text)
    try:
        found = datetime.fromisoformat(text)
        return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"neither milliseconds nor a time such as 2026-01-31T12:00: {text!r}"
        ) from None


def offsets(text: str) -> int | dict[tuple[str, int], int]:
    """An offset for all partitions, or offsets of some, as in Spark's JSON."""
    if text in ("earliest", "latest"):
        return -2 if text == "earliest" else -1
    if re.fullmatch("[0-9]{1,18}", text):
        return int(text)
    try:
        return {
            (topic, int(index)): _offset(offset)
            for topic, each in json.loads(text).items()
            for index, offset in each.items()
        }
    except (ValueError, AttributeError, TypeError):
        raise argparse.ArgumentTypeError(
            f"neither earliest, latest, an offset, nor JSON with offsets of partitions: {text!r}"
        ) from None


def _offset(value: Any) -> int:
    if type(value) is not int or not -2 <= value < 2**63:
        raise ValueError(value)
    return value

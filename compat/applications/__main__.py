"""Run applications of other people's libraries and frameworks on a broker, and say what came of it.

    python -m odradek.compat.applications                    all of them
    python -m odradek.compat.applications kafkajs sarama     these
    python -m odradek.compat.applications --real kafkajs     on a real Apache Kafka
    python -m odradek.compat.applications --list

Each is set up from its registry, once (minutes for some), and then does its job while broker and
application are killed. Exit status 1: one has failed; one that could not be had is named, and is no
failure.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ...emulator.base.real_time import monotonic, wall_time
from ..unavailable import Unavailable
from .application import Application, applications, unavailable
from .brokers import KAFKA, ODRADEK, broker, version_of
from .install import install
from .job import Job, Wrong
from .results import FAILED, PASSED, UNAVAILABLE, Result, insert, load, save, short, table

_RESULTS, _PAGE, _README = "compatibility.json", "compatibility.md", "README.md"


def main(arguments: Sequence[str] | None = None) -> int:
    known = applications()
    options = _parser().parse_args(arguments)
    if unknown := sorted(set(options.names) - set(known)):
        print(f"no such application: {', '.join(unknown)}; --list shows them", file=sys.stderr)
        return 2
    if options.list:
        for each in known.values():
            print(f"{each.name:22} {each.title} {each.version}: {each.what}")
        return 0
    failed = False
    for name in options.names or known:
        result = run(known[name], KAFKA if options.real else ODRADEK, options.keep)
        print(
            f"{result.application} {result.version} on {result.broker}: {_said(result)}", flush=True
        )
        failed |= result.outcome == FAILED
        if options.write:
            write(options.write, [result])
    return int(failed)


def run(application: Application, kind: str, keep: Path | None = None) -> Result:
    """One run on that kind of broker. `keep`: where its files stay."""
    began, outcome, reason, repeated, ended = monotonic(), PASSED, "", 0, 0
    with tempfile.TemporaryDirectory(prefix="odradek-application-") as temporary:
        work = (keep or Path(temporary)) / application.name
        try:
            words = install(application)
            work.mkdir(parents=True)
            began = monotonic()
            done = Job(application, broker(kind, work), words, work).run()
            repeated, ended = done.repeated, done.ended
        except Unavailable as error:
            outcome, reason = UNAVAILABLE, str(error)
        except Wrong as error:
            outcome, reason = FAILED, str(error)
    return Result(
        application.name,
        application.version,
        kind,
        version_of(kind),
        datetime.fromtimestamp(wall_time(), UTC).date().isoformat(),
        round(monotonic() - began, 1),
        outcome,
        reason,
        repeated,
        ended,
    )


def write(root: Path, results: list[Result]) -> None:
    """Keep the results in docs/ of a clone, and make its tables anew."""
    path = root / "docs" / _RESULTS
    save(path, results)
    kept, known = load(path), applications()
    insert(root / "docs" / _PAGE, table(kept, known, unavailable()))
    insert(root / _README, short(kept, known))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m odradek.compat.applications",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which (all)")
    parser.add_argument("--list", action="store_true", help="which there are")
    parser.add_argument("--real", action="store_true", help="on a real Apache Kafka")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave logs and data there")
    parser.add_argument(
        "--write", type=Path, metavar="CLONE", help="keep the results in docs/ of a clone"
    )
    return parser


def _said(result: Result) -> str:
    more = f", {result.repeated} repeated" * (result.repeated > 0)
    more += f", ended by itself {result.ended} times" * (result.ended > 0)
    return f"{result.outcome} in {result.seconds:.0f} s{more} {result.reason}".rstrip()


if __name__ == "__main__":
    sys.exit(main())

"""`odradek repair DIR`: check and mend a data directory that no broker has open.

First the files (storage/repairs/repair.py), then the metadata log: if it was damaged or lost,
topics whose directories are there are entered in it again, with the id in their
`partition.metadata` and as many partitions as the highest number requires. Their configs are lost;
they get the broker's.

Exit status: 0 if nothing is wrong, or everything was mended; 1 if a dry run has found something, or
something remains to be done by hand; 2 if the directory cannot be opened (a broker has it open), or
an option is wrong.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .console.output import fail, with_output

if TYPE_CHECKING:
    from ...storage import Report

_EPILOG = """\
exit status: 0 nothing is wrong, or it was mended; 1 something was found (dry run) or remains to be
done by hand; 2 the directory cannot be opened. What is removed from a segment is kept next to it,
in SEGMENT.damaged, and --put-back brings it back. Nothing is deleted."""


def add_repair(commands: Any) -> None:
    """Add the sub-command to argparse's subparsers."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "repair",
        help="check and mend a data directory that no broker has open",
        description="Check every batch and index of a data directory, and set aside what is "
        "damaged: the logs go on after it. The directory must not be in use.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", metavar="DIR", help="the data directory")
    parser.add_argument("--dry-run", action="store_true", help="say what is wrong, change nothing")
    parser.add_argument(
        "--put-back",
        action="store_true",
        help="put back what earlier repairs have set aside: the directory is damaged again",
    )
    parser.add_argument(
        "--topic",
        metavar="NAME",
        action="append",
        help="look at this topic only; may be repeated (all, and the directory's own files)",
    )


def run_repair(options: argparse.Namespace) -> int:
    from ...storage import LogDirectoryError

    try:
        if options.put_back:
            report = _put_back(options.directory, options.topic)
        else:
            report = repaired(options.directory, options.dry_run, options.topic)
    except (LogDirectoryError, OSError, ValueError) as error:
        return fail(str(error), 2)

    def show() -> int:
        print("\n".join(report.lines()))
        return report.status

    return with_output(show)


def _put_back(path: str, topics: list[str] | None) -> Report:
    from ...storage import Directory, LogDirectoryError, Report
    from ...storage.checkpoints import LOCK
    from ...storage.repairs.putting_back import put_back

    directory = Directory(path)
    if not directory.exists():
        raise LogDirectoryError(f"{path} is not there")
    if directory.is_locked(LOCK):
        raise LogDirectoryError(f"{path} is in use by another broker")
    return Report(path, False, put_back(directory, topics))


def repaired(directory: str, dry_run: bool, topics: list[str] | None) -> Report:
    """Repair a directory, or only some topics in it. Raises LogDirectoryError, OSError."""
    from ...emulator.base.clock import SystemClock
    from ...emulator.metadata.topic_repair import KnownTopics, bring_back
    from ...storage import repair

    if topics is not None:
        _check_topics(directory, topics)
    clock = SystemClock()
    report = repair(
        directory,
        dry_run=dry_run,
        topics=topics,
        now_ms=clock.now(),
        catalogue=KnownTopics(directory),
    )
    report.findings += bring_back(directory, topics, clock, dry_run=dry_run)
    return report


def _check_topics(path: str, topics: list[str]) -> None:
    """Whether there are such topics: otherwise nothing is wrong with a mistyped name.

    Raises LogDirectoryError.
    """
    from ...storage import Directory, LogDirectoryError
    from ...storage.naming_detection import naming_in

    directory = Directory(path)
    if not directory.exists():
        return  # the repair reports that
    naming = naming_in(directory)
    there = {
        found[0] for name in directory.directories() if (found := naming.parse_directory(name))
    }
    for topic in topics:
        if topic not in there:
            raise LogDirectoryError(f"{path} has no partition of a topic {topic}")

"""`python -m odradek.compat.real_kafka [VERSION ...]`: prepare this machine, so that nodes start
quickly.

The archives of these versions (by default, of the usual one) are resolved, and an archive of their
classes is made (class_archive.py), both in the cache. Exit status 1 says that something is missing,
and what.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..unavailable import Unavailable
from .class_archive import QUIET, archive
from .node import RealKafka
from .tools import JVM, VERSION


def main(versions: Sequence[str]) -> int:
    for version in versions or [VERSION]:
        try:
            path = make_archive(version)
        except Unavailable as reason:
            print(reason, file=sys.stderr)
            return 1
        print(f"classes: {path} ({path.stat().st_size / 1e6:.0f} MB)")
    return 0


def make_archive(version: str) -> Path:
    """Make the archive, in the place of one that is there. Raises Unavailable."""
    path = archive(version)
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.") as work:
        new = Path(work, "classes")
        with RealKafka(version, jvm=[*JVM, f"-XX:ArchiveClassesAtExit={new}", QUIET]) as kafka:
            kafka.stop()  # at its end the JVM writes them
        if not new.exists():
            raise Unavailable(f"this Java writes no archive of the classes of Kafka {version}.")
        new.replace(path)
    return path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

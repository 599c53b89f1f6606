"""Kafka's classes as the JVM has them in memory, in a file: nodes and tools start in half the time.

    python -m odradek.compat.real_kafka

makes that file, in the cache (__main__.py). The JVM (HotSpot, from 13 on) can write the classes it
has loaded into an archive at its exit, and map that at its next start: class data sharing. It takes
no archive of another Java or other classes, and then starts as without.

Left out: making it unasked. It takes some seconds and 50 MB.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ..java.jars import cache_dir, jars, java

QUIET = "-Xlog:cds*=off"
"""A JVM says nothing of archives, nor why it does not take one."""


def archive(version: str) -> Path:
    """Where the archive of this Kafka for this Java is, or would be. Raises Unavailable."""
    known = f"{os.path.realpath(java())} {jars(version)}"
    digest = hashlib.sha256(known.encode()).hexdigest()[:8]
    return cache_dir() / f"kafka-{version}-{digest}.jsa"


def java_options(version: str) -> list[str]:
    """The options with which a JVM uses the archive; none if there is none. Raises Unavailable."""
    path = archive(version)
    return [f"-XX:SharedArchiveFile={path}", QUIET] if path.exists() else []

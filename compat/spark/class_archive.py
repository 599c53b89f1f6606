"""Spark's classes as the JVM has them in memory, in a file: sessions start in about half the time.

    python -m odradek.compat.spark

makes that file, once, in the cache (__main__.py). A session's start and its first queries are
mostly the loading of classes. The JVM (HotSpot, from 13 on) can write those it has loaded into an
archive at its exit, and map that at its next start: class data sharing. It takes no archive of
another Java or other classes, and then starts as without.

Left out: making it unasked. It takes half a minute and 150 MB, too much for who runs tests once.
"""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path

from ..java.jars import cache_dir, java
from .connector import pyspark_version

QUIET = "-Xlog:cds*=off"
"""A JVM says nothing of archives, nor why it does not take one."""


def archive() -> Path:
    """Where the archive for this pyspark and this Java is, or would be. Raises Unavailable."""
    version = pyspark_version()
    spec = find_spec("pyspark")
    known = f"{os.path.realpath(java())} {spec.origin if spec is not None else ''}"
    return cache_dir() / f"spark-{version}-{hashlib.sha256(known.encode()).hexdigest()[:8]}.jsa"


def java_options() -> str:
    """The options with which a JVM uses the archive; none if there is none. Raises Unavailable."""
    path = archive()
    return f"-XX:SharedArchiveFile={path} {QUIET}" if path.exists() else ""

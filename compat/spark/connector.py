"""The stock Kafka connector that matches the installed pyspark, and where it comes from.

The rules:

- The connector has pyspark's own version, and the Scala that PyPI's pyspark is built with: 2.12
  before Spark 4, 2.13 since.
- Maven says which kafka-clients and commons-pool2 go with it, once, into the cache. What Spark
  itself brings (Scala, Hadoop, codecs, slf4j) is left out.
- Where there is no Maven, Spark resolves it at its start through Ivy (`spark.jars.packages`), into
  the Ivy directory of the user.
- Before Spark 4 the server of Spark Connect is no part of PyPI's pyspark either: one archive more.
- Where Maven has no connector of this version, the last one before it of the same line takes its
  place, with a warning; where there is none, it is said which pyspark to install.
- Where the connector's token provider cannot be resolved, as in a mirror with holes, the last one
  before it of the same line (4.0.1 for 4.0.3, say) takes its place, with a warning: it matters for
  delegation tokens alone.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import shutil
import warnings
from pathlib import Path

from ..java.jars import SCALA, resolve
from ..unavailable import Unavailable

# What the connector asks for and a Spark distribution holds already.
PROVIDED = [
    "at.yawk.lz4:*",
    "com.github.luben:*",
    "com.google.code.findbugs:*",
    "org.apache.hadoop:*",
    "org.lz4:*",
    "org.scala-lang:*",
    "org.scala-lang.modules:*",
    "org.slf4j:*",
    "org.xerial.snappy:*",
]
_GROUP = "org.apache.spark"
TRIED = ("4.2.0", "4.1.3", "4.0.0", "3.5.7")
"""Versions of pyspark that were tried, and whose connector is there (docs/spark.md)."""


def connector_settings(version: str, *, with_connect: bool = False) -> dict[str, str]:
    """The settings of Spark that bring the connector of this version, and the server of Spark
    Connect where it is needed: archives, or, where there is no Maven to resolve them, names for
    Ivy. Raises Unavailable."""
    server = _connect_server(version) if with_connect and version.startswith("3.") else None
    try:
        jars = sorted(connector_jars(version).glob("*.jar"))
        if server is not None:
            name = f"spark-connect-{version}"
            jars += sorted(resolve(name, [server], exclude=["*:*"]).glob("*.jar"))
    except Unavailable:
        if shutil.which("mvn") is not None:
            raise
        names = [connector(version), *([server] if server is not None else [])]
        return {"spark.jars.packages": ",".join(names)}
    return {"spark.jars": ",".join(map(str, jars))}


def _connect_server(version: str) -> str:
    return f"{_GROUP}:spark-connect_{scala(version)}:{version}"


def connector(version: str) -> str:
    """The connector's coordinates, for Maven, Ivy or `--packages`."""
    return f"{_GROUP}:spark-sql-kafka-0-10_{scala(version)}:{version}"


def connector_jars(version: str | None = None) -> Path:
    """Return the directory with the Kafka connector's archives for that version of Spark.

    The default is the installed pyspark's. Raises Unavailable.
    """
    if version is None:
        version = pyspark_version()
    name, artifact = f"spark-{version}", connector(version)
    provided = [*PROVIDED, f"{_GROUP}:spark-tags_{scala(version)}"]
    try:
        return resolve(name, [artifact], exclude=provided)
    except Unavailable as error:
        if "token-provider" not in str(error):
            return _nearest(version, provided, error)
        missing = error
    provider = f"spark-token-provider-kafka-0-10_{scala(version)}"
    line, _, patch = version.rpartition(".")
    for each in range(int(patch) - 1, -1, -1):
        before = f"{_GROUP}:{provider}:{line}.{each}"
        # Excluded, so that Maven does not ask for the one it cannot have.
        without = [*provided, f"{_GROUP}:{provider}"]
        with contextlib.suppress(Unavailable):
            found = resolve(name, [before, artifact], exclude=without)
            said = f"there is no {provider} {version}: {line}.{each} takes its place"
            warnings.warn(said, stacklevel=2)
            return found
    raise missing


def _nearest(version: str, provided: list[str], missing: Unavailable) -> Path:
    """The connector of the nearest version before this one in its line. Raises Unavailable."""
    if shutil.which("mvn") is None:
        raise missing
    line, _, patch = version.rpartition(".")
    for each in range(int(patch) - 1, -1, -1) if patch.isdigit() else ():
        before = f"{line}.{each}"
        with contextlib.suppress(Unavailable):
            found = resolve(f"spark-{before}", [connector(before)], exclude=provided)
            said = (
                f"there is no Kafka connector of Spark {version}: that of {before} takes its place"
            )
            warnings.warn(said, stacklevel=3)
            return found
    others = ", ".join(TRIED[1:])
    raise Unavailable(
        f"there is no Kafka connector for pyspark {version}: pip install 'pyspark=={TRIED[0]}' "
        f"(or {others}). {missing}"
    ) from None


def scala(version: str) -> str:
    """The Scala of PyPI's pyspark of this version."""
    return "2.12" if version.startswith("3.") else SCALA


def pyspark_version() -> str:
    """The installed one. Raises Unavailable."""
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        raise Unavailable("pyspark is not installed: it is the extra `odradek[spark]`.") from None

"""`python -m odradek.compat.spark`: prepare this machine, so that sessions start quickly.

The stock connector of the installed pyspark is resolved, and an archive of Spark's classes is made
(class_archive.py). Both are put into the cache; exit status 1 says that something is missing, and
what.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ...emulator.embedded.embedded import Embedded
from ..unavailable import Unavailable
from .class_archive import QUIET, archive
from .connector import connector_jars
from .session import local_settings, spark_session

TIMEOUT_S = 300.0
_PROGRAM = f"import sys; from {__package__}.__main__ import load_classes; load_classes(sys.argv[1])"


def main() -> int:
    try:
        print(f"connector: {connector_jars()}")
        path = make_archive()
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    print(f"classes:   {path} ({path.stat().st_size / 1e6:.0f} MB)")
    return 0


def make_archive() -> Path:
    """Make the archive, in the place of one that is there. Raises Unavailable."""
    path = archive()
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.") as work:
        new = Path(work, "classes")
        command = [sys.executable, "-c", _PROGRAM, str(new)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"Spark did not end within {TIMEOUT_S:.0f} s") from None
        if not new.exists():
            lines = done.stderr.strip().splitlines() or ["the JVM has written none"]
            raise Unavailable(f"there is no archive of Spark's classes: {lines[-1]}")
        new.replace(path)
    return path


def load_classes(path: str) -> None:
    """Do with Spark what tests do, in a JVM that writes the archive at its exit; wait for that."""
    from pyspark import SparkContext

    name = "spark.driver.extraJavaOptions"
    options = f"{local_settings()[name]} -XX:ArchiveClassesAtExit={path} {QUIET}"
    spark = spark_session("classes", **{name: options})
    with Embedded(topics={"in": 2, "out": 2}) as kafka, tempfile.TemporaryDirectory() as work:
        _work(spark, {"kafka.bootstrap.servers": kafka.bootstrap_servers}, work)
    gateway: Any = SparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # at its end the JVM ends
    gateway.proc.wait(TIMEOUT_S)


def _work(spark: Any, options: dict[str, str], directory: str) -> None:
    """Topics are written and read, as batches and as a stream."""
    numbers = spark.range(10).selectExpr("CAST(id AS STRING) AS key", "CAST(id AS STRING) AS value")
    numbers.write.format("kafka").options(**options, topic="in").save()
    read = spark.read.format("kafka").options(**options, subscribe="in").load()
    read.groupBy("partition").count().collect()
    read.selectExpr("CAST(value AS STRING)").collect()
    reader = spark.readStream.format("kafka").options(**options, subscribe="in")
    stream = reader.option("startingOffsets", "earliest").load()
    writer = stream.writeStream.format("kafka").options(**options, topic="out")
    writer = writer.option("checkpointLocation", directory).trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    sys.exit(main())

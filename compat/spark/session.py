"""A SparkSession with the stock Kafka connector of the installed pyspark.

The rules:

- The connector is the one of pyspark's own version; Maven says which kafka-clients and
  commons-pool2 go with it. What Spark itself brings (Scala, Hadoop, codecs, slf4j) is left out.
- Everything stays on this machine: a local master bound to 127.0.0.1, no web page, Python workers
  run by this interpreter. Few cores and few shuffle partitions, as tests are small.
- Without pyspark, Java or the archives `Unavailable` is raised, with one sentence.

Left out: clusters, Spark Connect, and Hive.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.metadata
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ..java.jars import SCALA, cache_dir, java, resolve
from ..unavailable import Unavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FALLBACK_VERSION = "4.0.0"

# What the connector asks for and a Spark distribution holds already.
PROVIDED = [
    "com.github.luben:*",
    "com.google.code.findbugs:*",
    "org.apache.hadoop:*",
    "org.lz4:*",
    "org.scala-lang:*",
    "org.scala-lang.modules:*",
    "org.slf4j:*",
    "org.xerial.snappy:*",
    f"org.apache.spark:spark-tags_{SCALA}",
]

# The second logger decides whether pyspark's gateway prints the log level that it sets.
LOG_SETTINGS = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %c{1}: %m%n%ex{short}
"""


def connector_jars(version: str | None = None) -> Path:
    """Return the directory with the Kafka connector's archives for that version of Spark.

    The default is the installed pyspark's. Where its token provider cannot be resolved, the one
    of 4.0.0 takes its place, with a warning: it matters only for delegation tokens.
    Raises Unavailable.
    """
    if version is None:
        version = _pyspark_version()
    connector = f"org.apache.spark:spark-sql-kafka-0-10_{SCALA}:{version}"
    try:
        return resolve(f"spark-{version}", [connector], exclude=PROVIDED)
    except Unavailable as error:
        if "token-provider" not in str(error) or version == FALLBACK_VERSION:
            raise
    provider = f"spark-token-provider-kafka-0-10_{SCALA}"
    warnings.warn(
        f"there is no {provider} {version}: {FALLBACK_VERSION} takes its place", stacklevel=2
    )
    fallback = f"org.apache.spark:{provider}:{FALLBACK_VERSION}"
    return resolve(f"spark-{version}", [fallback, connector], exclude=PROVIDED)


def spark_session(app_name: str = "odradek", **conf: str) -> SparkSession:
    """Return a session (the running one, if there is one) that can read and write Kafka.

    `conf` are Spark's own settings, with `_` for `.`: `spark_sql_shuffle_partitions="8"`; a
    name that has dots can be passed as `**{"spark.sql.…": "…"}`. The first call takes some
    seconds. Raises Unavailable.
    """
    version = _pyspark_version()
    java()
    jars = sorted(connector_jars(version).glob("*.jar"))
    # Read when Spark's launcher starts, thus set before the first session.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": ",".join(map(str, jars)),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        # Short runs are mostly class loading: the cheap compiler and collector are quicker.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
        f"-Dlog4j2.configurationFile={_log_settings()}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.session.timeZone": "UTC",
        **{name if "." in name else name.replace("_", "."): value for name, value in conf.items()},
    }
    _leave_no_artifacts()
    builder = SparkSession.builder.master("local[2]").appName(app_name)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    return session


def _leave_no_artifacts() -> None:
    """Remove, at exit, the empty directories that Spark 4.0 creates where it is started.

    What is meant for the temporary directory is put into `artifacts/` in the working directory.
    """
    root = Path("artifacts").absolute()
    if root.exists():
        return

    def tidy() -> None:
        with contextlib.suppress(OSError):  # not there, or in use after all: not empty
            for path in (*root.glob("spark-*"), root):
                path.rmdir()

    atexit.register(tidy)


def _log_settings() -> Path:
    """Return a file of log4j settings: errors only, to standard error, from the first line on."""
    path = cache_dir() / "spark-log4j2.properties"
    if not path.exists() or path.read_text() != LOG_SETTINGS:
        new = path.with_name(f"{path.name}.{os.getpid()}")
        new.write_text(LOG_SETTINGS)
        new.replace(path)
    return path


def _pyspark_version() -> str:
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        raise Unavailable("pyspark is not installed: it is the extra `odradek[spark]`.") from None

"""A SparkSession with the stock Kafka connector of the installed pyspark.

The rules:

- The connector is the one of pyspark's own version (connector.py).
- Everything stays on this machine: a local master bound to 127.0.0.1, no web page, Python workers
  run by this interpreter. Few cores and few shuffle partitions, as tests are small.
- Without pyspark or Java `Unavailable` is raised, with one sentence. Without the connector there is
  a session all the same, and a warning: `format("odradek")` needs none. `check_connector` raises.

Left out: Hive.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..java.jars import cache_dir, java
from ..unavailable import Unavailable
from .class_archive import java_options
from .connect import connect, connect_locally, is_url
from .connector import connector_settings, pyspark_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


# What is added to, where others replace.
LISTS = ("spark.jars", "spark.jars.packages")


def spark_session(app_name: str = "odradek", **conf: str) -> SparkSession:
    """Return a session (the running one, if there is one) that can read and write Kafka.

    `conf` are Spark's own settings, with `_` for `.`: `spark_sql_shuffle_partitions="8"`; a
    name that has dots can be passed as `**{"spark.sql.…": "…"}`. With `spark.remote` it is a
    session of Spark Connect (connect.py). The first call takes some seconds. Raises Unavailable.
    """
    given = {name if "." in name else name.replace("_", "."): text for name, text in conf.items()}
    remote = given.pop("spark.remote", None)
    if remote is not None and is_url(remote):
        pyspark_version()
        return connect(app_name, remote, given)
    settings = merged(given, is_connect=remote is not None)
    # Read when Spark's launcher starts, thus set before the first session.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    _leave_no_artifacts()
    if remote is not None:
        return connect_locally(app_name, remote, settings)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(app_name)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    return session


def merged(options: Mapping[str, str], *, is_connect: bool = False) -> dict[str, str]:
    """The kit's settings and these, which win; lists are added to. Raises Unavailable."""
    version = pyspark_version()
    java()
    settings = local_settings()
    try:
        settings |= connector_settings(version, with_connect=is_connect)
        _missing.clear()
    except Unavailable as error:
        _missing.append(str(error))
        warnings.warn(f'{error} Only format("odradek") can be used.', stacklevel=3)
    for name, text in options.items():
        known = settings.get(name) if name in LISTS else None
        settings[name] = f"{known},{text}" if known else text
    return settings


_missing: list[str] = []
"""Why there is no connector, if there is none."""


def check_connector() -> None:
    """Raises Unavailable if the session was made without a connector."""
    if _missing:
        raise Unavailable(_missing[-1])


def is_running() -> bool:
    """Whether there is a session in this process, which `spark_session` would return."""
    if "pyspark" not in sys.modules:
        return False
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


def local_settings() -> dict[str, str]:
    """Settings for short runs on this machine. Raises Unavailable without pyspark or Java."""
    return {
        "spark.master": "local[2]",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        # Short runs are mostly class loading: the cheap compiler and collector are quicker.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
        f"-Dlog4j2.configurationFile={_log_settings()} {java_options()}".rstrip(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.session.timeZone": "UTC",
        # A query whose sink hangs must not hang the test: its default waits for ever.
        "spark.sql.streaming.stopTimeout": "30s",
    }


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
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.{os.getpid()}")
        new.write_text(LOG_SETTINGS)
        new.replace(path)
    return path

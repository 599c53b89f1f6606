"""Making `format("odradek")` known to a session."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...unavailable import Unavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def register(spark: SparkSession) -> SparkSession:
    """Let this session read and write `format("odradek")`; returns the session.

    From Spark 4.1 on it also enables the pushing down of filters to Python sources. Executors need
    the same `odradek` installed. Raises Unavailable before Spark 4, and without numpy and pyarrow.
    """
    if not hasattr(spark, "dataSource"):
        raise Unavailable(f'format("odradek") needs Spark 4 or later: this is {spark.version}.')
    for needed in ("numpy", "pyarrow"):
        if find_spec(needed) is None:
            raise Unavailable(f"{needed} is not installed: it is in the extra `odradek[spark]`.")
    from .datasource import PUSHES_FILTERS, OdradekSource

    if PUSHES_FILTERS:
        spark.conf.set(_PUSHDOWN, "true")
    spark.dataSource.register(OdradekSource)
    return spark

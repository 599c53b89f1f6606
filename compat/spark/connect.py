"""Sessions of Spark Connect: of a server that runs elsewhere, or of one in this process's JVM.

The server that pyspark starts for `local[2]` listens at port 15002, where only one process of a
machine can. Here the system chooses a free port, and the client learns it: tests run side by side.
Before Spark 4 PyPI's pyspark has no such server: its archive is resolved as the connector's are.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..unavailable import Unavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PORT = "spark.connect.grpc.binding.port"


def is_url(remote: str) -> bool:
    """Whether it is the address of a server, and no master for one that is to be started."""
    return remote.startswith("sc://")


def connect(app_name: str, url: str, settings: Mapping[str, str]) -> SparkSession:
    """A session of the server at `sc://HOST:PORT`, which must have the connector, with these
    settings of SQL. Raises Unavailable."""
    builder = _client().builder.remote(url).appName(app_name)
    for name, value in settings.items():
        builder = builder.config(name, value)
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # `functions` are then those of Connect
    session: SparkSession = builder.getOrCreate()
    return session


def connect_locally(app_name: str, master: str, settings: dict[str, str]) -> SparkSession:
    """A session of a server in this process's JVM, which ends with it; or the one that is there.
    Raises Unavailable."""
    client = _client()
    if (active := client.getActiveSession()) is not None:
        return active
    options = {_PORT: "0", **settings, "spark.app.name": app_name}
    del options["spark.master"]
    client._start_connect_server(master, options)
    os.environ["SPARK_LOCAL_REMOTE"] = "1"  # its `stop` ends the server
    with warnings.catch_warnings():
        # The server has got all of them; a session takes most, and warns of the others.
        warnings.filterwarnings("ignore", "Failed to set|Cannot modify", UserWarning)
        of_sql = {name: each for name, each in settings.items() if name.startswith("spark.sql.")}
        of_sql.pop("spark.sql.warehouse.dir", None)  # the server's alone
        # By this name the client knows that its token needs no TLS.
        return connect(app_name, f"sc://localhost:{server_port()}", of_sql)


def _client() -> Any:
    try:
        from pyspark.sql.connect.session import SparkSession as ConnectSession
    except ImportError as error:
        raise Unavailable(f"Spark Connect needs pyspark[connect]: {error}") from None
    return ConnectSession


def server_port() -> int:
    """Where the server in this process's JVM listens."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    assert context is not None
    service: Any = getattr(
        context._jvm.org.apache.spark.sql.connect.service, "SparkConnectService$"
    )
    return int(getattr(service, "MODULE$").localPort())

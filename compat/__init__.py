"""Compatibility: adapters of stock clients, scenarios, and a real Apache Kafka to compare with.

`RealKafka` starts a real broker, `client` gives a stock client with the verbs that all have in
common, `scenarios` holds what each must be able to do, and `spark.spark_session` gives a Spark with
the stock connector. What is optional and missing raises `Unavailable`.

The command `odradek` begins here: importing this package imports nothing else, and a name of it is
looked up when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import scenarios as scenarios
    from .clients import CLIENTS as CLIENTS
    from .clients import Client as Client
    from .clients import Consumer as Consumer
    from .clients import NewRecord as NewRecord
    from .clients import Record as Record
    from .clients import client as client
    from .real_kafka import RealCluster as RealCluster
    from .real_kafka import RealKafka as RealKafka
    from .real_kafka import RealZooKeeper as RealZooKeeper
    from .unavailable import Unavailable as Unavailable

_MODULES = {
    "CLIENTS": ".clients",
    "Client": ".clients",
    "Consumer": ".clients",
    "NewRecord": ".clients",
    "RealCluster": ".real_kafka",
    "RealKafka": ".real_kafka",
    "RealZooKeeper": ".real_kafka",
    "Record": ".clients",
    "Unavailable": ".unavailable",
    "client": ".clients",
}

__all__ = [
    "CLIENTS",
    "Client",
    "Consumer",
    "NewRecord",
    "RealCluster",
    "RealKafka",
    "RealZooKeeper",
    "Record",
    "Unavailable",
    "client",
    "scenarios",
]


if not TYPE_CHECKING:  # else a type checker would take any name for one of this module

    def __getattr__(name: str) -> object:
        if name == "scenarios":
            return import_module(".scenarios", __name__)
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found: object = getattr(import_module(_MODULES[name], __name__), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""`python -m tests.prepare`: what `make test` makes once on a machine, so that Java starts quickly.

Archives of the classes of Spark and of Kafka, which many tests start, each where there is none in
the cache. Where Java, Maven or pyspark is missing nothing is made, and the tests that need them are
skipped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from odradek.compat import Unavailable
from odradek.compat.real_kafka import VERSION
from odradek.compat.real_kafka import __main__ as of_kafka
from odradek.compat.real_kafka import class_archive as kafka
from odradek.compat.spark import __main__ as of_spark
from odradek.compat.spark import class_archive as spark


def main() -> int:
    """Do it; nothing that is missing is an error."""
    archives: list[tuple[Callable[[], Path], Callable[[], Path]]] = [
        (spark.archive, of_spark.make_archive),
        (lambda: kafka.archive(VERSION), lambda: of_kafka.make_archive(VERSION)),
    ]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda pair: _prepare(*pair), archives))
    return 0


def _prepare(archive: Callable[[], Path], make: Callable[[], Path]) -> None:
    try:
        if not archive().exists():
            print(f"classes: {make()}", flush=True)
    except Unavailable as reason:
        print(f"no archive of classes, tests start slowly: {reason}")


if __name__ == "__main__":
    sys.exit(main())

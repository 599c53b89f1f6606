"""`python -m tests.prepare`: what `make test` makes once on a machine, so that Java starts quickly.

Archives of the classes of Spark and of the versions of Kafka that several tests start, each where
there is none in the cache. Where Java, Maven or pyspark is missing nothing is made, and the tests
that need them are skipped.
"""

from __future__ import annotations

import sys

from odradek.compat import Unavailable
from odradek.compat.real_kafka import VERSION
from odradek.compat.real_kafka import __main__ as of_kafka
from odradek.compat.real_kafka import class_archive as kafka
from odradek.compat.spark import __main__ as of_spark
from odradek.compat.spark import class_archive as spark

OLD_VERSION = "3.9.2"


def main() -> int:
    """Do it; nothing that is missing is an error."""
    try:
        for version in (VERSION, OLD_VERSION):
            if not kafka.archive(version).exists():
                print(f"classes: {of_kafka.make_archive(version)}", flush=True)
        if not spark.archive().exists():
            print(f"classes: {of_spark.make_archive()}", flush=True)
    except Unavailable as reason:
        print(f"no archive of classes, tests start slowly: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

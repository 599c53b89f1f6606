"""What a run of the client tests is asked for."""

import os

WANT_REAL = os.environ.get("ODRADEK_REAL", "") not in ("", "0")
"""Whether the tests that can also run against a real Apache Kafka do so."""

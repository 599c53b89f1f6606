"""A Spark session that knows `format("odradek")`, and what both formats read of one topic."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark(spark: Any) -> Any:
    """The session of the kit, which knows the format."""
    from odradek.compat.spark.source import register

    return register(spark)

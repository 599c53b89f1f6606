"""Many rows through the connector, in and out: counts and checksums are equal."""

from __future__ import annotations

from typing import Any

import pytest
from odradek import Emulator

from tests.clients.spark.volume import ROWS_IN_TESTS, there_and_back

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_as_many_rows_come_out_as_went_in(
    spark: Any, kafka: Emulator, kafka_options: dict[str, str]
) -> None:
    numbers = kafka.create_topic("numbers", partitions=4)
    passage = there_and_back(spark, kafka_options, numbers.name, ROWS_IN_TESTS)
    assert passage.written == passage.read
    assert passage.read.rows == ROWS_IN_TESTS
    assert sum(each.log_end_offset for each in numbers) == ROWS_IN_TESTS

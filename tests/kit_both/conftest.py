"""Each stock client of Python."""

from __future__ import annotations

import pytest
from odradek.compat import Client, client


@pytest.fixture(params=["aiokafka", "kafka-python", "confluent-kafka"])
def stock(request: pytest.FixtureRequest) -> Client:
    return client(request.param)

"""Examples of frameworks, held to promises: `python -m tests.bugs.public`, as it takes minutes."""

from __future__ import annotations

from typing import Any

import pytest
from odradek import Emulator

from tests.bugs.held import CONFIG
from tests.bugs.public import EXAMPLES, PROMISES


@pytest.mark.kafka(config=CONFIG)
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(
            each,
            id=f"{each.name}-{promise}",
            marks=pytest.mark.kafka_promise(promise, of=each.of, to=each.to, by=each.number),
        )
        for each in EXAMPLES
        for promise in PROMISES
    ],
)
def test_an_example(kafka: Emulator, example: Any) -> None:
    example.start(kafka).wait_idle()  # by default two of them begin at the end
    kafka.feed(example.of, 24, example=example.record)

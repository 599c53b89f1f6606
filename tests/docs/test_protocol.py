"""docs/protocol.md says what the source says."""

from __future__ import annotations

from odradek.emulator.base.release import KAFKA_4_3

from tests.support.releases import KAFKA_3_9

from .protocol_page import PAGE, page, served


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run: python -m tests.docs.protocol_page"


def test_the_versions_are_those_that_are_answered() -> None:
    assert served(KAFKA_4_3, 0) == (3, 13)
    assert served(KAFKA_3_9, 0) == (0, 11)
    assert served(KAFKA_3_9, 77) is None

"""A few seconds of it; minutes: `python -m tests.share_chaos`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import RealKafka

from tests.clients.support.wanted import WANT_REAL

pytest.importorskip("confluent_kafka")

from tests.share_chaos.chaos import CONFIG, chaos

pytestmark = [pytest.mark.client, pytest.mark.slow]

SECONDS = float(os.environ.get("ODRADEK_CHAOS_S", "4"))
SEED = int(os.environ.get("ODRADEK_CHAOS_SEED", "1"))


@pytest.mark.parametrize("name", ["odradek", pytest.param("real", marks=pytest.mark.real)])
def test_each_record_is_done_with_once(name: str, tmp_path: Path) -> None:
    if name == "real" and not WANT_REAL:
        pytest.skip("ODRADEK_REAL is not set")
    broker: Any = Emulator(CONFIG) if name == "odradek" else RealKafka(config=CONFIG)
    with broker as kafka:
        verdict = chaos(kafka.bootstrap_servers, tmp_path, SECONDS, SEED, members=4)
    print("\n".join(verdict.lines()))
    assert verdict.wrong == []
    assert verdict.counts["accepted"] > 0
